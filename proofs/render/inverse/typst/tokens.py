"""Typst formulas as tokens. A closed set: any other word, sign or spacing is refused where it stands."""

from __future__ import annotations

import re
from itertools import pairwise

from ..problems import Complaint
from ..stream import Token, require_plain

_GREEK = dict(zip(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega".split(),
    "αβγδεζηθικλμνξπρστυφχψω", strict=True,
)) | dict(zip("Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(), "ΓΔΘΛΞΠΣΥΦΨΩ", strict=True))  # fmt: skip
_CALLS = frozenset(
    "frac inline sqrt abs floor mat cases italic upright dot exp log sin cos tanh max".split()
)  # each is followed by its bracket, and by nothing before it
_WORDS = frozenset("sum lim forall in infinity mod slash dot thin comma quad delim RR ZZ EE".split())
_SPACED = frozenset("+ = < <= > >= != -> => |-> := & dot thin slash mod in comma quad".split())
_BEFORE_SPACES = frozenset([",", ";", ":", "forall"])
_TOKEN = re.compile(
    r'(?P<space> ?)(?:"(?P<string>[^"\\]*)"|(?P<word>[A-Za-z]{2,})(?P<call>\(?)|(?P<letter>[A-Za-z])|(?P<digits>[0-9]+)'
    r"|(?P<sign>\|->|->|=>|<=|>=|!=|:=|[()\[\]_^'+\-=<>,;:&])|(?P<end>\Z)|(?P<unknown>.))",
    re.DOTALL,
)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a formula, then one that marks its end; a call is one token with its bracket, such as `frac(`.

    Raises Complaint for what no formula has.
    """
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        found += _tokens(match)
        if found[-1].kind == "end":
            break
    if found[-1].spaced or found[0].spaced:
        raise Complaint("a formula neither starts nor ends with a space", found[-1].at)
    for before, token in pairwise(found):
        needed = _space_between(before, token)
        if needed is not None and needed != token.spaced:
            raise Complaint(f"{'needed a' if needed else 'found a'} space before {token}", token.at)
    return found


def _space_between(before: Token, token: Token) -> bool | None:
    """Whether a space has to stand between two tokens; None where the grammar tells."""
    first = before.text if before.kind == "sign" else ""
    second = token.text if token.kind == "sign" else ""
    if first.endswith(("(", "[", "_", "^")):
        return False
    if first in _SPACED or second in _SPACED or first in _BEFORE_SPACES:
        return True
    if second in (")", "]", ",", ";", ":", "_", "^", "'"):
        return False
    return None


def _tokens(match: re.Match[str]) -> list[Token]:
    at, spaced = match.start() + len(match["space"]), bool(match["space"])
    require_plain(match["digits"] or "", at)
    for kind in ("string", "letter", "digits", "sign"):
        if match[kind] is not None:
            return [Token(kind, match[kind], at, spaced)]
    if match["word"]:
        return _of_word(match["word"], match["call"], at, spaced)
    if match["end"] is not None:
        return [Token("end", "", at, spaced)]
    raise Complaint(f"no formula has {match['unknown']!r} here", at)


def _of_word(word: str, bracket: str, at: int, spaced: bool) -> list[Token]:
    if bracket and word in _CALLS:
        return [Token("sign", word + bracket, at, spaced)]
    if word in _GREEK:
        first = Token("letter", _GREEK[word], at, spaced)
    elif word in _WORDS:
        first = Token("sign", word, at, spaced)
    else:
        raise Complaint(f"no formula has the word {word!r}{' with a bracket' * bool(bracket)}", at)
    return [first, *([Token("sign", bracket, at + len(word), False)] if bracket else [])]

"""Plain text as tokens, with the spaces between them. A closed set: any other sign or spacing is refused where it stands."""

from __future__ import annotations

import re
from itertools import pairwise

from ..problems import Complaint
from ..stream import Token, require_plain

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_IN_WORDS = rf"(?:(?![{SUPERSCRIPTS}])[\w\u0307'])"
_TOKEN = re.compile(
    r"(?P<space> ?)(?:(?P<sign>d/d(?=[^\W\d_])|Σ_|𝔼_|lim_(?=\()|ℝ≥0|ℝ>0|ℝ|ℤ|:=|[()\[\]{}|⌊⌋√_^/·+−=≠≤<≥>→⇒↦∈∀∞,;:])"
    rf"|(?P<superscript>⁻?[{SUPERSCRIPTS}]+)|(?P<word>[^\W\d_](?:{_IN_WORDS}*(?!_){_IN_WORDS})?)|(?P<digits>[0-9]+)"
    r"|(?P<end>\Z)|(?P<unknown>.))",
    re.DOTALL,
)
_SPACED = frozenset("=≠≤<≥>→⇒↦∈·") | {":=", "mod"}
_BEFORE_SPACES = frozenset(",;:∀")
_AFTER_NONE = frozenset("([{⌊√_^") | {"d/d", "Σ_", "𝔼_", "lim_"}
_BEFORE_NONE = frozenset(")]}⌋,;:_^")


def tokens_of(text: str) -> list[Token]:
    """The tokens of a formula, then one that marks its end. Raises Complaint for what no formula has."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        found.append(_token(match))
        if found[-1].kind == "end":
            break
    if found[-1].spaced or found[0].spaced:
        raise Complaint("a formula neither starts nor ends with a space", found[-1].at)
    for before, token in pairwise(found):
        needed = _space_between(before, token)
        if needed is not None and needed != token.spaced:
            raise Complaint(f"{'needed a' if needed else 'found a'} space before {token}", token.at)
    return found


def _token(match: re.Match[str]) -> Token:
    at, spaced = match.start() + len(match["space"]), bool(match["space"])
    if match["unknown"] is not None:
        raise Complaint(f"no formula has {match['unknown']!r} here", at)
    require_plain(match["digits"] or "", at)
    kind = next(k for k in ("sign", "word", "digits", "superscript", "end") if match[k] is not None)
    text = match[kind]
    if "_'" in text:
        raise Complaint(f"no name is {text!r}", at)
    return Token("sign" if text == "mod" else kind, text, at, spaced)


def _space_between(before: Token, token: Token) -> bool | None:
    """Whether a space has to stand between two tokens; None where the grammar tells."""
    first = before.text if before.kind == "sign" else ""
    second = token.text if token.kind == "sign" else ""
    if first in _AFTER_NONE or second in _BEFORE_NONE or token.kind == "superscript":
        return False
    if first in _SPACED or second in _SPACED or first in _BEFORE_SPACES:
        return True
    return None

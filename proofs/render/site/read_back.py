"""MathML read back as the tokens of the LaTeX that it was made from, so that nothing is lost or moved on the way.

Both sides become one list: upright and italic words, digits, signs, and the braces of scripts, fractions and roots.
Spaces are left out, and so is the difference between \\operatorname, \\mathrm and \\text, which look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from ...terms import FUNCTIONS
from ..latex import MACROS
from ..names import GREEK, RenderError

FENCES = "()[]|"
_SIGNS = {
    r"\in": "∈", r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\to": "→", r"\mapsto": "↦", r"\Rightarrow": "⇒",
    r"\forall": "∀", r"\infty": "∞", r"\cdot": "·", r"\sum": "∑", r"\lfloor": "⌊",
    r"\rfloor": "⌋", r"\colon": ":", "-": "−",
}  # fmt: skip
_GREEK = {macro: letter for letter, macro in MACROS.items() if len(letter) == 1} | {r"\Sigma": "Σ"}
_TOKEN = re.compile(
    r"\s+|\\!|\\(?P<font>operatorname|mathrm|text|mathit|mathbf)\{(?P<word>[^{}]*)\}|\\(?P<fence>left|right)(?P<sign>.)"
    r"|\\(?:begin|end)\{\w+\}|\\[A-Za-z]+|\\\\|\d+|."
)
_UPRIGHT = {f"\\{name}": name for name in ("max", "lim", *FUNCTIONS) if name != "sqrt"} | {r"\bmod": "mod"}
_INVISIBLE, _PRIMES = "\u2061\u2063", "′″‴⁗"
_BOLD, _ITALIC = 0x1D400, 0x1D434  # of 52 mathematical letters each
_TOKENS = ("mi", "mn", "mo", "mtext")
_CAPITALS = {letter for word, letter in GREEK.items() if word[0].isupper()} | {"Σ"}


class UnfaithfulError(RenderError):
    """MathML that does not say what its LaTeX says."""


def require_faithful(latex: str, math: Element) -> None:
    """Raises UnfaithfulError where the MathML has other tokens than the LaTeX, or has them in another order."""
    wanted, found = list(tokens_of_latex(latex)), list(tokens_of_mathml(math))
    if wanted == found:
        return
    where = next(
        (k for k, (w, f) in enumerate(zip(wanted, found, strict=False)) if w != f), min(len(wanted), len(found))
    )
    raise UnfaithfulError(
        f"the MathML of {latex} differs from it at token {where + 1}: "
        f"found {_shown(found, where)}, needed {_shown(wanted, where)}; mend proofs/render/site/mathml.py"
    )


def _shown(tokens: list[str], where: int) -> str:
    return repr(" ".join(tokens[where : where + 5])) if where < len(tokens) else "the end"


def tokens_of_latex(latex: str) -> Iterator[str]:
    """The tokens of a formula of our printer, without its spaces."""
    for match in _TOKEN.finditer(latex):
        token = match.group()
        if token.isspace() or token == r"\!":
            continue
        if match["font"]:
            yield _word(match["word"], {"mathit": "italic", "mathbf": "bold"}.get(match["font"], "upright"))
        elif match["fence"]:
            yield f"{match['fence']} {match['sign']}"
        elif token in _GREEK or (len(token) == 1 and token.isalpha()):
            yield _letter(_GREEK.get(token, token))
        elif token in _UPRIGHT:
            yield f"upright {_UPRIGHT[token]}"
        else:
            yield _SIGNS.get(token, token)


def _word(text: str, font: str) -> str:
    text = text.strip().replace("\u00a0", "")
    return text if text.isdigit() else f"{font} {text}"


def _letter(letter: str) -> str:
    return _word(letter, "upright" if letter in _CAPITALS else "italic")


def tokens_of_mathml(element: Element) -> Iterator[str]:
    """The tokens of the LaTeX that an element stands for; raises UnfaithfulError for an unknown element."""
    if element.tag not in _READERS:
        raise UnfaithfulError(f"found <{element.tag}> in MathML, needed one of {', '.join(sorted(_READERS))}")
    stray = [element.text] * (element.tag not in _TOKENS) + [part.tail for part in element]
    if any(stray):
        raise UnfaithfulError(f"found text {stray} in <{element.tag}>, needed it in one of {', '.join(_TOKENS)}")
    return _READERS[element.tag](element)


def _row(element: Element) -> Iterator[str]:
    parts = list(element)
    fenced = len(parts) > 1 and _is_fence(parts[0])
    if fenced and any(p.tag == "mtable" for p in parts):
        yield from _bracketed_table(parts)
        return
    for k, part in enumerate(parts):
        if fenced and k in (0, len(parts) - 1):
            yield f"{'right' if k else 'left'} {part.text}"
        else:
            yield from tokens_of_mathml(part)


def _bracketed_table(parts: list[Element]) -> Iterator[str]:
    brackets = "".join(p.text or "" for p in parts if p.tag == "mo")
    name = {"{": "cases", "[]": "bmatrix"}.get(brackets)
    if name is None or [p.tag for p in parts] != ["mo", "mtable", "mo"][: len(brackets) + 1]:
        raise UnfaithfulError(f"found a table in {brackets!r}, needed one table in [ ] or after {{")
    yield f"\\begin{{{name}}}"
    yield from tokens_of_mathml(parts[1])
    yield f"\\end{{{name}}}"


def _is_fence(element: Element) -> bool:
    """Whether it is a bracket that is as tall as its row."""
    is_bracket = element.tag == "mo" and (element.text or "") in f"{FENCES}{{"
    return is_bracket and element.get("stretchy") != "false" and element.get("minsize") is None


def _identifier(element: Element) -> Iterator[str]:
    text = (element.text or "").replace("ϕ", "φ")  # \phi is either form of the letter
    if text == "∞":
        yield text
    elif text[:1] == "\u210e" or _ITALIC <= ord(text[:1] or " ") < _ITALIC + 52:
        yield _word("".join(_plain(c, _ITALIC) for c in text), "italic")
    elif _BOLD <= ord(text[:1] or " ") < _BOLD + 52:
        yield _word("".join(_plain(c, _BOLD) for c in text), "bold")
    elif len(text) == 1 and element.get("mathvariant") != "normal":
        yield f"italic {text}"
    else:
        yield _word(text, "upright")


def _plain(letter: str, start: int) -> str:
    """The letter that a mathematical one is: 52 of them, A to Z and a to z, from `start` on."""
    k = ord("h") - ord("a") + 26 if letter == "\u210e" else ord(letter) - start
    if not 0 <= k < 52:
        raise UnfaithfulError(f"found {letter!r} in a word of mathematical letters, needed one of them")
    return chr(ord("A") + k) if k < 26 else chr(ord("a") + k - 26)


def _number(element: Element) -> Iterator[str]:
    yield element.text or ""


def _operator(element: Element) -> Iterator[str]:
    text = element.text or ""
    if element.get("minsize"):  # a bracket of a size of its own
        yield f"{'left' if element.get('form') == 'prefix' else 'right'} {text}"
    elif text in _PRIMES:
        yield from "'" * (_PRIMES.index(text) + 1)
    elif text.isalpha():
        yield _word(text, "upright")
    elif text not in _INVISIBLE:
        yield {"⋅": "·"}.get(text, text)


def _text(element: Element) -> Iterator[str]:
    yield _word(element.text or "", "upright")


def _space(element: Element) -> Iterator[str]:
    return iter(())


def _braced(element: Element) -> Iterator[str]:
    yield "{"
    yield from tokens_of_mathml(element)
    yield "}"


def _fraction(element: Element) -> Iterator[str]:
    yield r"\tfrac" if element.get("displaystyle") == "false" else r"\frac"
    yield from (token for part in element for token in _braced(part))


def _root(element: Element) -> Iterator[str]:
    yield from (r"\sqrt", "{")
    yield from _row(element)
    yield "}"


def _scripts(signs: str) -> Callable[[Element], Iterator[str]]:
    def read(element: Element) -> Iterator[str]:
        base, *scripts = element
        if len(scripts) != len(signs):
            raise UnfaithfulError(f"found {len(element)} parts in <{element.tag}>, needed {len(signs) + 1}")
        if element.get("accent") == "true":
            yield {"˙": r"\dot"}.get(scripts[0].text or "", "an unknown accent")
            yield from _braced(base)
            return
        yield from tokens_of_mathml(base)
        for sign, script in zip(signs, scripts, strict=True):
            primes = script.tag == "mo" and (script.text or " ") in _PRIMES
            yield from tokens_of_mathml(script) if primes else (sign, *_braced(script))

    return read


def _table(element: Element) -> Iterator[str]:
    for k, line in enumerate(element):
        yield from (r"\\",) if k else ()
        for m, cell in enumerate(line):
            yield from ("&",) if m else ()
            yield from _row(cell)


_READERS: dict[str, Callable[[Element], Iterator[str]]] = {
    "math": _row, "mrow": _row, "mpadded": _row, "mi": _identifier, "mn": _number, "mo": _operator, "mtext": _text,
    "mspace": _space, "mfrac": _fraction, "msqrt": _root, "msub": _scripts("_"), "msup": _scripts("^"),
    "msubsup": _scripts("_^"),
    "munder": _scripts("_"), "mover": _scripts("^"), "munderover": _scripts("_^"), "mtable": _table,
}  # fmt: skip

"""MathML read back as the tokens of the LaTeX that it was made from, so that nothing is lost or moved on the way.

Both sides become one list: upright and italic words, digits, signs, and the braces of scripts, fractions and roots.
Spaces are left out, and so is the difference between \\operatorname and \\mathrm, which look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
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
    r"\s+|\\!|\\(?P<font>operatorname|mathrm|mathit|mathbf)\{(?P<word>(?:[^{}]|\\text\{-\})*)\}|\\(?P<fence>left|right)(?P<sign>.)"
    r"|\\(?:begin|end)\{\w+\}|\\[A-Za-z]+|\\\\|\d+|."
)
_UPRIGHT = {f"\\{name}": name for name in ("max", "lim", *FUNCTIONS) if name != "sqrt"} | {r"\bmod": "mod"}
_INVISIBLE, _PRIMES = "\u2061\u2063", "′″‴⁗"
_BOLD, _ITALIC = 0x1D400, 0x1D434  # of 52 mathematical letters each
_TOKENS = ("mi", "mn", "mo", "mtext")
Reader = Callable[[Element, list[str]], None]  # an element, and the tokens so far, to which it adds its own
_CAPITALS = {letter for word, letter in GREEK.items() if word[0].isupper()} | {"Σ"}


class UnfaithfulError(RenderError):
    """MathML that does not say what its LaTeX says."""


def require_faithful(latex: str, math: Element) -> None:
    """Raises UnfaithfulError where the MathML has other tokens than the LaTeX, or has them in another order."""
    wanted, found = tokens_of_latex(latex), tokens_of_mathml(math)
    if wanted == found:
        return
    where = next(
        (k for k, (w, f) in enumerate(zip(wanted, found, strict=False)) if w != f), min(len(wanted), len(found))
    )
    raise UnfaithfulError(
        f"the MathML of {latex} differs from it at token {where + 1}: "
        f"found {_shown(found, where)}, needed {_shown(wanted, where)}; mend proofs/render/site/mathml.py"
    )


def _shown(tokens: Sequence[str], where: int) -> str:
    return repr(" ".join(tokens[where : where + 5])) if where < len(tokens) else "the end"


@lru_cache(maxsize=8192)  # the same formula stands on the pages of several languages
def tokens_of_latex(latex: str) -> tuple[str, ...]:
    """The tokens of a formula of our printer, without its spaces."""
    return tuple(token for match in _TOKEN.finditer(latex) if (token := _token(match[0])))


@lru_cache(maxsize=4096)
def _token(text: str) -> str:
    """What one token of the LaTeX looks like; nothing for a space."""
    match = _TOKEN.fullmatch(text)
    if match is None or text.isspace() or text == r"\!":
        return ""
    if match["font"]:
        font = {"mathit": "italic", "mathbf": "bold"}.get(match["font"], "upright")
        return _word(match["word"].replace(r"\text{-}", "-"), font)
    if match["fence"]:
        return f"{match['fence']} {match['sign']}"
    if text in _GREEK or (len(text) == 1 and text.isalpha()):
        return _letter(_GREEK.get(text, text))
    return f"upright {_UPRIGHT[text]}" if text in _UPRIGHT else _SIGNS.get(text, text)


def _word(text: str, font: str) -> str:
    return text if text.isdigit() else f"{font} {text}"


def _letter(letter: str) -> str:
    return _word(letter, "upright" if letter in _CAPITALS else "italic")


def tokens_of_mathml(element: Element) -> tuple[str, ...]:
    """The tokens of the LaTeX that an element stands for; raises UnfaithfulError for an unknown element."""
    found: list[str] = []
    _read(element, found)
    return tuple(found)


def _read(element: Element, found: list[str]) -> None:
    if element.tag not in _READERS:
        raise UnfaithfulError(f"found <{element.tag}> in MathML, needed one of {', '.join(sorted(_READERS))}")
    stray = [element.text] * (element.tag not in _TOKENS) + [part.tail for part in element]
    if any(stray):
        raise UnfaithfulError(f"found text {stray} in <{element.tag}>, needed it in one of {', '.join(_TOKENS)}")
    _READERS[element.tag](element, found)


def _row(element: Element, found: list[str]) -> None:
    parts = list(element)
    fenced = len(parts) > 1 and _is_fence(parts[0])
    if fenced and any(p.tag == "mtable" for p in parts):
        _bracketed_table(parts, found)
        return
    for k, part in enumerate(parts):
        if fenced and k in (0, len(parts) - 1):
            found.append(f"{'right' if k else 'left'} {part.text}")
        else:
            _read(part, found)


def _bracketed_table(parts: list[Element], found: list[str]) -> None:
    brackets = "".join(p.text or "" for p in parts if p.tag == "mo")
    name = {"{": "cases", "[]": "bmatrix"}.get(brackets)
    if name is None or [p.tag for p in parts] != ["mo", "mtable", "mo"][: len(brackets) + 1]:
        raise UnfaithfulError(f"found a table in {brackets!r}, needed one table in [ ] or after {{")
    found.append(f"\\begin{{{name}}}")
    _read(parts[1], found)
    found.append(f"\\end{{{name}}}")


def _is_fence(element: Element) -> bool:
    """Whether it is a bracket that is as tall as its row."""
    is_bracket = element.tag == "mo" and (element.text or "") in f"{FENCES}{{"
    return is_bracket and element.get("stretchy") != "false" and element.get("minsize") is None


def _identifier(element: Element, found: list[str]) -> None:
    found.append(_name(element.text or "", element.get("mathvariant") == "normal"))


@lru_cache(maxsize=4096)
def _name(text: str, upright: bool) -> str:
    text = text.replace("ϕ", "φ")  # \phi is either form of the letter
    if text == "∞":
        return text
    if text[:1] == "\u210e" or _ITALIC <= ord(text[:1] or " ") < _ITALIC + 52:
        return _word("".join(_plain(c, _ITALIC) for c in text), "italic")
    if _BOLD <= ord(text[:1] or " ") < _BOLD + 52:
        return _word("".join(_plain(c, _BOLD) for c in text), "bold")
    return f"italic {text}" if len(text) == 1 and not upright else _word(text, "upright")


def _plain(letter: str, start: int) -> str:
    """The letter that a mathematical one is: 52 of them, A to Z and a to z, from `start` on."""
    k = ord("h") - ord("a") + 26 if letter == "\u210e" else ord(letter) - start
    if not 0 <= k < 52:
        raise UnfaithfulError(f"found {letter!r} in a word of mathematical letters, needed one of them")
    return chr(ord("A") + k) if k < 26 else chr(ord("a") + k - 26)


def _number(element: Element, found: list[str]) -> None:
    found.append(element.text or "")


def _operator(element: Element, found: list[str]) -> None:
    text = element.text or ""
    if element.get("minsize"):  # a bracket of a size of its own
        found.append(f"{'left' if element.get('form') == 'prefix' else 'right'} {text}")
    elif text in _PRIMES:
        found += "'" * (_PRIMES.index(text) + 1)
    elif text.isalpha():
        found.append(_word(text, "upright"))
    elif text not in _INVISIBLE:
        found.append("·" if text == "⋅" else text)


def _text(element: Element, found: list[str]) -> None:
    found.append(_word(element.text or "", "upright"))


def _space(element: Element, found: list[str]) -> None:
    pass


def _braced(element: Element, found: list[str]) -> None:
    found.append("{")
    _read(element, found)
    found.append("}")


def _fraction(element: Element, found: list[str]) -> None:
    found.append(r"\tfrac" if element.get("displaystyle") == "false" else r"\frac")
    for part in element:
        _braced(part, found)


def _root(element: Element, found: list[str]) -> None:
    found += (r"\sqrt", "{")
    _row(element, found)
    found.append("}")


def _scripts(signs: str) -> Reader:
    def read(element: Element, found: list[str]) -> None:
        base, *scripts = element
        if len(scripts) != len(signs):
            raise UnfaithfulError(f"found {len(element)} parts in <{element.tag}>, needed {len(signs) + 1}")
        if element.get("accent") == "true":
            found.append({"˙": r"\dot"}.get(scripts[0].text or "", "an unknown accent"))
            _braced(base, found)
            return
        _read(base, found)
        for sign, script in zip(signs, scripts, strict=True):
            if script.tag == "mo" and (script.text or " ") in _PRIMES:
                _read(script, found)
            else:
                found.append(sign)
                _braced(script, found)

    return read


def _table(element: Element, found: list[str]) -> None:
    for k, line in enumerate(element):
        found += [r"\\"] if k else []
        for m, cell in enumerate(line):
            found += ["&"] if m else []
            _row(cell, found)


_READERS: dict[str, Reader] = {
    "math": _row, "mrow": _row, "mpadded": _row, "mi": _identifier, "mn": _number, "mo": _operator, "mtext": _text,
    "mspace": _space, "mfrac": _fraction, "msqrt": _root, "msub": _scripts("_"), "msup": _scripts("^"),
    "msubsup": _scripts("_^"),
    "munder": _scripts("_"), "mover": _scripts("^"), "munderover": _scripts("_^"), "mtable": _table,
}  # fmt: skip

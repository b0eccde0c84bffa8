r"""Terms as LaTeX that needs amsmath only: \sum_{l=0}^{n - 1} \mathrm{e}^{z_{l}}.

Grammar, on top of the levels in `structure`:

    name       italic letters x, \omega, \mathit{pos}; an upright label d_{\mathrm{k}}, W_{\mathrm{Q\text{-}Z}}; \operatorname{softmax} for a definition,
               \dot{z} for the derivative of a curve
    number     12, \tfrac{1}{2}; a quotient of two terms is \frac{1}{2}. A fraction bar takes the factors on its left, since
               the last bar or the start of the product, except a leading \tfrac. In an exponent they are x^{1/2}, x^{2 m/d}: see `bars`
    product    a b, and a \cdot 2 before a digit or a fraction that would read as a mixed number
    subscript  z_{i}, \delta_{i j}; z_{2 m + a}, z_{0, j} where one is no single letter; after a label, d_{\mathrm{k}, i}
    index      2 m + a, \lfloor c / 2 \rfloor, c \bmod 2; 0_{n} is position 0 of the range of size n; [2 m + a] is an index as a number
    sum        \sum_{l=0}^{n - 1} body, the upper bound is the size of the range less one: n of n + 1, n + 1 of n + 2
    mean       \mathbf{E}_{u \in U}\left[body\right]
    function   j \mapsto body; j < n \mapsto body; a family or a definition that lacks its last indices
    exp        \mathrm{e}^{x}, and \exp\left(x\right) where x is tall
    others     x^{2}, \sqrt{x}, \left|x\right|, \begin{bmatrix} a & b \\ c & d \end{bmatrix}_{i j},
               \begin{cases} a, & i = j \\ b, & i \ne j \end{cases}
    derivative \frac{\mathrm{d}}{\mathrm{d} t} \left[body\right]_{t = point}; without the point, at t itself
    statement  a \le b, \lim_{t \to \infty} f(t) = c, g \Rightarrow p, \forall j\colon p, \forall j \ne k\colon p
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..terms import Term
from .bars import Barred
from .layouts import LAYOUTS
from .names import GREEK, RenderError, Spelling
from .parts import Formula, Part
from .structure import BASE, FACTOR, PREFIX, SUM, TERM, Piece

MACROS = {letter: f"\\{word}" for word, letter in GREEK.items()} | {"Sigma": r"\Sigma", "ε": r"\varepsilon"}
DOMAINS = {
    "real": r"\mathbf{R}",
    "nonnegative": r"\mathbf{R}_{\ge 0}",
    "positive": r"\mathbf{R}_{> 0}",
    "integer": r"\mathbf{Z}",
}
_IN_TEXT = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "²": r"\(^2\)", "−": r"\(-\)",
    **{c: f"\\{c}" for c in "_&%#${}"}, **{c: rf"\({c}\)" for c in "<>|"}, **{c: rf"\({m}\)" for c, m in MACROS.items()},
}  # fmt: skip
_TALL = ("\\frac", "\\tfrac", "\\sum", "\\begin", "\\left", "\\lim")
_LETTER = re.compile(r"([A-Za-z]|\\[A-Za-z]+)'*")
_OPERATORS = {"erf": r"\operatorname{erf}"}


class Latex(Barred):
    minus = "-"
    dot = r"\cdot"
    slash = "/"
    small, large = r"\tfrac", r"\frac"
    layouts = LAYOUTS
    relations = {"eq": "=", "ne": r"\ne", "le": r"\le", "lt": "<", "ge": r"\ge", "gt": ">", "tends": r"\to"}

    def bracketed(self, text: str) -> str:
        return rf"\left({text}\right)" if _is_tall(text) else f"({text})"

    def squared(self, text: str) -> str:
        return rf"\left[{text}\right]" if _is_tall(text) else f"[{text}]"

    # --- names

    def name(self, spelling: Spelling) -> str:
        return self.indexed(spelling, ())

    def indexed(self, spelling: Spelling, subscripts: Sequence[str]) -> str:
        base = _letters(spelling.base, "mathit")
        if spelling.dotted:
            base = rf"\dot{{{base}}}"
        return base + _subscript(spelling, subscripts) + "'" * spelling.primes

    def applied(self, spelling: Spelling, arguments: Sequence[str], subscripts: Sequence[str]) -> str:
        name = _letters(spelling.stem.replace("_", "-"), "operatorname") + "'" * spelling.primes
        called = self.called(name, arguments) if arguments else name
        return called + (f"_{{{_joined(subscripts)}}}" if subscripts else "")

    def called(self, name: str, arguments: Sequence[str]) -> str:
        text = ", ".join(arguments)
        return rf"{name}\!\left({text}\right)" if _is_tall(text) else f"{name}({text})"

    def ascribed(self, position: str, size: str) -> str:
        return f"{position}_{{{size}}}"

    def floored(self, position: Piece, step: Piece) -> Piece:
        return Piece(rf"\lfloor {self.at(position, FACTOR)} / {self.at(step, FACTOR)} \rfloor", BASE)

    def modulo(self, position: Piece, step: Piece) -> Piece:
        return Piece(rf"{self.at(position, FACTOR)} \bmod {self.at(step, FACTOR)}", SUM)

    # --- arithmetic

    def small_bar(self, above: int, below: int) -> str:
        return rf"\tfrac{{{above}}}{{{below}}}"

    def bar(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def raised(self, base: str, exponent: Term, piece: Piece) -> Piece:
        return Piece(f"{base}^{{{piece.text}}}", FACTOR)

    def elementary(self, op: str, argument: Piece) -> Piece:
        if op == "sqrt":
            return Piece(rf"\sqrt{{{argument.text}}}", FACTOR)
        if op == "abs":
            return Piece(rf"\left|{argument.text}\right|", BASE)
        if op == "exp" and not _is_tall(argument.text):
            return Piece(rf"\mathrm{{e}}^{{{argument.text}}}", FACTOR)
        return Piece(self.called(_OPERATORS.get(op, f"\\{op}"), [argument.text]), BASE)

    def table(self, rows: Sequence[Sequence[str]], subscripts: Sequence[str]) -> str:
        lines = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}_{{{_joined(subscripts)}}}"

    def cases(self, first: tuple[str, str], second: tuple[str, str]) -> Piece:
        lines = r" \\ ".join(f"{value}, & {condition}" for value, condition in (first, second))
        return Piece(rf"\begin{{cases}} {lines} \end{{cases}}", SUM)

    # --- binders and propositions

    def member(self, name: str, range_: Term, size: str | None) -> str:
        if size is None:
            return rf"{name} \in {self.domain(range_.data)}"
        return rf"{name} \in {size}" if range_.op == "space" else f"{name} {self.bound} {size}"

    def mapped(self, places: Sequence[str], body: str) -> str:
        return rf"{places[0] if len(places) == 1 else self.bracketed(', '.join(places))} \mapsto {body}"

    def summed(self, name: str, size: str, last: str, told: bool, body: str) -> Piece:
        return Piece(rf"\sum_{{{name}={self.first}}}^{{{last}}} {body}", PREFIX)

    def expected(self, name: str, space: str, told: bool, body: str) -> Piece:
        return Piece(rf"\mathbf{{E}}_{{{name} \in {space}}}\left[{body}\right]", BASE)

    def differentiated(self, name: str, body: str, point: str | None) -> Piece:
        at = "" if point is None else f"_{{{name} = {point}}}"
        return Piece(rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}} {name}}} \left[{body}\right]{at}", PREFIX)

    def limit(self, name: str, target: str, body: Piece, value: str) -> str:
        return rf"\lim_{{{name} \to {target}}} {self.at(body, TERM)} = {value}"

    def forall(self, place: str, body: str) -> str:
        return rf"\forall {place}\colon {body}"

    def implied(self, guard: str, body: str) -> str:
        return rf"{guard} \Rightarrow {body}"

    def infinity(self) -> str:
        return r"\infty"

    def domain(self, name: str) -> str:
        if name not in DOMAINS:
            raise RenderError(f"no words for the domain {name!r}")
        return DOMAINS[name]


class LatexFromOne(Latex):
    """The same, with indices 1, ..., n."""

    first = 1


def running(parts: Sequence[Part]) -> str:
    """A line of prose with formulas in it, for text mode; raises RenderError for a character that it has no LaTeX for."""
    return "".join(rf"\({p.text}\)" if isinstance(p, Formula) else "".join(map(_in_text, p.text)) for p in parts)


def _in_text(character: str) -> str:
    if character not in _IN_TEXT and not character.isascii() and not "가" <= character <= "힣":
        raise RenderError(f"no LaTeX for {character!r} in running text")
    return _IN_TEXT.get(character, character)


def _is_tall(text: str) -> bool:
    return any(macro in text for macro in _TALL)


def _letters(text: str, font: str) -> str:
    """One letter as it is, a word in the font; an upright word for a definition even if it is one letter."""
    if text in MACROS:
        return MACROS[text]
    if not text.isascii():
        raise RenderError(
            f"no LaTeX for the name {text!r}; use Latin letters, digits, and Greek letters or their names"
        )
    if len(text) == 1 and font != "operatorname":
        return text
    return rf"\{font}{{{text}}}"


def _subscript(spelling: Spelling, subscripts: Sequence[str]) -> str:
    hyphenated = spelling.label.replace("_", r"\text{-}")  # a mere - would be a minus
    label = [rf"\mathrm{{{hyphenated}}}"] if spelling.label else []
    inside = label + ([_joined(subscripts)] if subscripts else [])
    return f"_{{{', '.join(inside)}}}" if inside else ""


def _joined(subscripts: Sequence[str]) -> str:
    """Single letters side by side; anything else with commas."""
    return (" " if all(_LETTER.fullmatch(s) for s in subscripts) else ", ").join(subscripts)

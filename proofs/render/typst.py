r"""Terms as Typst formulas that need no package: sum_(l = 0)^(n - 1) upright(e)^(z_(l)).

Grammar, on top of the levels in `structure`. Subscripts and exponents always have brackets, which Typst does not print, and a
fraction is always a call: so no sign takes more, or less, than what stands in its brackets.

    name       italic letters x, omega, italic("pos"); an upright label d_("k"); "softmax" for a definition; dot(z) for the
               derivative of a curve; a prime stands before subscripts, z'_(i), and a primed base of a power has brackets
    number     12, inline(frac(1, 2)); a quotient of two terms is frac(1, 2). A fraction bar takes the factors on its left, since
               the last bar or the start of the product, except a leading inline fraction. In an exponent they are x^(1 slash 2),
               x^(2 m slash d): see `bars`
    product    a b, a thin b where one is a word, and a dot 2 before a digit or a fraction that would read as a mixed number
    subscript  z_(i), delta_(i j); z_(2 m + a), z_(0, j) where one is no single letter; after a label, d_("k", i)
    index      2 m + a, floor(c slash 2), c mod 2; 0_(n) is position 0 of the range of size n; [2 m + a] is an index as a number
    sum        sum_(l = 0)^(n - 1) body, the upper bound is the size of the range less one: n of n + 1, n + 1 of n + 2
    mean       EE_(u in U) [body]
    function   j |-> body; j < n |-> body; a family or a definition that lacks its last indices
    exp        upright(e)^(x), and exp(x) where x is tall or long
    others     x^(2), sqrt(x), abs(x), mat(delim: "[", a, b; c, d)_(i j), cases(a comma quad & i = j, b comma quad & i != j)
    derivative frac(upright(d), upright(d) t) [body]_(t = point); without the point, at t itself
    statement  a <= b, lim_(t -> infinity) f(t) = c, g => p, forall j: p, forall j != k: p
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..terms import Term
from .bars import Barred
from .layouts import LAYOUTS
from .names import GREEK, RenderError, Spelling
from .structure import BASE, FACTOR, PREFIX, SUM, TERM, Piece

SYMBOLS = {letter: word for word, letter in GREEK.items()} | {"Sigma": "Sigma", "ε": "epsilon"}
DOMAINS = {"real": "RR", "nonnegative": "RR_(>= 0)", "positive": "RR_(> 0)", "integer": "ZZ"}
_TALL = ("frac(", "sum_", "mat(", "cases(")
_ITALIC = 'italic("'
_WORDS = ('"', _ITALIC)
_LONG = 60  # an exponent cannot be broken into lines
_LETTER = re.compile(r"[A-Za-z]+'*")  # or the name of a Greek one


class Typst(Barred):
    minus = "-"
    dot = "dot"
    slash = " slash "
    small, large = "inline(frac(", "frac("
    layouts = LAYOUTS
    relations = {"eq": "=", "ne": "!=", "le": "<=", "lt": "<", "ge": ">=", "gt": ">", "tends": "->"}

    def bracketed(self, text: str) -> str:
        return f"({text})"

    def squared(self, text: str) -> str:
        return f"[{text}]"

    # --- names

    def name(self, spelling: Spelling) -> str:
        return self.indexed(spelling, ())

    def indexed(self, spelling: Spelling, subscripts: Sequence[str]) -> str:
        base = _letters(spelling.base)
        if spelling.dotted:
            base = f"dot({base})"
        label = [_quoted(spelling.label)] if spelling.label else []
        inside = ", ".join(label + ([_joined(subscripts)] if subscripts else []))
        return base + "'" * spelling.primes + _subscript(inside)

    def applied(self, spelling: Spelling, arguments: Sequence[str], subscripts: Sequence[str]) -> str:
        name = _letters(spelling.stem) if spelling.stem in SYMBOLS else _quoted(spelling.stem)
        name += "'" * spelling.primes
        called = self.called(name, arguments) if arguments else name
        return called + _subscript(_joined(subscripts))

    def called(self, name: str, arguments: Sequence[str]) -> str:
        return f"{name}({', '.join(arguments)})"

    def ascribed(self, position: str, size: str) -> str:
        return position + _subscript(size)

    def floored(self, position: Piece, step: Piece) -> Piece:
        return Piece(f"floor({self.at(position, FACTOR)} slash {self.at(step, FACTOR)})", BASE)

    def modulo(self, position: Piece, step: Piece) -> Piece:
        return Piece(f"{self.at(position, FACTOR)} mod {self.at(step, FACTOR)}", SUM)

    # --- arithmetic

    def small_bar(self, above: int, below: int) -> str:
        return f"{self.small}{above}, {below}))"

    def bar(self, above: str, below: str) -> str:
        return f"frac({above}, {below})"

    def between(self, before: str, part: str) -> str:
        usual = super().between(before, part)
        return " thin " if usual == " " and (part.startswith(_WORDS) or before.startswith(_ITALIC)) else usual

    def raised(self, base: str, exponent: Term, piece: Piece) -> Piece:
        if _is_primed(base):
            base = self.bracketed(base)
        return Piece(f"{base}^({piece.text})", FACTOR)

    def elementary(self, op: str, argument: Piece) -> Piece:
        if op == "sqrt":
            return Piece(f"sqrt({argument.text})", FACTOR)
        if op == "exp" and len(argument.text) < _LONG and not _is_tall(argument.text):
            return Piece(f"upright(e)^({argument.text})", FACTOR)
        return Piece(self.called('"erf"' if op == "erf" else op, [argument.text]), BASE)

    def table(self, rows: Sequence[Sequence[str]], subscripts: Sequence[str]) -> str:
        entries = "; ".join(", ".join(row) for row in rows)
        return f'mat(delim: "[", {entries}){_subscript(_joined(subscripts))}'

    def cases(self, first: tuple[str, str], second: tuple[str, str]) -> Piece:
        lines = ", ".join(f"{value} comma quad & {condition}" for value, condition in (first, second))
        return Piece(f"cases({lines})", SUM)

    # --- binders and propositions

    def member(self, name: str, range_: Term, size: str | None) -> str:
        if size is None:
            return f"{name} in {self.domain(range_.data)}"
        return f"{name} in {size}" if range_.op == "space" else f"{name} {self.bound} {size}"

    def mapped(self, places: Sequence[str], body: str) -> str:
        return f"{places[0] if len(places) == 1 else self.bracketed(', '.join(places))} |-> {body}"

    def summed(self, name: str, size: str, last: str, told: bool, body: str) -> Piece:
        return Piece(f"sum_({name} = {self.first})^({last}) {body}", PREFIX)

    def expected(self, name: str, space: str, told: bool, body: str) -> Piece:
        return Piece(f"EE_({name} in {space}) [{body}]", BASE)

    def differentiated(self, name: str, body: str, point: str | None) -> Piece:
        at = "" if point is None else _subscript(f"{name} = {point}")
        return Piece(f"frac(upright(d), upright(d) {name}) [{body}]{at}", PREFIX)

    def limit(self, name: str, target: str, body: Piece, value: str) -> str:
        return f"lim_({name} -> {target}) {self.at(body, TERM)} = {value}"

    def forall(self, place: str, body: str) -> str:
        return f"forall {place}: {body}"

    def implied(self, guard: str, body: str) -> str:
        return f"{guard} => {body}"

    def infinity(self) -> str:
        return "infinity"

    def domain(self, name: str) -> str:
        if name not in DOMAINS:
            raise RenderError(f"no words for the domain {name!r}")
        return DOMAINS[name]


class TypstFromOne(Typst):
    """The same, with indices 1, ..., n."""

    first = 1


def _is_primed(name: str) -> bool:
    """Whether a superscript would meet a prime, which is one too: x', x'_(i), but not y'_(i)(t)."""
    before, opening, after = name.partition("'_(")
    return bool(opening) and "(" not in before and _closing(after) == len(after) - 1


def _closing(text: str) -> int:
    """Where the bracket closes in which a text starts."""
    depth = 1
    for k, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if not depth:
            return k
    return len(text)


def _is_tall(text: str) -> bool:
    return any(sign in text for sign in _TALL)


def _letters(text: str) -> str:
    """One letter as it is, a Greek letter by its name, a word in italics."""
    if text in SYMBOLS:
        return SYMBOLS[text]
    return text if len(text) == 1 and text.isascii() else f"italic({_quoted(text)})"


def _quoted(text: str) -> str:
    """A word that Typst shall not read as a name."""
    if not text.isascii():
        raise RenderError(
            f"no Typst for the name {text!r}; use Latin letters, digits, and Greek letters or their names"
        )
    return '"' + text.replace("_", "-") + '"'


def _subscript(inside: str) -> str:
    return f"_({inside})" if inside else ""


def _joined(subscripts: Sequence[str]) -> str:
    """Single letters side by side; anything else with commas."""
    return (" " if all(_LETTER.fullmatch(s) for s in subscripts) else ", ").join(subscripts)

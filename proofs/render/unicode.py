"""Terms as plain text for a terminal: Σ_l exp(z_l), softmax(z)_i (δ_ij − softmax(z)_j).

Grammar, on top of the levels in `structure`:

    number     12, 1/2 (tight: a quotient of two terms is 1 / 2)       product   a b, and a · 2 before a digit
    subscript  z_i, δ_ij; z_(2 m + a), z_(0, j), where one is no single letter; z[i] where a symbol z_x is on the page
    index      2 m + a, ⌊c / 2⌋, c mod 2; 0_n is position 0 of the range of size n; [2 m + a] is an index as a number
    sum        Σ_l body; Σ_(l < n) body where the body does not tell the range
    function   j ↦ body; j < n ↦ body; (j, t ∈ ℝ) ↦ body; a family or a definition that lacks its last indices
    others     x², x^(a + b), √x, √(a + b), |x| (abs(x) around another bar), [a, b; c, d]_ij, {i = j: a; i ≠ j: b}
    mean       𝔼_u[body]; 𝔼_(u ∈ U)[body] where the body does not tell the space
    derivative d/dt [body]_(t = point); d/dt [body] at t itself
    statement  a ≤ b, lim_(t → ∞) f(t) = c, g ⇒ p, ∀ j: p, ∀ j ≠ k: p, ∀ j < n: p, ∀ x ∈ ℝ: p
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ..terms import Term
from .layouts import LAYOUTS
from .names import RenderError, Spelling
from .structure import BASE, FACTOR, PREFIX, SUM, TERM, Factor, Piece, Printer

DOMAINS = {"real": "ℝ", "nonnegative": "ℝ≥0", "positive": "ℝ>0", "integer": "ℤ"}
_LETTER = re.compile(r"[^\W\d_]\u0307?'*")
_WORD = re.compile(r"[\w\u0307']+")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Unicode(Printer):
    minus = "−"
    layouts = LAYOUTS
    relations = {"eq": "=", "ne": "≠", "le": "≤", "lt": "<", "ge": "≥", "gt": ">", "tends": "→"}

    def bracketed(self, text: str) -> str:
        return f"({text})"

    def squared(self, text: str) -> str:
        return f"[{text}]"

    # --- names

    def name(self, spelling: Spelling) -> str:
        text = spelling.stem
        if spelling.dotted:
            text = unicodedata.normalize("NFC", text[:1] + "\u0307") + text[1:]
        return text + "'" * spelling.primes

    def indexed(self, spelling: Spelling, subscripts: Sequence[str]) -> str:
        return self._subscripted(self.name(spelling), spelling, subscripts)

    def applied(self, spelling: Spelling, arguments: Sequence[str], subscripts: Sequence[str]) -> str:
        name = self.name(spelling)
        return self._subscripted(self.called(name, arguments) if arguments else name, spelling, subscripts)

    def _subscripted(self, text: str, spelling: Spelling, subscripts: Sequence[str]) -> str:
        if not subscripts:
            return text
        if not text.endswith(")") and self.notation.has_labelled(spelling):
            return f"{text}[{', '.join(subscripts)}]"
        return f"{text}_{_subscript(subscripts)}"

    def called(self, name: str, arguments: Sequence[str]) -> str:
        return f"{name}({', '.join(arguments)})"

    def ascribed(self, position: str, size: str) -> str:
        return f"{position}_{size}" if _WORD.fullmatch(size) else f"{position}_({size})"

    def floored(self, position: Piece, step: Piece) -> Piece:
        return Piece(f"⌊{self.at(position, FACTOR)} / {self.at(step, FACTOR)}⌋", BASE)

    def modulo(self, position: Piece, step: Piece) -> Piece:
        return Piece(f"{self.at(position, FACTOR)} mod {self.at(step, FACTOR)}", SUM)

    # --- arithmetic

    def rational(self, numerator: int, denominator: int) -> Piece:
        return Piece(f"{numerator}/{denominator}", TERM)

    def product(self, factors: Sequence[Factor]) -> Piece:
        count = len(factors)
        while count > 1 and factors[count - 1].under is not None:
            count -= 1
        if count == 1 and factors[0].piece.text == "1":
            count = len(factors)
        above, below = factors[:count], factors[count:]
        text, after_fraction = "", False
        for k, factor in enumerate(above):
            is_last = k == count - 1 and not below
            part = self.at(factor.piece, PREFIX if is_last else FACTOR)
            fraction = k == 0 and count > 1 and _is_fraction(factor.term)
            part = factor.piece.text if fraction else part
            dot = after_fraction or part[0].isdigit()
            text += (" · " if dot else " ") + part if text else part
            after_fraction = fraction
        for k, factor in enumerate(below):
            assert factor.under is not None
            text += " / " + self.at(factor.under, PREFIX if k == len(below) - 1 else FACTOR)
        return Piece(text, TERM)

    def inverse(self, base: Piece) -> Piece:
        return Piece(f"1 / {self.at(base, PREFIX)}", TERM)

    def raised(self, base: str, exponent: Term, piece: Piece) -> Piece:
        if exponent.op == "number" and exponent.data.denominator == 1:
            return Piece(base + str(exponent.data).translate(_SUPERSCRIPTS), FACTOR)
        simple = piece.level == BASE and piece.text.isalpha()
        return Piece(f"{base}^{piece.text if simple else self.bracketed(piece.text)}", FACTOR)

    def elementary(self, op: str, argument: Piece) -> Piece:
        if op == "sqrt":
            simple = argument.level == BASE and _WORD.fullmatch(argument.text)
            return Piece(f"√{argument.text if simple else self.bracketed(argument.text)}", FACTOR)
        if op == "abs" and "|" not in argument.text:
            return Piece(f"|{argument.text}|", BASE)
        return Piece(self.called(op, [argument.text]), BASE)

    def table(self, rows: Sequence[Sequence[str]], subscripts: Sequence[str]) -> str:
        return f"[{'; '.join(', '.join(row) for row in rows)}]_{_subscript(subscripts)}"

    def cases(self, first: tuple[str, str], second: tuple[str, str]) -> Piece:
        return Piece(f"{{{'; '.join(f'{condition}: {value}' for value, condition in (first, second))}}}", BASE)

    # --- binders and propositions

    def member(self, name: str, range_: Term, size: str | None) -> str:
        if size is None:
            return f"{name} ∈ {self.domain(range_.data)}"
        return f"{name} {'∈' if range_.op == 'space' else self.bound} {size}"

    def mapped(self, places: Sequence[str], body: str) -> str:
        return f"{places[0] if len(places) == 1 else self.bracketed(', '.join(places))} ↦ {body}"

    def summed(self, name: str, size: str, last: str, told: bool, body: str) -> Piece:
        where = _subscript([name]) if told else f"({name} {self.bound} {size})"
        return Piece(f"Σ_{where} {body}", PREFIX)

    def expected(self, name: str, space: str, told: bool, body: str) -> Piece:
        where = _subscript([name]) if told else f"({name} ∈ {space})"
        return Piece(f"𝔼_{where}[{body}]", BASE)

    def differentiated(self, name: str, body: str, point: str | None) -> Piece:
        at = "" if point is None else f"_({name} = {point})"
        return Piece(f"d/d{name} [{body}]{at}", PREFIX)

    def limit(self, name: str, target: str, body: Piece, value: str) -> str:
        return f"lim_({name} → {target}) {self.at(body, TERM)} = {value}"

    def forall(self, place: str, body: str) -> str:
        return f"∀ {place}: {body}"

    def implied(self, guard: str, body: str) -> str:
        return f"{guard} ⇒ {body}"

    def infinity(self) -> str:
        return "∞"

    def domain(self, name: str) -> str:
        if name not in DOMAINS:
            raise RenderError(f"no words for the domain {name!r}")
        return DOMAINS[name]


class UnicodeFromOne(Unicode):
    """The same, with indices 1, ..., n."""

    first = 1


def _is_fraction(term: Term) -> bool:
    return bool(term.op == "number" and term.data.denominator != 1 and term.data > 0)


def _subscript(subscripts: Sequence[str]) -> str:
    """Single letters side by side; anything else in brackets."""
    simple = all(_LETTER.fullmatch(s) for s in subscripts) or (len(subscripts) == 1 and subscripts[0].isdigit())
    return "".join(subscripts) if simple else f"({', '.join(subscripts)})"

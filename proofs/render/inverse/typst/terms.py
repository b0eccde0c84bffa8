"""The Typst of sums, products and their factors."""

from __future__ import annotations

from .. import conventions
from ..levels import FACTOR, TERM
from ..problems import Complaint
from ..tree import (
    Call,
    Derivative,
    Fraction,
    Modulo,
    Node,
    Number,
    Ratio,
    Summation,
)
from .atoms import LONG, Atoms

_STARTS = frozenset(
    "( [ abs( frac( inline( sqrt( upright( exp( log( sin( cos( tanh( max( sum dot( italic( floor( mat( cases( EE".split()
)
_KINDS = frozenset(["letter", "digits", "string"])


class Terms(Atoms):
    def whole(self) -> Node:
        found = self.sum()
        conventions.require_level(found, 0)
        return found

    def sum(self) -> Node:
        at = self.at
        parts = [(self._minus(), self.product())]
        if self.sees("mod") and not parts[0][0]:
            return self._modulo(at, parts[0][1])
        while self.sees("+") or self.sees("-"):
            self.need_space()
            sign = self.take().text
            self.need_space()
            parts.append((sign == "-", self.product()))
        return conventions.sum_of(at, parts)

    def _minus(self) -> bool:
        found = self.takes("-")
        if found and self.peek().spaced:
            self.fail("no space behind a minus in front")
        return found

    def _modulo(self, at: int, position: Node) -> Node:
        conventions.require_level(position, FACTOR)
        self.need("mod")
        return Modulo(at, position, self.tight())

    def tight(self) -> Node:
        found = self.factor()
        conventions.require_level(found, FACTOR)
        return found

    def product(self) -> Node:
        at, start, factors = self.at, self._next, [self.factor()]
        while self.sees("dot") or self.sees("thin") or self._starts_a_factor():
            needed = self._between(factors[-1], self._tokens[start].text)
            for sign in ("dot", "thin"):
                if self.sees(sign) != (needed == sign):
                    self.fail(f"{needed or 'nothing'} between these factors")
            if needed:
                self.need(needed)
            else:
                self.need_space()
            start = self._next
            factors.append(self.factor())
        return self.multiplied(at, factors)

    def _starts_a_factor(self) -> bool:
        token = self.peek()
        return token.text in _STARTS if token.kind == "sign" else token.kind in _KINDS

    def _between(self, before: Node, start: str) -> str | None:
        """What has to stand between a factor, with its first token, and the next one."""
        ahead = 1 if self.sees("dot") or self.sees("thin") else 0
        token = self.peek(ahead)
        is_sign = token.kind == "sign"
        if token.kind == "digits" or (is_sign and token.text == "inline("):
            return "dot"
        if isinstance(before, Number) and is_sign and token.text == "frac(":
            return "dot"
        return "thin" if token.kind == "string" or "italic(" in (start, is_sign and token.text) else None

    def factor(self) -> Node:
        at = self.at
        if self.takes("sum"):
            return self._summation(at)
        if self.takes("frac("):
            return self._derivative(at) if self.sees("upright(") and self.peek(1).text == "d" else self._fraction(at)
        if self.takes("inline("):
            self.need_a_line(at)
            return self._ratio(at)
        if self.takes("sqrt("):
            return Call(at, "sqrt", (self.until(")", self.whole),))
        if self.takes("upright("):
            self.need_word("letter", "e")
            self.need(")")
            return Call(at, "exp", (self._low_exponent(),), raised=True)
        found = self.base()
        if not self.hangs("^"):
            return found
        self.need("^")
        return self.power(at, found, lambda: self.in_brackets(self.whole))

    def _low_exponent(self) -> Node:
        self.need("^")
        start = self._next
        found = self.in_brackets(self.whole)
        inside = self._tokens[self._next - 1].at - self._tokens[start].at - 1
        if inside >= LONG or self.is_tall(start):
            raise Complaint("e to the power of what is tall or long is written with exp", found.at)
        return found

    def _fraction(self, at: int) -> Node:
        self.need_a_line(at)
        above = conventions.above_bar(self.sum())
        self.need(",")
        below = self.whole()
        self.need(")")
        return Fraction(at, above, below)

    def _ratio(self, at: int) -> Node:
        self.need("frac(")
        above = self._whole_number()
        self.need(",")
        below = self._whole_number()
        self.need(")", ")")
        return Ratio(at, above, below)

    def _whole_number(self) -> int:
        if self.peek().kind != "digits":
            self.fail("a whole number")
        return int(self.take().text)

    def _summation(self, at: int) -> Node:
        self.need("_", "(")
        name = self.bare_name()
        self.need("=")
        first = self.first_index()
        self.need(")", "^")
        top = self.in_brackets(self.whole)
        self.need_space()
        body = self.product()
        conventions.require_level(body, TERM)
        return Summation(at, name, first, top, body)

    def _derivative(self, at: int) -> Node:
        self._d()
        self.need(",")
        self._d()
        self.need_space()
        name = self.bare_name()
        self.need(")")
        body, point = self.squared(self.whole), None
        if self.hangs("_"):
            self.need("_", "(")
            if self.bare_name() != name:
                raise Complaint(f"needed {name} at a point", self.at)
            self.need("=")
            point = self.whole()
            self.need(")")
        return Derivative(at, name, body, point)

    def _d(self) -> None:
        self.need("upright(")
        self.need_word("letter", "d")
        self.need(")")

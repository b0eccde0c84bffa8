r"""The LaTeX of sums, products and factors."""

from __future__ import annotations

from .. import conventions
from ..levels import FACTOR, TERM
from ..problems import Complaint
from ..tree import Call, Derivative, Fraction, Modulo, Node, Number, Ratio, Summation
from .atoms import Atoms

_STARTS = frozenset(
    r"( \left( [ \left[ \left| \frac \tfrac \sqrt \exp \log \sin \cos \tanh \max \sum \dot \lfloor".split()
)
_WORDS = frozenset(["letter", "digits", "mathit", "operatorname", "begin"])


class Terms(Atoms):
    def whole(self) -> Node:
        found = self.sum()
        conventions.require_level(found, 0)
        return found

    def sum(self) -> Node:
        at = self.at
        parts = [(self.takes("-"), self.product())]
        if self.sees(r"\bmod") and not parts[0][0]:
            return self._modulo(at, parts[0][1])
        while self.sees("+") or self.sees("-"):
            parts.append((self.take().text == "-", self.product()))
        return conventions.sum_of(at, parts)

    def _modulo(self, at: int, position: Node) -> Node:
        conventions.require_level(position, FACTOR)
        self.need(r"\bmod")
        return Modulo(at, position, self.tight())

    def tight(self) -> Node:
        found = self.factor()
        conventions.require_level(found, FACTOR)
        return found

    def product(self) -> Node:
        at, factors = self.at, [self.factor()]
        while self.sees(r"\cdot") or self._starts_a_factor():
            dot = self.takes(r"\cdot")
            if dot != self._needs_a_dot(factors[-1]):
                self.fail(r"no \cdot here" if dot else r"\cdot")
            if not self.peek().spaced:
                self.fail("a space between factors")
            factors.append(self.factor())
        return self.multiplied(at, factors)

    def _starts_a_factor(self) -> bool:
        token = self.peek()
        if token.kind == "sign":
            return token.text in _STARTS
        return token.kind in _WORDS or (token.kind, token.text) in (("mathrm", "e"), ("mathbf", "E"))

    def _needs_a_dot(self, before: Node) -> bool:
        mixed = isinstance(before, Number) and self.sees(r"\frac")
        return self.peek().kind == "digits" or self.sees(r"\tfrac") or mixed

    def factor(self) -> Node:
        at = self.at
        if self.takes(r"\sum"):
            return self._summation(at)
        if self.takes(r"\frac"):
            moved = self.sees("{") and self.peek(1).kind == "mathrm" and self.peek(1).text == "d"
            return self._derivative(at) if moved else self._fraction(at)
        if self.takes(r"\tfrac"):
            self.need_a_line(at)
            return self._ratio(at)
        if self.takes(r"\sqrt"):
            return Call(at, "sqrt", (self.braced(),))
        if self.sees_word("mathrm", "e"):
            self.take()
            return Call(at, "exp", (self._low_exponent(),), raised=True)
        found = self.base()
        return self.power(at, found, self.braced) if self.takes("^") else found

    def _low_exponent(self) -> Node:
        self.need("^")
        start = self._next
        found = self.braced()
        if self.is_tall(start):
            raise Complaint(r"e to the power of what is tall is written with \exp", found.at)
        return found

    def _fraction(self, at: int) -> Node:
        self.need_a_line(at)
        above = conventions.above_bar(self.braced_product())
        return Fraction(at, above, self.braced())

    def braced_product(self) -> Node:
        self.need("{")
        found = self.sum()
        self.need("}")
        return found

    def _ratio(self, at: int) -> Node:
        above = self._whole_number()
        return Ratio(at, above, self._whole_number())

    def _whole_number(self) -> int:
        self.need("{")
        if self.peek().kind != "digits":
            self.fail("a whole number")
        found = int(self.take().text)
        self.need("}")
        return found

    def _summation(self, at: int) -> Node:
        self.need("_", "{")
        name = self.bare_name()
        self.need("=")
        first = self.first_index()
        self.need("}", "^")
        top, body = self.braced(), self.product()
        conventions.require_level(body, TERM)
        return Summation(at, name, first, top, body)

    def _derivative(self, at: int) -> Node:
        self.need("{")
        self.need_word("mathrm", "d")
        self.need("}", "{")
        self.need_word("mathrm", "d")
        name = self.bare_name()
        self.need("}")
        if not self.sees(r"\left["):
            self.fail(r"'\\left['")
        body, point = self.fenced(self.whole, always=True), None
        if self.takes("_", "{"):
            if self.bare_name() != name:
                raise Complaint(f"needed {name} at a point", self.at)
            self.need("=")
            point = self.whole()
            self.need("}")
        return Derivative(at, name, body, point)

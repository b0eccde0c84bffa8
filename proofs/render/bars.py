"""Products with fraction bars, for printers that set type.

A bar takes the factors on its left, since the last bar or the start of the product, except leading fractions. In an exponent,
where a bar would be too small and a small fraction too large, there are slashes: d^(-1/2), b^(2 m/d). A slash takes the product
on its left and one factor on its right; any other inverse is a factor, (1/b). Since 3/2 is one number, a quotient of two numbers
is 3 times 2^(-1).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

from ..terms import Term, number
from .structure import FACTOR, PREFIX, SUM, TERM, Factor, Piece, Printer, Scope


class Barred(Printer):
    dot: ClassVar[str]
    slash: ClassVar[str]
    small: ClassVar[str]  # how a number such as one half starts
    large: ClassVar[str]  # how a fraction bar starts
    slashed = False  # whether this printer writes what stands in an exponent

    @abstractmethod
    def bar(self, above: str, below: str) -> str: ...

    @abstractmethod
    def small_bar(self, above: int, below: int) -> str: ...

    def exponent(self, term: Term, scope: Scope) -> Piece:
        return self._in_exponents.piece(term, scope)

    @cached_property
    def _in_exponents(self) -> Self:
        printer = type(self)(self.notation)
        printer.slashed = True
        return printer

    def rational(self, numerator: int, denominator: int) -> Piece:
        if self.slashed:
            return Piece(f"{numerator}{self.slash}{denominator}", TERM)
        return Piece(self.small_bar(numerator, denominator), FACTOR)

    def inverse(self, base: Piece) -> Piece:
        if not self.slashed:
            return Piece(self.bar("1", base.text), FACTOR)
        if base.text.isdigit():
            return self.raised(base.text, number(-1), Piece("-1", SUM))
        return Piece(f"1{self.slash}{self.at(base, FACTOR)}", TERM)

    def product(self, factors: Sequence[Factor]) -> Piece:
        return self._with_a_slash(factors) if self.slashed else self._with_bars(factors)

    def _with_a_slash(self, factors: Sequence[Factor]) -> Piece:
        *before, last = factors
        if last.under is None or _is_number(before, last.under):
            return Piece(self._side_by_side(self._texts(factors)), TERM)
        above = self._side_by_side([self.at(f.piece, FACTOR) for f in before])
        return Piece(above + self.slash + self.at(last.under, FACTOR), TERM)

    def _with_bars(self, factors: Sequence[Factor]) -> Piece:
        parts: list[str] = []
        run: list[Factor] = []
        for factor in factors:
            if factor.under is None:
                run.append(factor)
                continue
            while run and _is_outside(run[0]):
                parts.append(self.at(run.pop(0).piece, FACTOR))
            parts.append(self.bar(self._above(run), factor.under.text))
            run = []
        return Piece(self._side_by_side([*parts, *self._texts(run)]), TERM)

    def _above(self, run: Sequence[Factor]) -> str:
        if not run:
            return "1"
        alone = len(run) == 1 and run[0].term.op in ("add", "value")
        return run[0].piece.text if alone else self._side_by_side(self._texts(run))

    def _texts(self, run: Sequence[Factor]) -> list[str]:
        return [self.at(f.piece, PREFIX if k == len(run) - 1 else FACTOR) for k, f in enumerate(run)]

    def _side_by_side(self, parts: Sequence[str]) -> str:
        return parts[0] + "".join(self.between(before, part) + part for before, part in pairwise(parts))

    def between(self, before: str, part: str) -> str:
        """A dot where a number would otherwise read as part of another one."""
        mixed = before.isdigit() and part.startswith(self.large)
        return f" {self.dot} " if part[0].isdigit() or part.startswith(self.small) or mixed else " "


def _is_number(above: Sequence[Factor], under: Piece) -> bool:
    """Whether a slash between them would write a number, or the inverse of what is under it: 3/2, 1/b."""
    return len(above) == 1 and (above[0].term == number(1) or (above[0].piece.text + under.text).isdigit())


def _is_outside(factor: Factor) -> bool:
    """A number that stands before a fraction bar rather than above it: 1/2, or a 1 that somebody wrote."""
    return factor.term.op == "number" and (factor.term.data.denominator != 1 or factor.term.data == 1)

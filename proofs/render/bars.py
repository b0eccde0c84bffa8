"""Products with fraction bars, for printers that set type."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from .structure import FACTOR, PREFIX, TERM, Factor, Piece, Printer


class Barred(Printer):
    """A bar takes the factors on its left, since the last bar or the start of the product, except leading fractions."""

    dot: ClassVar[str]
    small: ClassVar[str]  # how a number such as one half starts
    large: ClassVar[str]  # how a fraction bar starts

    @abstractmethod
    def bar(self, above: str, below: str) -> str: ...

    def inverse(self, base: Piece) -> Piece:
        return Piece(self.bar("1", base.text), FACTOR)

    def product(self, factors: Sequence[Factor]) -> Piece:
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
        alone = len(run) == 1 and run[0].term.op == "add"
        return run[0].piece.text if alone else self._side_by_side(self._texts(run))

    def _texts(self, run: Sequence[Factor]) -> list[str]:
        return [self.at(f.piece, PREFIX if k == len(run) - 1 else FACTOR) for k, f in enumerate(run)]

    def _side_by_side(self, parts: Sequence[str]) -> str:
        return parts[0] + "".join(self.between(before, part) + part for before, part in pairwise(parts))

    def between(self, before: str, part: str) -> str:
        """A dot where a number would otherwise read as part of another one."""
        mixed = before.isdigit() and part.startswith(self.large)
        return f" {self.dot} " if part[0].isdigit() or part.startswith(self.small) or mixed else " "


def _is_outside(factor: Factor) -> bool:
    """A number that stands before a fraction bar rather than above it: 1/2, or a 1 that somebody wrote."""
    return factor.term.op == "number" and (factor.term.data.denominator != 1 or factor.term.data == 1)

"""Ranges that the page does not print: unknown at first, then found by what the indices are used for.

An index belongs to one range, so wherever two ranges meet they are one; and 2 m + a belongs to the range of 2 times the size of
m's. What nothing tells stays unknown, and is an error: a printer has to print it.
"""

from __future__ import annotations

from typing import NamedTuple

from ...terms import Term, number, product_of_sizes
from .problems import Complaint

UNKNOWN = "unknown"


class _Product(NamedTuple):
    """minor times major is whole."""

    minor: Term
    major: Term
    whole: Term
    at: int


class Sizes:
    """What is known of the ranges of one formula."""

    def __init__(self) -> None:
        self._found: dict[int, Term] = {}
        self._made: list[int] = []  # where each unknown range stands
        self._products: list[_Product] = []

    def fresh(self, at: int) -> Term:
        self._made.append(at)
        return Term(UNKNOWN, (), len(self._made) - 1)

    def known(self, size: Term) -> Term:
        """The size as far as it is known."""
        while size.op == UNKNOWN and size.data in self._found:
            size = self._found[size.data]
        if not size.args:
            return size
        return size.rebuilt(map(self.known, size.args))

    def same(self, left: Term, right: Term, at: int) -> None:
        """Two ranges are one. Raises Complaint where they cannot be."""
        left, right = self.known(left), self.known(right)
        if left == right:
            return
        if left.op == UNKNOWN or right.op == UNKNOWN:
            unknown, other = (left, right) if left.op == UNKNOWN else (right, left)
            self._found[unknown.data] = other
        elif left.op == right.op and left.args and len(left.args) == len(right.args):
            for one, other in zip(left.args, right.args, strict=True):
                self.same(one, other, at)
        else:
            raise Complaint(f"this index is of another range: found {_said(left)}, needed {_said(right)}", at)

    def product(self, minor: Term, major: Term, whole: Term, at: int) -> None:
        self._products.append(_Product(minor, major, whole, at))

    def settle(self) -> None:
        """Solves what is left. Raises Complaint for a range that nothing tells."""
        while self._products:
            waiting = [p for p in self._products if not self._solved(p)]
            if len(waiting) == len(self._products):
                break
            self._products = waiting
        for unknown, at in enumerate(self._made):
            if unknown not in self._found:
                raise Complaint("nothing tells the range of this index", at)

    def _solved(self, product: _Product) -> bool:
        minor, major, whole = map(self.known, product[:3])
        if major.op != UNKNOWN:
            self.same(whole, product_of_sizes(minor, major), product.at)
            return True
        if whole.op == UNKNOWN:
            return False
        self.same(major, _divided(whole, minor, product.at), product.at)
        return True


def _divided(whole: Term, minor: Term, at: int) -> Term:
    if whole.op == "mul" and len(whole.args) == 2 and whole.args[0] == minor:
        return whole.args[1]
    if whole.op == minor.op == "number" and minor.data and whole.data % minor.data == 0:
        return number(whole.data / minor.data)
    raise Complaint(f"a range of size {whole!r} is no range of {minor!r} times another size", at)


def _said(size: Term) -> str:
    return "an unknown one" if size.op == UNKNOWN else repr(size)

"""Binders of numbers: sums, expectations, derivatives; and the branches of a case distinction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...terms import ANY_REAL, Term
from . import conventions, indices, propositions, reals
from .problems import Complaint
from .reading import Reading, Scope, hint
from .tree import Bracket, Cases, Derivative, Domain, Mean, Node, Number, Place, Relation, Sum, Summation, Symbol, Total

_OPPOSITE = {"eq": "ne", "ne": "eq", "le": "gt", "lt": "ge"}


def range_of(reading: Reading, place: Place) -> Term:
    """The range of a bound variable, unknown where the page does not print it."""
    match place.range:
        case None:
            return reading.sizes.fresh(place.at)
        case Domain(name=name):
            return Term("domain", (), name)
    return ranged(reading, place.sign, place.range)


def ranged(reading: Reading, sign: str, node: Node) -> Term:
    """The range of an index, from the sign between the two: i < n where counting starts at 0, i <= n where it starts at 1."""
    if sign == "in":
        return space(reading, node)
    if sign != ("le" if reading.first else "lt"):
        raise Complaint(f"the first index is {reading.first} here, so the last one is written in another way", node.at)
    return indices.size(reading, node)


def space(reading: Reading, node: Node) -> Term:
    if isinstance(node, Symbol):
        indices.plain(node)
        found = reading.free(node)
        if isinstance(found, Term) and found.op == "space":
            return found
    raise Complaint("needed a probability space", node.at)


def _summation(reading: Reading, node: Summation, scope: Scope) -> Term:
    if node.first != reading.first:
        raise Complaint(f"the first index is {reading.first} here", node.at)
    size = indices.size(reading, node.top if reading.first else _above(node.top))
    inside = reading.bind(scope, node.name, size, node.at)
    return Term("sum", (size, reals.real(reading, node.body, inside)), None, (hint(node.name),))


def _above(top: Node) -> Node:
    """The size of a range whose last index is `top`, which is written in one way only: n - 1 of n, n of n + 1, n + 1 of n + 2."""
    match top.parts if isinstance(top, Sum) else ((False, top),):
        case ((False, Number(value=last)),):
            return Number(top.at, last + 1)
        case ((True, Number(value=1)),):
            return Number(top.at, 0)
        case (*before, (True, Number(value=1))):
            return _whole(top.at, before)
        case (*before, (False, Number(value=last))) if last:
            return Sum(top.at, (*before, (False, Number(top.at, last + 1))))
        case (*_, (_, Number())):
            raise Complaint("this is the last index of no range", top.at)
        case before:
            return Sum(top.at, (*before, (False, Number(top.at, 1))))


def _whole(at: int, parts: Sequence[tuple[bool, Node]]) -> Node:
    """The size whose last index is that size - 1. Raises Complaint where it has a shorter one."""
    *before, (minus, last) = parts
    if isinstance(last, Number) and (last.value > 1 or not before or (last.value and not _needs_it(before))):
        raise Complaint("this last index is written in a shorter way", at)
    return Sum(at, tuple(parts)) if before or minus else last


def _needs_it(parts: Sequence[tuple[bool, Node]]) -> bool:
    """Whether the last index of these + 1 is + 1 - 1: as n + 2 that of n + 2 + 1 would be the one of n + 3."""
    return isinstance(parts[-1][1], Number) or (len(parts) == 1 and isinstance(parts[0][1], Bracket))


def _total(reading: Reading, node: Total, scope: Scope) -> Term:
    size = range_of(reading, node.place)
    inside = reading.bind(scope, node.place.name, size, node.at)
    return Term("sum", (size, reals.real(reading, node.body, inside)), None, (hint(node.place.name),))


def _mean(reading: Reading, node: Mean, scope: Scope) -> Term:
    over = reading.sizes.fresh(node.at) if node.space is None else space(reading, node.space)
    inside = reading.bind(scope, node.name, over, node.at)
    return Term("expect", (over, reals.real(reading, node.body, inside)), None, (hint(node.name),))


def _derivative(reading: Reading, node: Derivative, scope: Scope) -> Term:
    at_itself = node.point is None
    inside = reading.bind(scope, node.name, ANY_REAL, node.at, again=at_itself)
    body = reals.real(reading, node.body, inside)
    point = reals.real(reading, Symbol(node.at, node.name) if node.point is None else node.point, scope)
    if at_itself and point.op not in ("variable", "bound"):
        raise Complaint(f"{node.name} is no variable", node.at)
    return Term("derivative", (body, point), None, (hint(node.name),))


def _cases(reading: Reading, node: Cases, scope: Scope) -> Term:
    holds, fails = node.holds, node.fails
    if not isinstance(holds, Relation) or holds.sign not in _OPPOSITE:
        raise Complaint("needed a relation", holds.at)
    if not conventions.alike(holds._replace(sign=_OPPOSITE[holds.sign]), fails):
        raise Complaint("this is not the opposite of the other condition", fails.at)
    condition = propositions.proposition(reading, holds, scope)
    return Term("when", (condition, *(reals.real(reading, branch, scope) for branch in (node.then, node.otherwise))))


BINDERS: dict[type, Callable[[Reading, Any, Scope], Term]] = {
    Summation: _summation, Total: _total, Mean: _mean, Derivative: _derivative, Cases: _cases,
}  # fmt: skip

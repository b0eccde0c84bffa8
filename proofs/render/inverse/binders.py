"""Binders of numbers: sums, expectations, derivatives; and the branches of a case distinction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...terms import ANY_REAL, Term
from . import indices, propositions, reals
from .problems import Complaint
from .reading import Reading, Scope, hint
from .tree import Cases, Derivative, Domain, Mean, Node, Number, Place, Relation, Sum, Summation, Symbol


def range_of(reading: Reading, place: Place) -> Term:
    """The range of a bound variable, unknown where the page does not print it."""
    match place.range:
        case None:
            return reading.sizes.fresh(place.at)
        case Domain(name=name):
            return Term("domain", (), name)
        case Symbol() if not place.below:
            return space(reading, place.range)
    return indices.size(reading, place.range)


def space(reading: Reading, node: Node) -> Term:
    if isinstance(node, Symbol):
        indices.plain(node)
        found = reading.free(node)
        if isinstance(found, Term) and found.op == "space":
            return found
    raise Complaint("needed a probability space", node.at)


def _summation(reading: Reading, node: Summation, scope: Scope) -> Term:
    size = indices.size(reading, _above(node.top))
    inside = reading.bind(scope, node.name, size, node.at)
    return Term("sum", (size, reals.real(reading, node.body, inside)), None, (hint(node.name),))


def _above(top: Node) -> Node:
    """The size of a range whose last index is `top`."""
    if isinstance(top, Number):
        return Number(top.at, top.value + 1)
    match top:
        case Sum(parts=((True, Number(value=1)),)):
            return Number(top.at, 0)
        case Sum(parts=(*parts, (True, Number(value=1)))):
            return parts[0][1] if len(parts) == 1 and not parts[0][0] else Sum(top.at, tuple(parts))
    raise Complaint("a sum runs to the size of a range less one", top.at)


def _mean(reading: Reading, node: Mean, scope: Scope) -> Term:
    over = space(reading, node.space)
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
    if not isinstance(node.condition, Relation):
        raise Complaint("needed a relation", node.condition.at)
    condition = propositions.proposition(reading, node.condition, scope)
    return Term("when", (condition, *(reals.real(reading, branch, scope) for branch in (node.then, node.otherwise))))


BINDERS: dict[type, Callable[[Reading, Any, Scope], Term]] = {
    Summation: _summation, Mean: _mean, Derivative: _derivative, Cases: _cases,
}  # fmt: skip

"""Statements: relations, limits, implications, and what holds for all values of a variable."""

from __future__ import annotations

from ...binders import lift
from ...terms import ANY_REAL, INFINITY, Term
from . import binders, indices, reals
from .problems import Complaint
from .reading import Reading, Scope, hint
from .tree import ForAll, Implies, Infinity, Limit, Node, Relation


def proposition(reading: Reading, node: Node, scope: Scope) -> Term:
    """The statement that a node makes. Raises Complaint for one that makes none."""
    match node:
        case Relation():
            return _relation(reading, node, scope)
        case Implies():
            return Term("implies", (proposition(reading, node.guard, scope), proposition(reading, node.body, scope)))
        case ForAll():
            return _for_all(reading, node, scope)
        case Limit():
            return _limit(reading, node, scope)
    raise Complaint("needed a statement", node.at)


def _relation(reading: Reading, node: Relation, scope: Scope) -> Term:
    if indices.compares_indices(reading, node, scope):
        return Term("relation", indices.pair(reading, node.left, node.right, scope), node.sign)
    if indices.compares_places(reading, node, scope):
        return Term("relation", tuple(reals.counted(reading, s, scope) for s in (node.left, node.right)), node.sign)
    side = reals.side if node.sign in ("eq", "ne") else reals.real
    return Term("relation", (side(reading, node.left, scope), side(reading, node.right, scope)), node.sign)


def _for_all(reading: Reading, node: ForAll, scope: Scope) -> Term:
    range_ = binders.range_of(reading, node.place)
    inside = reading.bind(scope, node.place.name, range_, node.at)
    body = proposition(reading, node.body, inside)
    if node.other is not None:
        other = lift(indices.index(reading, node.other, range_, scope), 1)
        body = Term("implies", (Term("relation", (Term("bound", (), 0), other), "ne"), body))
    return Term("forall", (range_, body), None, (hint(node.place.name),))


def _limit(reading: Reading, node: Limit, scope: Scope) -> Term:
    body = reals.real(reading, node.body, reading.bind(scope, node.name, ANY_REAL, node.at))
    target = INFINITY if isinstance(node.target, Infinity) else reals.real(reading, node.target, scope)
    return Term("tends", (body, target, reals.real(reading, node.value, scope)), None, (hint(node.name),))

"""TRUSTED. Where a branch is known: |u| is u or -u, a maximum is its largest argument, a condition holds or fails.

It holds wherever the term is defined; what is not known stays as it is.
"""

from __future__ import annotations

from ..terms import Term, kinds, relation
from .context import Context
from .facts import negated
from .normal import plain
from .polynomial import as_sum, scaled
from .sign import Sign

_BRANCHING = frozenset({"abs", "max", "when"})


def without_branches(term: Term, context: Context) -> Term:
    """The term with every absolute value, maximum and condition resolved that is known, under binders too."""
    if kinds(term).isdisjoint(_BRANCHING):
        return term
    if term.op == "when":
        return _when(term, context)
    parts = context.rebuilt(term, without_branches)
    match term.op:
        case "abs":
            return _abs(parts.args[0], context)
        case "max":
            return _max(parts, context)
    return parts


def _when(term: Term, context: Context) -> Term:
    condition, then, otherwise = term.args
    condition = context.rebuilt(condition, without_branches)
    if Sign(context).holds(condition):
        return without_branches(then, context)
    if Sign(context).holds(negated(condition)):
        return without_branches(otherwise, context)
    return term.rebuilt(
        (
            condition,
            without_branches(then, context.given([condition])),
            without_branches(otherwise, context.given([negated(condition)])),
        )
    )


def _max(term: Term, context: Context) -> Term:
    """Its arguments without those that are known to be no larger than another one that stays."""
    kept = list(term.args)
    for u in term.args:
        others = list(kept)
        others.remove(u)
        if any(Sign(context).holds(relation("le", u, v)) for v in others):
            kept = others
    return kept[0] if len(kept) == 1 else term.rebuilt(kept)


def _abs(u: Term, context: Context) -> Term:
    """|u| = u or -u where the sign of u is known; |u v| = |u| |v|."""
    sign = Sign(context)
    polynomial = plain(context).polynomial(u, context)
    if sign.nonnegative(u) or sign.nonnegative(as_sum(polynomial)):
        return u
    if sign.nonnegative(-u) or sign.nonnegative(as_sum(scaled(polynomial, -1))):
        return -u
    if u.op == "mul":
        return Term("mul", tuple(_abs(f, context) for f in u.args))
    return Term("abs", (u,))

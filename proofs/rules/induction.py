"""TRUSTED. Induction over a size: a base theorem at its least value, and a step theorem from any value to the next.

P(L) is the step of the chain, `before relation after`, for all values of the indices `over` that meet the facts which speak of
them. What is given must not speak of L otherwise, and no range may depend on it: the next P would be about other symbols.

    P(least)    by the base theorem                 P(L) |- P(L + 1)    by the step theorem, whose hypothesis P(L) is
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..binders import forall, substitute
from ..terms import ONE, Family, IndexMap, Term, TermError, as_term, extents, free, number, relation
from .context import Context, Refused
from .substitution import Instance, check_substitution


def check_induction(
    before: Term, after: Term, name: str, context: Context, on: Any, base: Any, step: Any, over: Any = ()
) -> None:
    """Raises Refused unless base and step, pairs (theorem, values of its symbols), prove `before name after` for every `on`."""
    size, indices = _checked(before, after, context, on, over)
    guards = [f for f in context.facts if free(f).intersection(indices)]
    outside = [f for f in context.facts if f not in guards]
    if any(size in free(f) for f in context.facts):
        raise Refused("what is given speaks of the number that the induction runs over", size)
    start = {size: number(size.data[1])}
    _by(base, substitute(before, start), substitute(after, start), name, context)
    hypothesis = relation(name, before, after)
    if indices:
        hypothesis = forall(indices, hypothesis, where=guards)
    following = {size: Term("add", (size, ONE))}
    inside = Context((*outside, *guards, hypothesis), context.depth, context.known)
    _by(step, substitute(before, following), substitute(after, following), name, inside)


def _checked(before: Term, after: Term, context: Context, on: Any, over: Any) -> tuple[Term, tuple[Term, ...]]:
    size, indices = as_term(on), tuple(over) if isinstance(over, tuple | list) else (over,)
    if size.op != "size":
        raise TermError(f"induction: {size!r} is not a size")
    for i in indices:
        if not isinstance(i, Term) or i.op != "index":
            raise TermError(f"induction: {i!r} is not an index that the hypothesis could hold for all values of")
    context.check_known(size, *indices)
    for symbol in free(before) | free(after) | context.known:
        ranges = isinstance(symbol, Family | IndexMap) or (isinstance(symbol, Term) and symbol.op == "index")
        if ranges and any(size in free(e) for e in extents(symbol)):
            raise TermError(f"induction: the range of a symbol depends on {size!r}")
    return size, indices


def _by(cited: tuple[Any, Mapping[Any, Any]], before: Term, after: Term, name: str, context: Context) -> None:
    theorem, at = cited
    check_substitution(before, after, name, context, Instance(theorem, at, context))

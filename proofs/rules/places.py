"""TRUSTED. Rules that carry another rule to a place: into every case, and under a binder or a condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..binders import instantiate, substitute
from ..terms import ZERO, Term, TermError, free, literal, sort_of
from ..terms import relation as related
from .context import Context, Refused
from .defined import check_defined
from .facts import negated, replaced
from .normal import plain
from .polynomial import as_constant

Check = Callable[[Term, Term, Context], None]

_CASES_LIMIT = 16


def check_cases(before: Term, after: Term, relation: str, context: Context, on: Any, then: Check) -> None:
    """`then` must close the step in every case.

    `on` is a pair of indices (equal or not), an index or a map into a range of literal size (each value), or a relation of
    numbers (it holds or its negation does).
    """
    context.check_known(*(on if isinstance(on, tuple) else [on]))
    if isinstance(on, Term) and on.op == "relation":
        check_defined(on, context)
    if isinstance(on, Term) and on.op == "map" and _is_short(on.data.target) and not on.loose:
        for k in range(int(on.data.target.data)):
            value = literal(k, on.data.target)
            inside = replace(context, facts=tuple(replaced(f, on, value) for f in context.facts))
            if not _contradictory(inside):
                then(replaced(before, on, value), replaced(after, on, value), inside)
        return
    for replacement, facts in _cases(on):
        inside = replace(context, facts=tuple(substitute(f, replacement) for f in context.facts) + facts)
        if not _contradictory(inside):
            then(substitute(before, replacement), substitute(after, replacement), inside)


def _contradictory(context: Context) -> bool:
    """Whether a case cannot arise: some fact in it is a false relation of numbers."""
    for fact in context.facts:
        if fact.op == "relation" and sort_of(fact.args[0]) == "real":
            value = as_constant(plain(context).polynomial(fact.args[1] - fact.args[0], context))
            if (
                value is not None
                and not {"eq": value == 0, "ne": value != 0, "le": value >= 0, "lt": value > 0}[fact.data]
            ):
                return True
    return False


def _is_short(size: Term) -> bool:
    return bool(size.op == "number" and size.data <= _CASES_LIMIT)


def _cases(on: Any) -> list[tuple[dict[Term, Term], tuple[Term, ...]]]:
    if isinstance(on, tuple) and len(on) == 2:
        i, j = on if on[1].op == "index" else on[::-1]
        if j.op != "index" or sort_of(i) != sort_of(j) or j in free(i):
            raise TermError(f"cases: {on!r} are not two indices into one range, one of them a symbol")
        return [({j: i}, ()), ({}, (related("ne", i, j),))]
    if isinstance(on, Term) and on.op == "index" and _is_short(on.args[0]):
        return [({on: literal(k, on.args[0])}, ()) for k in range(int(on.args[0].data))]
    if (
        isinstance(on, Term)
        and on.op == "relation"
        and on.data == "eq"
        and on.args[0].op == "variable"
        and on.args[1] == ZERO
    ):
        if on.args[0].data[1] != "positive":
            return [({on.args[0]: ZERO}, ()), ({}, (negated(on),))]
    if isinstance(on, Term) and on.op == "relation" and sort_of(on.args[0]) == "real":
        return [({}, (on,)), ({}, (negated(on),))]
    raise TermError(f"cases: needed two indices, an index into a range of literal size, or a relation; found {on!r}")


def check_congruence(before: Term, after: Term, relation: str, context: Context, then: Check) -> None:
    """The two terms differ only inside parts that correspond, and `then` closes the step there.

    An inequality is carried through sums and expectations only, term by term.

    A binder is opened under the name that it was written with, so that the rule inside can speak of it.
    """
    if before == after:
        return
    if before.op == after.op == "function" and len(before.args) == len(after.args) and relation == "eq":
        for a, b, inside in _parts(before, after, context):
            check_congruence(a, b, relation, inside, then)
        return
    if sort_of(before) != "real" or sort_of(after) != "real":
        raise Refused("two indices, propositions or functions that are not the same", before)
    carried = relation == "eq" or (relation == "le" and before.op in ("sum", "expect"))
    if not carried or before.op != after.op or before.data != after.data or len(before.args) != len(after.args):
        _apply(then, before, after, context)
        return
    try:
        for a, b, inside in _parts(before, after, context):
            check_congruence(a, b, relation, inside, then)
    except Refused as deeper:
        try:
            _apply(then, before, after, context)
        except Refused:
            raise deeper from None


def _apply(then: Check, before: Term, after: Term, context: Context) -> None:
    try:
        then(before, after, context)
    except TermError as problem:  # such as a name that is bound deeper inside, where the two sides do not correspond
        raise Refused(f"the two sides do not correspond ({problem}); what is left over", before - after) from None


def _parts(before: Term, after: Term, context: Context) -> list[tuple[Term, Term, Context]]:
    """Corresponding parts that differ, each with what may be used there."""
    pairs = list(zip(before.args, after.args, strict=True))
    if before.op == "when" and pairs[0][0] == pairs[0][1]:
        condition = before.args[0]
        return [
            (*pairs[1], context.given([condition])),
            (*pairs[2], context.given([negated(condition)])),
        ]
    if not before.hints:
        differ = [(a, b, context) for a, b in pairs if a != b]
        if any(sort_of(a) is None for a, _, _ in differ):
            raise Refused("two ranges that are not the same", before)
        return differ
    if any(a != b for (a, b), n in zip(pairs, before.binders(), strict=True) if not n):
        raise Refused("two binders over different ranges or points", before)
    used = set().union(free(before), free(after), *map(free, context.facts))
    symbols, body, inside = context.opened(before)
    named = tuple(_declared(s, used) for s in symbols)
    other = next(b for (_, b), n in zip(pairs, before.binders(), strict=True) if n)
    renaming = dict(zip(symbols, named, strict=True))
    return [(substitute(body, renaming), instantiate(other, named), inside.knowing(named))]


def _declared(symbol: Term, used: set[Any]) -> Term:
    """The symbol under its own name, unless a free symbol has that name."""
    if symbol.op == "index":
        own = Term("index", symbol.args, symbol.data[3:])
        taken = {s.data for s in used if isinstance(s, Term) and s.op == "index"}
        return symbol if own.data in taken else own
    own = Term("variable", (), (symbol.data[0][3:], symbol.data[1]))
    return symbol if own.data[0] in {s.data[0] for s in used if isinstance(s, Term) and s.op == "variable"} else own

"""TRUSTED. A term is admitted only where every part of it has a meaning, under what is given.

Denominators do not vanish, roots and logarithms are of what they need, functions are differentiable where a derivative is
taken, a definition is used where its own `requires` holds, and a value is all that its symbol was declared to be.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..binders import substitute
from ..definitions import Definition
from ..terms import ZERO, Family, Term, kinds, least, relation, sort_of
from ..well_typed import check_entry
from .context import Context, Refused
from .derivative import differentiate, differentiated
from .facts import negated
from .integrable import check_integrable, check_random
from .sign import Sign

_sound: set[Definition] = set()  # definitions whose bodies are defined wherever their `requires` holds


_PARTIAL = frozenset(
    {"power", "log", "sqrt", "derivative", "expect", "tends", "apply"}
)  # kinds without a value somewhere


@lru_cache(maxsize=1 << 14)
def check_defined(term: Term, context: Context) -> None:
    """Raises Refused, with the condition that is not known, unless the term is defined in this context."""
    if kinds(term).isdisjoint(_PARTIAL):
        return
    match term.op:
        case "power":
            _power(term, context)
        case "log":
            _need(relation("lt", ZERO, term.args[0]), context, "a logarithm needs a positive argument")
        case "sqrt":
            _need(relation("le", ZERO, term.args[0]), context, "a root needs a non-negative argument")
        case "derivative":
            differentiated(term, context)
            _, body, inside = context.opened(term)
            check_defined(substitute(body, {_only(context, term): term.args[1]}), inside)
            check_defined(term.args[1], context)
            return
        case "when":
            condition, then, otherwise = term.args
            check_defined(condition, context)
            check_defined(then, context.given([condition]))
            check_defined(otherwise, context.given([negated(condition)]))
            return
        case "expect":
            check_integrable(term, context)
        case "implies":
            check_defined(term.args[0], context)
            check_defined(term.args[1], context.given([term.args[0]]))
            return
        case "tends":
            check_limit_defined(term, context)
            return
        case "apply":
            _application(term, context)
    for part in _opened_parts(term, context):
        check_defined(*part)


def _only(context: Context, term: Term) -> Term:
    (symbol,), _, _ = context.opened(term)
    return symbol


def _opened_parts(term: Term, context: Context) -> list[tuple[Term, Context]]:
    if not term.hints:
        return [(a, context) for a in term.args if sort_of(a) is not None]
    _, body, inside = context.opened(term)
    return [(a, context) for a, b in zip(term.args, term.binders(), strict=True) if not b and sort_of(a)] + [
        (body, inside)
    ]


def _power(term: Term, context: Context) -> None:
    base, exponent = term.args
    if exponent.op == "number" and exponent.data.denominator == 1:
        if exponent.data < 0:
            _need(relation("ne", ZERO, base), context, "a denominator may vanish")
    else:
        _need(relation("lt", ZERO, base), context, "a real power needs a positive base")


def _application(term: Term, context: Context) -> None:
    definition: Definition = term.data
    check_definition(definition)
    binding = definition.binding(term)
    for symbol, value in binding.items():
        check_domain(symbol, value, context, definition.name)
    for condition in definition.requires:
        _need(substitute(condition, binding), context, f"{definition.name} is not defined here")


def check_definition(definition: Definition) -> None:
    """Raises Refused unless the body is defined wherever the definition's own condition holds."""
    if definition not in _sound:
        check_entry((definition.parameters, definition.body, definition.requires))
        given = Context()
        for condition in definition.requires:
            check_defined(condition, given)
            given = given.given([condition])
        check_defined(definition.body, given)
        _sound.add(definition)


def check_limit_defined(term: Term, context: Context) -> None:
    _, body, inside = opened_limit(term, context)
    check_defined(body, inside)
    if term.args[1].op != "infinity":
        check_defined(term.args[1], context)
    check_defined(term.args[2], context)


def opened_limit(term: Term, context: Context) -> tuple[Term, Term, Context]:
    """The variable of a limit, its body and the context near the target.

    Only values near the target matter: those > 0 for infinity, those other than the target for a point.
    """
    (symbol,), body, inside = context.opened(term)
    if term.args[1].op == "infinity":
        near = Term("variable", (), (symbol.data[0], "positive"))
        return near, substitute(body, {symbol: near}), inside.knowing([near])
    return symbol, body, inside.given([relation("ne", symbol, term.args[1])])


def check_domain(symbol: Any, value: Any, context: Context, where: str) -> None:
    """Raises Refused unless a value is all that its symbol was declared to be."""
    domain = "real"
    if isinstance(symbol, Family):
        domain = symbol.domain
    elif isinstance(symbol, Term) and symbol.op == "variable":
        domain = symbol.data[1]
    elif isinstance(symbol, Term) and symbol.op == "size":
        if least(value) < symbol.data[1]:
            raise Refused(f"{where}: {symbol!r} is at least {symbol.data[1]}, which is not known of", value)
        return
    else:
        return
    inside = context
    if value.op == "function":
        bound, value, inside = context.opened(value)
        check_random(bound, value, inside, where)
        if isinstance(symbol, Family) and symbol.derivative is not None:
            _, conditions = differentiate(value, bound[-1], inside)
            for condition in conditions:
                _need(condition, inside, f"{where} needs a differentiable curve")
    if domain == "integer" and not is_whole(value):
        raise Refused(f"{where} needs a whole number", value)
    if domain in ("positive", "nonnegative") and not getattr(Sign(inside), domain)(value):
        raise Refused(f"{where} needs a {domain} value", value)


def is_whole(term: Term) -> bool:
    """Whether a term is known to be a whole number."""
    match term.op:
        case "number":
            return bool(term.data.denominator == 1)
        case "size" | "value" | "delta":
            return True
        case "variable":
            return bool(term.data[1] == "integer")
        case "family":
            return bool(term.data.domain == "integer")
        case "add" | "mul":
            return all(map(is_whole, term.args))
        case "power":
            exponent = term.args[1]
            return is_whole(term.args[0]) and exponent.op == "number" and is_whole(exponent) and exponent.data >= 0
    return False


def _need(condition: Term, context: Context, message: str) -> None:
    if not Sign(context).holds(condition):
        raise Refused(f"{message}; this is not known", condition)

"""TRUSTED. Binding and substitution: closing a term over a free symbol, opening it again, replacing symbols under binders.

A replacement is moved under as many binders as stand over the symbol, so nothing can be captured. Where a family is replaced by a function of its
slots (z_j := sum_a q_a k_ja), every occurrence is instantiated, under binders too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from .terms import (
    ANY_REAL,
    FUNCTION,
    PROP,
    REAL,
    Family,
    IndexMap,
    Term,
    TermError,
    as_term,
    free,
    is_outcome,
    named,
    real,
    sort_of,
    spelled_sort,
)


def lift(term: Term, amount: int, depth: int = 0) -> Term:
    """The same term, moved under `amount` more binders."""
    if amount == 0 or term.loose <= depth:
        return term
    if term.op == "bound":
        return Term("bound", (), term.data + amount)
    return term.rebuilt(lift(a, amount, depth + b) for a, b in zip(term.args, term.binders(), strict=True))


def instantiate(body: Term, values: tuple[Term, ...], depth: int = 0) -> Term:
    """The body of a binder with its bound variables replaced; values[-1] is the innermost."""
    if body.loose <= depth:
        return body
    if body.op == "bound":
        level = body.data - depth
        if level < len(values):
            return lift(values[len(values) - 1 - level], depth)
        return Term("bound", (), body.data - len(values))
    return body.rebuilt(instantiate(a, values, depth + b) for a, b in zip(body.args, body.binders(), strict=True))


def close(term: Term, symbols: tuple[Term, ...], depth: int = 0) -> Term:
    """The body of a binder over these free indices or variables; symbols[-1] becomes the innermost."""
    if term in symbols:
        return Term("bound", (), depth + len(symbols) - 1 - symbols.index(term))
    if free(term).isdisjoint(symbols):
        return term
    return term.rebuilt(close(a, symbols, depth + b) for a, b in zip(term.args, term.binders(), strict=True))


def substitute(term: Term, replacement: Mapping[Any, Any], depth: int = 0) -> Term:
    """Replaces free symbols, all at once. Values: terms, function terms for families, index maps for index maps."""
    if free(term).isdisjoint(replacement):
        return term
    if term.op in ("variable", "size", "space", "index") and term in replacement:
        return lift(replacement[term], depth)
    args = tuple(substitute(a, replacement, depth + b) for a, b in zip(term.args, term.binders(), strict=True))
    if term.op == "family":
        if term.data in replacement:
            return instantiate(lift(replacement[term.data], depth).args[-1], args)
        return Term("family", args, resized(term.data, replacement))
    if term.op == "map":
        return Term("map", args, replacement.get(term.data) or resized(term.data, replacement))
    return term.rebuilt(args)


def resized(symbol: Any, replacement: Mapping[Any, Any]) -> Any:
    """A family or an index map that stays, over ranges whose sizes are replaced."""
    slots = tuple(substitute(s, replacement) for s in symbol.slots)
    if isinstance(symbol, IndexMap):
        return replace(symbol, slots=slots, target=substitute(symbol.target, replacement))
    derivative = symbol.derivative and resized(symbol.derivative, replacement)
    return replace(symbol, slots=slots, derivative=derivative)


def check_replacement(replacement: Mapping[Any, Any], where: str, spaces: tuple[str, ...] = ("space",)) -> None:
    """Raises TermError unless every value has the sort of its symbol, and no loose bound variable.

    `spaces` are the kinds of terms that may stand for a probability space: another one, and in a sample also a number of
    outcomes that are equally likely.
    """
    for symbol, value in replacement.items():
        if isinstance(symbol, IndexMap):
            needed: Any = (resized(symbol, replacement).slots, substitute(symbol.target, replacement), symbol.bijective)
            found: Any = (value.slots, value.target, value.bijective) if isinstance(value, IndexMap) else value
        elif not isinstance(value, Term) or value.loose:
            raise TermError(f"{where}: {value!r} is not a closed term")
        elif isinstance(symbol, Family):
            needed, found = resized(symbol, replacement).slots, value.args[:-1] if sort_of(value) == FUNCTION else value
        elif symbol.op in ("variable", "size"):
            needed, found = REAL, sort_of(value)
        elif symbol.op == "space":
            needed, found = "space", "space" if value.op in spaces else sort_of(value)
        elif symbol.op == "index":
            needed, found = substitute(symbol.args[0], replacement), sort_of(value)
        else:
            raise TermError(f"{where}: {symbol!r} is not a symbol that can be replaced")
        if needed != found:
            raise TermError(
                f"{where}: {named([symbol])} := {value!r}: found {_spelled(found)}, needed {_spelled(needed)}"
            )


def _spelled(sort: Any) -> str:
    return f"slots {sort!r}" if isinstance(sort, tuple) else spelled_sort(sort)


def opened(term: Term, fresh: Callable[[str], str]) -> tuple[tuple[Term, ...], Term]:
    """Fresh free symbols for a binder, and its body over them."""
    under = [(a, b) for a, b in zip(term.args, term.binders(), strict=True) if b]
    body = under[0][0]
    ranges = (ANY_REAL,) if term.op in ("derivative", "tends") else term.args[:-1]
    symbols = tuple(_symbol(fresh(h), r) for h, r in zip(term.hints, ranges, strict=True))
    return symbols, instantiate(body, symbols)


def _symbol(name: str, range_: Term) -> Term:
    if range_.op == "domain":
        return Term("variable", (), (name, range_.data))
    return Term("index", (range_,), name)


def _range(symbol: Term) -> Term:
    if symbol.op == "variable":
        return Term("domain", (), symbol.data[1])
    if symbol.op == "index":
        return symbol.args[0]
    raise TermError(f"{symbol!r} cannot be bound: needed an index or a variable")


def _name(symbol: Term) -> str:
    return symbol.data[0] if symbol.op == "variable" else symbol.data


def _as_tuple(symbols: Any) -> tuple[Term, ...]:
    return tuple(symbols) if isinstance(symbols, list | tuple) else (symbols,)


def sum_(indices: Term | Iterable[Term], body: Any) -> Term:
    """The sum over the ranges of these indices, the last one innermost."""
    result = real(body)
    for i in reversed(_as_tuple(indices)):
        if i.op != "index" or is_outcome(i.args[0]):
            raise TermError(f"{i!r} is not an index, and cannot be summed over")
        result = Term("sum", (_range(i), close(result, (i,))), None, (_name(i),))
    return result


def expectation(outcomes: Term | Iterable[Term], body: Any) -> Term:
    """The expectation over these outcomes, which are independent of each other."""
    result = real(body)
    for w in reversed(_as_tuple(outcomes)):
        if w.op != "index" or not is_outcome(w.args[0]):
            raise TermError(f"{w!r} is not an outcome, and has no expectation over it")
        result = Term("expect", (_range(w), close(result, (w,))), None, (_name(w),))
    return result


def function(symbols: Term | Iterable[Term], body: Any) -> Term:
    """The function of these indices and variables, an argument for a definition or a value for a family."""
    bound = _as_tuple(symbols)
    return Term("function", (*map(_range, bound), close(real(body), bound)), None, tuple(map(_name, bound)))


def derivative(variable: Term, body: Any, at: Any) -> Term:
    """The derivative of the body with respect to a real variable, at a point."""
    if variable.op != "variable":
        raise TermError(f"{variable!r} is not a variable; a partial derivative is one along a curve z_l + t delta_lj")
    return Term("derivative", (close(real(body), (variable,)), real(at)), None, (_name(variable),))


def tends(variable: Term, body: Any, to: Any, value: Any) -> Term:
    """The statement that the body tends to a value as the variable tends to a point, or to INFINITY."""
    if variable.op != "variable" or variable.data[1] != "real":
        raise TermError(f"{variable!r} is not a real variable")
    target = to if isinstance(to, Term) and to.op == "infinity" else real(to)
    return Term("tends", (close(real(body), (variable,)), target, real(value)), None, (_name(variable),))


def forall(symbols: Term | Iterable[Term], proposition: Term, where: Iterable[Term] = ()) -> Term:
    """The proposition for all values of these symbols that meet the guards."""
    for guard in reversed(list(where)):
        proposition = Term("implies", (guard, proposition))
    if sort_of(proposition) != PROP:
        raise TermError(f"{proposition!r} is not a proposition")
    for s in reversed(_as_tuple(symbols)):
        proposition = Term("forall", (_range(s), close(proposition, (s,))), None, (_name(s),))
    return proposition


def as_function(value: Any) -> Term:
    """A family, eta-expanded, or a function term."""
    if isinstance(value, Family):
        hints = tuple("ijkl"[k % 4] if s.op != "domain" else "t" for k, s in enumerate(value.slots))
        bound = tuple(Term("bound", (), len(value.slots) - 1 - k) for k in range(len(value.slots)))
        return Term("function", (*value.slots, Term("family", bound, value)), None, hints)
    if isinstance(value, Term) and value.op == "function":
        return value
    raise TermError(f"{as_term(value)!r} is not a family; write function(j, ...)")

"""Terms as Python functions of a point: each is read once, and run at every point.

A point gives values to the free symbols (`evaluate.Point`); what is bound comes as a tuple, the innermost binder last.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mpmath import MPContext

from .definitions import unfolded
from .terms import Term

DIGITS, AGREE = 50, 20

mp = MPContext()
mp.dps = DIGITS
_TOLERANCE = mp.mpf(10) ** -AGREE
_ZERO, _ONE = mp.mpf(0), mp.mpf(1)

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tanh": mp.tanh, "erf": mp.erf, "abs": abs,
}  # fmt: skip

Bound = tuple[Any, ...]
Program = Callable[[Any, Bound], Any]  # of a point and the values of the binders around


def drawn(source: random.Random, domain: str) -> Any:
    """A random number of a domain, between -2 and 2, a whole one between -5 and 5."""
    if domain == "integer":
        return mp.mpf(source.randint(-5, 5))
    low = {"real": -200, "nonnegative": 0, "positive": 1}[domain]
    return mp.mpf(source.randint(low, 200)) / 100


@lru_cache(maxsize=1 << 16)
def program(term: Term) -> Program:
    """The term as a Python function of a point and of the values of the binders around it."""
    return _READ.get(term.op, _elementary)(term)


def _parts(term: Term) -> list[Program]:
    return [program(a) for a in term.args]


def _number(term: Term) -> Program:
    top, bottom = term.data.as_integer_ratio()
    whole = mp.mpf(top)
    if bottom == 1:
        return lambda point, bound: whole
    return lambda point, bound: whole / bottom


def _bound(term: Term) -> Program:
    place = -1 - term.data
    return lambda point, bound: bound[place]


def _add(term: Term) -> Program:
    parts = _parts(term)
    return lambda point, bound: sum((part(point, bound) for part in parts), _ZERO)


def _mul(term: Term) -> Program:
    parts = _parts(term)

    def run(point: Any, bound: Bound) -> Any:
        product = _ONE
        for part in parts:
            product *= part(point, bound)
            if not product:
                return product
        return product

    return run


def _power(term: Term) -> Program:
    base, exponent = _parts(term)
    power = term.args[1].data if term.args[1].op == "number" else None
    if power is not None and power.denominator == 1:
        whole = int(power)
        return lambda point, bound: mp.power(base(point, bound), whole)
    return lambda point, bound: mp.power(base(point, bound), exponent(point, bound))


def _kept(run: Program, term: Term) -> Program:
    """What it gives is kept: it depends on the binders that the term reaches, and on the precision."""
    reached = [-1 - k for k in _reached(term)]

    def once(point: Any, bound: Bound) -> Any:
        place = (term, mp.prec, *[bound[k] for k in reached])
        if place not in point.known:
            point.known[place] = run(point, bound)
        return point.known[place]

    return once


@lru_cache(maxsize=1 << 16)
def _reached(term: Term) -> tuple[int, ...]:
    """The binders outside a term that its bound variables belong to, counted from the innermost."""
    if term.op == "bound":
        return (term.data,)
    inside = (k - b for a, b in zip(term.args, term.binders(), strict=True) for k in _reached(a))
    return tuple(sorted({k for k in inside if k >= 0}))


def _sum(term: Term) -> Program:
    size, body = _parts(term)

    def run(point: Any, bound: Bound) -> Any:
        extent = int(size(point, bound))
        total = sum((body(point, (*bound, k)) for k in range(extent)), _ZERO)
        return total if term.op == "sum" else total / extent

    return _kept(run, term)


def _family(term: Term) -> Program:
    parts = _parts(term)
    return _kept(lambda point, bound: point.family(term.data, [part(point, bound) for part in parts]), term)


def _map(term: Term) -> Program:
    parts = _parts(term)
    return lambda point, bound: point.map(term.data, [part(point, bound) for part in parts])


def _radix(term: Term) -> Program:
    """A join, a quotient or a remainder."""
    first, second, *sizes = _parts(term)
    match term.op:
        case "join":
            step = sizes[0]
            return lambda point, bound: int(first(point, bound) * step(point, bound) + second(point, bound))
        case "quotient":
            return lambda point, bound: first(point, bound) // int(second(point, bound))
    return lambda point, bound: first(point, bound) % int(second(point, bound))


def _delta(term: Term) -> Program:
    i, j = _parts(term)
    return lambda point, bound: _ONE if i(point, bound) == j(point, bound) else _ZERO


def _table(term: Term) -> Program:
    parts, count = _parts(term), len(term.data)

    def run(point: Any, bound: Bound) -> Any:
        places = [int(i(point, bound)) for i in parts[-count:]]
        return parts[places[0] if count == 1 else places[0] * term.data[1] + places[1]](point, bound)

    return run


def _when(term: Term) -> Program:
    condition, then, otherwise = _parts(term)
    return lambda point, bound: (then if condition(point, bound) else otherwise)(point, bound)


def _derivative(term: Term) -> Program:
    body, at = _parts(term)
    return lambda point, bound: mp.diff(lambda x: body(point, (*bound, x)), at(point, bound))


def _elementary(term: Term) -> Program:
    return _applied(_FUNCTIONS[term.op], term)


def _applied(f: Callable[..., Any], term: Term) -> Program:
    parts = _parts(term)
    if len(parts) == 1:
        (part,) = parts
        return lambda point, bound: f(part(point, bound))
    return lambda point, bound: f(*(part(point, bound) for part in parts))


def _proposition(term: Term) -> Program:
    first, *rest = _parts(term)
    match term.op:
        case "relation":
            return lambda point, bound: compare(term.data, first(point, bound), rest[0](point, bound))
        case "implies":
            return lambda point, bound: not first(point, bound) or bool(rest[0](point, bound))
        case "tends":
            return lambda point, bound: _tends(term, point, bound)
    draws = _reals(term.args[0].data) if term.args[0].op == "domain" else None

    def everywhere(point: Any, bound: Bound) -> bool:
        values = range(int(first(point, bound))) if draws is None else draws
        return all(rest[0](point, (*bound, x)) for x in values)

    return everywhere


def _reals(domain: str) -> list[Any]:
    """Where a statement about all numbers of a domain is tried."""
    whole = [mp.mpf(k) for k in range(-6, 7)]
    return whole if domain == "integer" else [drawn(random.Random(k), domain) for k in range(8)]


Read = Callable[[Term], Program]
_READ: dict[str, Read] = {
    "number": _number, "bound": _bound, "add": _add, "mul": _mul, "power": _power, "sum": _sum, "expect": _sum,
    "family": _family, "map": _map, "join": _radix, "quotient": _radix, "remainder": _radix, "delta": _delta,
    "table": _table, "when": _when, "derivative": _derivative,
    "apply": lambda term: _kept(lambda point, bound: program(unfolded(term))(point, bound), term),
    "pi": lambda term: lambda point, bound: +mp.pi,
    "variable": lambda term: lambda point, bound: point.variable(term),
    "size": lambda term: lambda point, bound: mp.mpf(point.size(term)),
    "index": lambda term: lambda point, bound: point.index(term),
    "space": lambda term: lambda point, bound: mp.mpf(point.outcomes(term)),
    "literal": lambda term: lambda point, bound: term.data,
    "infinity": lambda term: lambda point, bound: mp.inf,
    "domain": lambda term: lambda point, bound: None,
    "value": lambda term: _applied(mp.mpf, term),
    "max": lambda term: _applied(max, term),
    **dict.fromkeys(("relation", "forall", "implies", "tends"), _proposition),
}  # fmt: skip


def compare(name: str, left: Any, right: Any) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return {"eq": left == right, "ne": left != right}[name]
    near = abs(left - right) <= _TOLERANCE * (1 + abs(left) + abs(right))
    return bool({"eq": near, "ne": not near, "le": left <= right or near, "lt": left < right}[name])


def _tends(term: Term, point: Any, bound: Bound) -> bool:
    """Whether the distance to the value ends at a hundredth of what it was, and small; a refuter, not a proof.

    It may grow on the way, as that of b^5 exp(-b / 10) does.
    """
    body, target, value = term.args
    limit = program(value)(point, bound)
    steps = [mp.mpf(10) ** k for k in range(1, 7)]
    if target.op != "infinity":
        at = program(target)(point, bound)
        steps = [at + 1 / s for s in steps]
    distances = [abs(program(body)(point, (*bound, x)) - limit) for x in steps]
    allowed = min(max(distances[:2]) / 100, (1 + abs(limit)) / 1000)
    return bool(max(distances[-2:]) <= max(allowed, _TOLERANCE))

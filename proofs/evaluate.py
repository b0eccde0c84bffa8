"""Terms to numbers of 50 digits, at random points that meet a statement's hypotheses: the second opinion on every theorem.

Nothing here makes a theorem; a mistake here can only refuse one. An equation holds at a point when both sides agree to 20
digits: 50 are carried, and a numerical derivative (mpmath's `diff`, which raises its precision itself) keeps over 25.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mpmath import MPContext

from .definitions import unfolded
from .terms import Family, IndexMap, Term

DIGITS, AGREE = 50, 20
_LARGEST_SIZE = 4

mp = MPContext()
mp.dps = DIGITS
_TOLERANCE = mp.mpf(10) ** -AGREE

_ZERO, _ONE = mp.mpf(0), mp.mpf(1)

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tanh": mp.tanh, "erf": mp.erf, "abs": abs,
}  # fmt: skip


class NoSample(Exception):
    """No random point met the hypotheses: they may contradict each other, or need a `witness`."""


class Point:
    """Values of free symbols, drawn when first asked for."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._values: dict[Any, Any] = {}
        self._known: dict[Any, Any] = {}

    def once(self, term: Term, bound: tuple[Any, ...]) -> Any:
        """The value of a term, kept: it depends on the binders that the term reaches, and on the precision."""
        place = (term, tuple(bound[-1 - k] for k in _reached(term)), mp.prec)
        if place not in self._known:
            self._known[place] = _folded(term, self, bound)
        return self._known[place]

    def number(self, domain: str) -> Any:
        if domain == "integer":
            return mp.mpf(self._random.randint(-5, 5))
        low = {"real": -200, "nonnegative": 0, "positive": 1}[domain]
        return mp.mpf(self._random.randint(low, 200)) / 100

    def size(self, term: Term) -> int:
        if term not in self._values:
            low = term.data[1]
            self._values[term] = self._random.randint(low, max(_LARGEST_SIZE, low + 1))
        return int(self._values[term])

    def outcomes(self, term: Term) -> int:
        """A space is drawn as a few outcomes of one probability."""
        if term not in self._values:
            self._values[term] = self._random.randint(2, 3)
        return int(self._values[term])

    def variable(self, term: Term) -> Any:
        if term not in self._values:
            self._values[term] = self.number(term.data[1])
        return self._values[term]

    def index(self, term: Term) -> int:
        if term not in self._values:
            extent = int(evaluate(term.args[0], self))
            if extent < 1:
                raise NoSample(f"{term!r} is an index into an empty range")
            self._values[term] = self._random.randrange(extent)
        return int(self._values[term])

    def family(self, symbol: Family, arguments: list[Any]) -> Any:
        """A random value per tuple of indices; along a real slot a smooth function, with its derivative."""
        reals = [a for a, s in zip(arguments, symbol.slots, strict=True) if s.op == "domain"]
        indices = tuple(a for a, s in zip(arguments, symbol.slots, strict=True) if s.op != "domain")
        if not reals:
            return self._drawn((symbol.name, indices), symbol.domain)
        if symbol.derivative is None and symbol.name.startswith("d_"):
            a, b = (self._drawn((symbol.name[2:], indices, k), "real") for k in "ab")
            return sum(a * mp.cos(x + b) for x in reals)
        a, b = (self._drawn((symbol.name, indices, k), "real") for k in "ab")
        value = sum(a * mp.sin(x + b) for x in reals)
        return value if symbol.domain == "real" else mp.exp(value)

    def map(self, symbol: IndexMap, arguments: list[Any]) -> int:
        extent = int(evaluate(symbol.target, self))
        if symbol.bijective:
            place: Any = (symbol.name, "permutation")
            if place not in self._values:
                self._values[place] = self._random.sample(range(extent), extent)
            return int(self._values[place][int(arguments[0])])
        place = (symbol.name, tuple(mp.nstr(a, 15) for a in arguments))
        if place not in self._values:
            self._values[place] = self._random.randrange(extent)
        return int(self._values[place])

    def _drawn(self, place: Any, domain: str) -> Any:
        if place not in self._values:
            self._values[place] = self.number(domain)
        return self._values[place]

    def __repr__(self) -> str:
        shown = {k if isinstance(k, Term) else f"{k[0]}{k[1]}": v for k, v in self._values.items()}
        return ", ".join(f"{k} = {mp.nstr(v, 6) if isinstance(v, mp.mpf) else v}" for k, v in shown.items())


def evaluate(term: Term, point: Point, bound: tuple[Any, ...] = ()) -> Any:
    """The value of a term: an mpf, an int for an index, a bool for a proposition. bound[-1] is the innermost binder's."""
    args = term.args
    match term.op:
        case "number":
            return _rational(term.data)
        case "pi":
            return +mp.pi
        case "variable":
            return point.variable(term)
        case "size":
            return mp.mpf(point.size(term))
        case "index":
            return point.index(term)
        case "space":
            return mp.mpf(point.outcomes(term))
        case "bound":
            return bound[-1 - term.data]
        case "literal":
            return term.data
        case "add":
            return sum((evaluate(a, point, bound) for a in args), _ZERO)
        case "mul":
            product = _ONE
            for a in args:
                product *= evaluate(a, point, bound)
            return product
        case "power":
            return mp.power(evaluate(args[0], point, bound), _exponent(args[1], point, bound))
        case "sum" | "expect" | "apply" | "family":
            return point.once(term, bound)
        case "map":
            return point.map(term.data, [evaluate(a, point, bound) for a in args])
        case "join":
            major, minor, step = (evaluate(a, point, bound) for a in args[:3])
            return int(major * step + minor)
        case "quotient":
            return evaluate(args[0], point, bound) // _extent(args[1], point)
        case "remainder":
            return evaluate(args[0], point, bound) % _extent(args[1], point)
        case "value":
            return mp.mpf(evaluate(args[0], point, bound))
        case "delta":
            return mp.mpf(evaluate(args[0], point, bound) == evaluate(args[1], point, bound))
        case "table":
            return evaluate(_entry(term, point, bound), point, bound)
        case "when":
            return evaluate(args[1 if evaluate(args[0], point, bound) else 2], point, bound)
        case "max":
            return max(evaluate(a, point, bound) for a in args)
        case "derivative":
            return mp.diff(lambda x: evaluate(args[0], point, (*bound, x)), evaluate(args[1], point, bound))
        case "relation" | "forall" | "implies" | "tends":
            return _proposition(term, point, bound)
    return _FUNCTIONS[term.op](evaluate(args[0], point, bound))


@lru_cache(maxsize=65536)
def _reached(term: Term) -> tuple[int, ...]:
    """The binders outside a term that its bound variables belong to, counted from the innermost."""
    if term.op == "bound":
        return (term.data,)
    inside = (k - b for a, b in zip(term.args, term.binders(), strict=True) for k in _reached(a))
    return tuple(sorted({k for k in inside if k >= 0}))


def _folded(term: Term, point: Point, bound: tuple[Any, ...]) -> Any:
    """A sum, an expectation, an application of a definition, or a value of a family."""
    if term.op == "apply":
        return evaluate(unfolded(term), point, bound)
    if term.op == "family":
        return point.family(term.data, [evaluate(a, point, bound) for a in term.args])
    extent = _extent(term.args[0], point)
    total = sum((evaluate(term.args[1], point, (*bound, k)) for k in range(extent)), _ZERO)
    return total if term.op == "sum" else total / extent


def _rational(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def _exponent(term: Term, point: Point, bound: tuple[Any, ...]) -> Any:
    if term.op == "number" and term.data.denominator == 1:
        return int(term.data)
    return evaluate(term, point, bound)


def _extent(size: Term, point: Point) -> int:
    return int(evaluate(size, point))


def _entry(term: Term, point: Point, bound: tuple[Any, ...]) -> Term:
    indices = [int(evaluate(a, point, bound)) for a in term.args[-len(term.data) :]]
    return term.args[indices[0] if len(indices) == 1 else indices[0] * term.data[1] + indices[1]]


def _proposition(term: Term, point: Point, bound: tuple[Any, ...]) -> bool:
    match term.op:
        case "relation":
            left, right = (evaluate(a, point, bound) for a in term.args)
            return compare(term.data, left, right)
        case "implies":
            return not evaluate(term.args[0], point, bound) or bool(evaluate(term.args[1], point, bound))
        case "tends":
            return _tends(term, point, bound)
    range_, body = term.args
    if range_.op != "domain":
        return all(evaluate(body, point, (*bound, k)) for k in range(_extent(range_, point)))
    draws = (
        [mp.mpf(k) for k in range(-6, 7)]
        if range_.data == "integer"
        else [Point(k).number(range_.data) for k in range(8)]
    )
    return all(evaluate(body, point, (*bound, x)) for x in draws)


def compare(name: str, left: Any, right: Any) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return {"eq": left == right, "ne": left != right}[name]
    near = abs(left - right) <= _TOLERANCE * (1 + abs(left) + abs(right))
    return bool({"eq": near, "ne": not near, "le": left <= right or near, "lt": left < right}[name])


def _tends(term: Term, point: Point, bound: tuple[Any, ...]) -> bool:
    """Whether the distance to the value ends at a hundredth of what it was, and small; a refuter, not a proof.

    It may grow on the way, as that of b^5 exp(-b / 10) does.
    """
    body, target, value = term.args
    limit = evaluate(value, point, bound)
    steps = [mp.mpf(10) ** k for k in range(1, 7)]
    if target.op != "infinity":
        at = evaluate(target, point, bound)
        steps = [at + 1 / s for s in steps]
    distances = [abs(evaluate(body, point, (*bound, x)) - limit) for x in steps]
    allowed = min(max(distances[:2]) / 100, (1 + abs(limit)) / 1000)
    return bool(max(distances[-2:]) <= max(allowed, _TOLERANCE))

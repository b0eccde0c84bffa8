"""Terms to balls, where the layers say what a definition means.

A definition that a layer computes (softmax(z)_i) is not unfolded: the layer is called. Every other node means what it means in
proofs/evaluate.py, at the same kind of point, but in balls that hold the value.
"""

from collections.abc import Callable, Mapping
from functools import cache, reduce
from math import prod
from typing import Any

from flint import arb, fmpq
from mpmath import mpf

from proofs.definitions import Definition, unfolded
from proofs.evaluate import Point, mp
from proofs.terms import Term, sort_of

from .calls import Arithmetic
from .choices import Choices
from .differentials import FORWARD_SWEEPS
from .tape import (
    ONE,
    ZERO,
    Number,
    Tape,
    Traced,
    add,
    decided_sign,
    elementary,
    maximum,
    multiply,
    real_power,
    total,
    whole_power,
)

DERIVATIVE = "derivative"
WAYS = ("jvp", "backward", "jacobian")

Environment = tuple[Any, ...]  # values of the bound variables, the innermost last
Read = Callable[["Evaluation", Term, Environment], Number | None]


class Evaluation:
    """One reading of terms at one point in one arithmetic. A layer that is called twice on the same is called once."""

    def __init__(self, point: Point, arithmetic: Arithmetic, choices: Choices, readings: Mapping[Definition, Read]):
        self.point, self.arithmetic, self.choices = point, arithmetic, choices
        self._readings = readings
        self._level = 0
        self._shared: dict[Any, Any] = {}

    def way(self) -> str:
        """What gives derivatives in this reading."""
        return self.choices.choose(DERIVATIVE, WAYS)

    def shared(self, what: str, terms: tuple[Term, ...], environment: Environment, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, computed once for the same terms at the same values of their bound variables."""
        values = [environment[-1 - level] for level in sorted(set().union(*map(_loose_levels, terms)))]
        key = (what, terms, tuple(v if isinstance(v, int) else id(v) for v in values))
        if key not in self._shared:
            # the values are kept along, lest an id comes to mean another number
            self._shared[key] = (compute(), values)
        return self._shared[key][0]

    def ball(self, term: Term, environment: Environment = ()) -> arb:
        """The value of a real term outside every derivative."""
        number = self.number(term, environment)
        if isinstance(number, Traced):
            raise TypeError(f"{term!r} stands under a derivative")
        return number

    def number(self, term: Term, environment: Environment) -> Number:
        """The value of a real term."""
        args = term.args
        match term.op:
            case "bound":
                return environment[-1 - term.data]
            case "family":
                return exact(self.point.family(term.data, self._slots(term, environment)))
            case "mul":
                return self._product(args, environment)
            case "add":
                return total([self.number(a, environment) for a in args])
            case "apply":
                read = self._readings.get(term.data)
                value = read(self, term, environment) if read else None
                return self.number(_unfolded(term), environment) if value is None else value
            case "sum":
                return total([self.number(args[1], (*environment, k)) for k in range(self.extent(args[0]))])
            case "expect":
                outcomes = [self.number(args[1], (*environment, u)) for u in range(self.extent(args[0]))]
                return multiply(1 / arb(len(outcomes)), total(outcomes))
            case "derivative":
                return self._derivative(term, environment)
            case "table":
                return self.number(self._entry(term, environment), environment)
            case "when":
                return self.number(args[1 if self._holds(args[0], environment) else 2], environment)
        leaf = self._leaf(term, environment)
        return self._combined(term, [self.number(a, environment) for a in args]) if leaf is None else leaf

    def _leaf(self, term: Term, environment: Environment) -> Number | None:
        """What else has no real parts."""
        match term.op:
            case "number":
                return arb(fmpq(term.data.numerator, term.data.denominator))
            case "pi":
                return arb.pi()
            case "variable":
                return exact(self.point.variable(term))
            case "size":
                return arb(self.point.size(term))
            case "value":
                return arb(self.place(term.args[0], environment))
            case "delta":
                return ONE if self.place(term.args[0], environment) == self.place(term.args[1], environment) else ZERO
        return None

    def _product(self, factors: tuple[Term, ...], environment: Environment) -> Number:
        result: Number = ONE
        for factor in factors:
            result = multiply(result, self.number(factor, environment))
            if result is ZERO:  # whatever the others are: most are not asked for, where a delta is 0
                break
        return result

    def _combined(self, term: Term, parts: list[Number]) -> Number:
        match term.op:
            case "max":
                return reduce(maximum, parts)
            case "power":
                exponent = term.args[1]
                whole = exponent.op == "number" and exponent.data.denominator == 1
                return whole_power(parts[0], int(exponent.data)) if whole else real_power(*parts)
        return elementary(term.op, parts[0])

    def place(self, term: Term, environment: Environment) -> int:
        """The value of an index."""
        args = term.args
        match term.op:
            case "bound":
                return int(environment[-1 - term.data])
            case "index":
                return self.point.index(term)
            case "literal":
                return int(term.data)
            case "join":
                return self.place(args[0], environment) * self.extent(args[2]) + self.place(args[1], environment)
            case "quotient":
                return self.place(args[0], environment) // self.extent(args[1])
            case "remainder":
                return self.place(args[0], environment) % self.extent(args[1])
            case "map":
                return self.point.map(term.data, self._slots(term, environment))
        raise TypeError(f"{term!r} is a {term.op}, needed an index")

    def _slots(self, term: Term, environment: Environment) -> list[Any]:
        """The values of the arguments of a family or an index map."""
        slots = zip(term.args, term.data.slots, strict=True)
        return [self._argument(a, environment) if s.op == "domain" else self.place(a, environment) for a, s in slots]

    def extent(self, size: Term) -> int:
        """The value of a size, and the number of outcomes of a space, each of the same probability."""
        match size.op:
            case "number":
                return int(size.data)
            case "size":
                return self.point.size(size)
            case "space":
                return self.point.outcomes(size)
        parts = [self.extent(part) for part in size.args]
        return sum(parts) if size.op == "add" else prod(parts)

    def vector(self, function: Term, environment: Environment) -> list[Number]:
        """The values of a function of indices, row by row."""
        *ranges, body = function.args
        environments = [environment]
        for size in ranges:
            environments = [(*each, k) for each in environments for k in range(self.extent(size))]
        return [self.number(body, each) for each in environments]

    def _derivative(self, term: Term, environment: Environment) -> Number:
        body, point = term.args
        tape = Tape(self._level)
        variable = tape.variable(self.number(point, environment))
        self._level += 1
        try:
            result = self.number(body, (*environment, variable))
        finally:
            self._level -= 1
        if not (isinstance(result, Traced) and tape.holds(result)):
            return ZERO
        sweep = tape.forward if self.way() in FORWARD_SWEEPS else tape.backward
        return sweep(variable, result)

    def _entry(self, term: Term, environment: Environment) -> Term:
        shape = term.data
        places = [self.place(a, environment) for a in term.args[-len(shape) :]]
        return term.args[places[0] if len(shape) == 1 else places[0] * shape[1] + places[1]]

    def _holds(self, relation: Term, environment: Environment) -> bool:
        left, right = (self._either(a, environment) for a in relation.args)
        if isinstance(left, int) or isinstance(right, int):
            return bool((left == right) is (relation.data == "eq"))
        difference = add(right, multiply(arb(-1), left))
        if not isinstance(difference, Traced) and difference.is_zero():
            return relation.data in ("eq", "le")
        sign = decided_sign(difference)
        return {"eq": False, "ne": True, "le": sign > 0, "lt": sign > 0}[relation.data]

    def _either(self, term: Term, environment: Environment) -> Number | int:
        """The value of a real term, or of an index."""
        if term.op == "bound":
            return environment[-1 - term.data]
        return self.place(term, environment) if isinstance(sort_of(term), Term) else self.number(term, environment)

    def _argument(self, term: Term, environment: Environment) -> Any:
        number = self.number(term, environment)
        if isinstance(number, Traced):
            raise TypeError(f"{term!r}: a choice of an index has no derivative")
        mantissa, exponent = number.mid().man_exp()
        return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))


def exact(number: mpf) -> arb:
    """The ball of radius 0 that is this number of mpmath."""
    return arb(number)


def parameters(application: Term) -> tuple[Term, ...]:
    """The arguments of a definition, without the sizes that they tell."""
    return application.args[len(application.data.sizes) :]


@cache
def _unfolded(application: Term) -> Term:
    return unfolded(application)


@cache
def _loose_levels(term: Term, depth: int = 0) -> frozenset[int]:
    """Which binders outside the term its bound variables belong to, 0 for the innermost."""
    if term.loose <= depth:
        return frozenset()
    if term.op == "bound":
        return frozenset({term.data - depth})
    return frozenset().union(*(_loose_levels(a, depth + b) for a, b in zip(term.args, term.binders(), strict=True)))

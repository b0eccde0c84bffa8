"""Numbers that remember how they came about, so that a derivative can be swept through them in either direction.

A `Traced` number is a ball that a tape's variable went into. Swept forward, the tape carries the tangent of the variable to
the result; swept backward, the cotangent of the result to the variable. Where a layer was called, the sweep asks the layer
itself: its jvp on the way forward, its backward on the way back. Tapes nest: what a `Traced` number holds may belong to an
outer tape, and a number of another tape is a constant.

Griewank and Walther 2008, Evaluating Derivatives, 2nd ed., sections 3.1 and 3.2.
"""

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple, Union

from flint import arb

from ..arithmetic import UndecidedComparison

ZERO, ONE = arb(0), arb(1)  # these very objects cost nothing in a sum or a product


class Traced:
    """A number on a tape. `value` is what it is on the tape outside."""

    __slots__ = ("tape", "value")

    def __init__(self, tape: "Tape", value: "Number"):
        self.tape, self.value = tape, value


Number = Union[arb, Traced]  # noqa: UP007 (arb has no `|`)
Sweep = Callable[[list[Number]], list[Number]]


class Operation(NamedTuple):
    """What was computed from what. `push` takes the tangents of the inputs to those of the outputs; `pull` goes back."""

    inputs: tuple[Number, ...]
    outputs: tuple[Traced, ...]
    push: Sweep
    pull: Sweep


class Tape:
    """The operations that a variable went into, in order. An inner tape has the higher level."""

    def __init__(self, level: int):
        self.level = level
        self.operations: list[Operation] = []

    def variable(self, value: Number) -> Traced:
        return Traced(self, value)

    def record(self, inputs: Sequence[Number], values: Sequence[Number], push: Sweep, pull: Sweep) -> list[Number]:
        outputs = tuple(Traced(self, value) for value in values)
        self.operations.append(Operation(tuple(inputs), outputs, push, pull))
        return list(outputs)

    def forward(self, variable: Traced, result: Traced) -> Number:
        """The derivative of the result, tangents first."""
        tangents: dict[int, Number] = {id(variable): ONE}
        for operation in self.operations:
            if any(id(x) in tangents for x in operation.inputs):
                pushed = operation.push([tangents.get(id(x), ZERO) for x in operation.inputs])
                tangents.update((id(y), dy) for y, dy in zip(operation.outputs, pushed, strict=True))
        return tangents.get(id(result), ZERO)

    def backward(self, variable: Traced, result: Traced) -> Number:
        """The derivative of the result, cotangents first."""
        cotangents: dict[int, Number] = {id(result): ONE}
        for operation in reversed(self.operations):
            if any(id(y) in cotangents for y in operation.outputs):
                pulled = operation.pull([cotangents.get(id(y), ZERO) for y in operation.outputs])
                for x, dx in zip(operation.inputs, pulled, strict=True):
                    if self.holds(x):
                        cotangents[id(x)] = add(cotangents[id(x)], dx) if id(x) in cotangents else dx
        return cotangents.get(id(variable), ZERO)

    def holds(self, number: Number) -> bool:
        return isinstance(number, Traced) and number.tape is self


def innermost(numbers: Sequence[Number]) -> Tape | None:
    """The tape that an operation on these numbers belongs to; None where all of them are balls."""
    found = None
    for number in numbers:
        if isinstance(number, Traced) and (found is None or number.tape.level > found.level):
            found = number.tape
    return found


def outside(number: Number, tape: Tape) -> Number:
    """The number as it is outside the tape."""
    return number.value if isinstance(number, Traced) and number.tape is tape else number


def _operation(plain: Callable[..., arb], slopes: Callable[..., tuple[Number, ...]], *inputs: Number) -> Number:
    """A function of balls, carried on to tapes. `slopes` gives its partial derivatives from the result and the inputs."""
    tape = innermost(inputs)
    if tape is None:
        return plain(*inputs)
    values = [outside(x, tape) for x in inputs]
    result = _operation(plain, slopes, *values)
    partial = slopes(result, *values)
    return tape.record(
        inputs,
        [result],
        push=lambda tangents: [inner_product(partial, tangents)],
        pull=lambda cotangents: [multiply(slope, cotangents[0]) for slope in partial],
    )[0]


# Arithmetic


def add(x: Number, y: Number) -> Number:
    if x is ZERO or y is ZERO:
        return y if x is ZERO else x
    return _operation(operator.add, lambda result, x, y: (ONE, ONE), x, y)


def multiply(x: Number, y: Number) -> Number:
    if x is ZERO or y is ZERO:
        return ZERO
    if x is ONE or y is ONE:
        return y if x is ONE else x
    return _operation(operator.mul, lambda result, x, y: (y, x), x, y)


def total(numbers: Sequence[Number]) -> Number:
    result: Number = ZERO
    for number in numbers:
        result = add(result, number)
    return result


def inner_product(xs: Sequence[Number], ys: Sequence[Number]) -> Number:
    return total([multiply(x, y) for x, y in zip(xs, ys, strict=True)])


def whole_power(x: Number, exponent: int) -> Number:
    """x ** exponent by products, since that of a ball around 0 by its logarithm would be NaN."""
    if exponent == 0:
        return ONE
    return _operation(
        lambda x: _repeated(x, exponent), lambda result, x: (multiply(arb(exponent), whole_power(x, exponent - 1)),), x
    )


def _repeated(x: arb, exponent: int) -> arb:
    if exponent < 0:
        return 1 / _repeated(x, -exponent)
    half = _repeated(x, exponent // 2) if exponent > 1 else ONE
    return half * half * (x if exponent % 2 else ONE)


def real_power(x: Number, exponent: Number) -> Number:
    """x ** exponent for x > 0."""

    def slopes(result: Number, x: Number, exponent: Number) -> tuple[Number, ...]:
        return multiply(exponent, multiply(result, whole_power(x, -1))), multiply(result, elementary("log", x))

    return _operation(operator.pow, slopes, x, exponent)


def maximum(x: Number, y: Number) -> Number:
    def slopes(result: Number, x: Number, y: Number) -> tuple[Number, ...]:
        above = decided_sign(add(x, multiply(arb(-1), y))) > 0
        return (ONE, ZERO) if above else (ZERO, ONE)

    return _operation(lambda x, y: x.max(y), slopes, x, y)


def decided_sign(x: Number) -> int:
    """1 or -1. Raises UndecidedComparison for a ball that holds 0."""
    while isinstance(x, Traced):
        x = x.value
    if x > 0 or x < 0:
        return 1 if x > 0 else -1
    raise UndecidedComparison(f"the sign of {x} is undecided, since the ball holds 0; move the point away from it")


def _squared(x: Number) -> Number:
    return multiply(x, x)


def _erf_slope(result: Number, x: Number) -> Number:
    return multiply(2 / arb.pi().sqrt(), elementary("exp", multiply(arb(-1), _squared(x))))


_ELEMENTARY: dict[str, tuple[Callable[[arb], arb], Callable[[Number, Number], Number]]] = {
    "exp": (arb.exp, lambda result, x: result),
    "log": (arb.log, lambda result, x: whole_power(x, -1)),
    "sqrt": (arb.sqrt, lambda result, x: whole_power(multiply(arb(2), result), -1)),
    "sin": (arb.sin, lambda result, x: elementary("cos", x)),
    "cos": (arb.cos, lambda result, x: multiply(arb(-1), elementary("sin", x))),
    "tanh": (arb.tanh, lambda result, x: add(ONE, multiply(arb(-1), _squared(result)))),
    "erf": (arb.erf, _erf_slope),
    "abs": (abs, lambda result, x: arb(decided_sign(x))),
}


def elementary(name: str, x: Number) -> Number:
    """exp, log, sqrt, sin, cos, tanh, erf or abs."""
    plain, slope = _ELEMENTARY[name]
    return _operation(plain, lambda result, x: (slope(result, x),), x)

"""The gradients of a formula for values: the formula runs once on numbers that remember what they were computed from.

Each operation notes its operands and the derivative by each; walked back from the output, the notes give <dy, D f(x)> (A. Griewank
and A. Walther, Evaluating Derivatives, 2nd ed., 2008, section 3.2). What a formula decides, it decides at the value. Numbers are
balls, which enclose the gradients, or those of `erring`, which bound what rounding does to them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb

from ..arithmetic import to_balls
from ..jets import Jet, Operand
from .contract import Contract
from .mistake import Formula

Number = Any  # a ball, or an Erring


class Traced(Jet):
    """Stands where layers and formulas take a jet. Arithmetic with these, balls and numbers gives these."""

    __slots__ = ("cotangent", "parents", "tape", "value")

    def __init__(self, value: Number, tape: list["Traced"], parents: tuple[tuple["Traced", Number], ...] = ()) -> None:
        self.value, self.tape, self.parents = value, tape, parents
        self.cotangent: Number | None = None
        tape.append(self)

    def coefficient(self, power: int) -> arb:
        """The value for 0. Raises ValueError for others."""
        if power != 0:
            raise ValueError(f"reverse: power is {power}, needed 0; the gradient is known when all is computed")
        return self.value if isinstance(self.value, arb) else self.value.coefficient(0)

    def receive(self, part: Number) -> None:
        """A further part of its cotangent."""
        self.cotangent = part if self.cotangent is None else self.cotangent + part

    def __repr__(self) -> str:
        return f"Traced({self.value})"

    def _of(self, value: Number, slope: Number) -> "Traced":
        return Traced(value, self.tape, ((self, slope),))

    def __neg__(self) -> "Traced":
        return self._of(-self.value, MINUS_ONE)

    def __add__(self, other: Operand) -> "Traced":
        if isinstance(other, Traced):
            return Traced(self.value + other.value, self.tape, ((self, ONE), (other, ONE)))
        return NotImplemented if (b := _constant(other)) is None else self._of(self.value + b, ONE)

    def __sub__(self, other: Operand) -> "Traced":
        if isinstance(other, Traced):
            return Traced(self.value - other.value, self.tape, ((self, ONE), (other, MINUS_ONE)))
        return NotImplemented if (b := _constant(other)) is None else self._of(self.value - b, ONE)

    def __mul__(self, other: Operand) -> "Traced":
        if isinstance(other, Traced):
            return Traced(self.value * other.value, self.tape, ((self, other.value), (other, self.value)))
        return NotImplemented if (b := _constant(other)) is None else self._of(self.value * b, b)

    def __truediv__(self, other: Operand) -> "Traced":
        if isinstance(other, Traced):
            quotient = self.value / other.value
            return Traced(quotient, self.tape, ((self, 1 / other.value), (other, -quotient / other.value)))
        return NotImplemented if (b := _constant(other)) is None else self._of(self.value / b, 1 / b)

    def __rtruediv__(self, other: Operand) -> "Traced":
        if (a := _constant(other)) is None:
            return NotImplemented
        quotient = a / self.value
        return self._of(quotient, -quotient / self.value)

    def __pow__(self, other: Operand) -> "Traced":
        if isinstance(other, Traced):
            return (self.log() * other).exp()
        return NotImplemented if (b := _constant(other)) is None else self._of(self.value**b, b * self.value ** (b - 1))

    def __rpow__(self, other: Operand) -> "Traced":
        return NotImplemented if (a := _constant(other)) is None else (self * a.log()).exp()

    def exp(self) -> "Traced":
        value = self.value.exp()
        return self._of(value, value)

    def log(self) -> "Traced":
        return self._of(self.value.log(), 1 / self.value)

    def sqrt(self) -> "Traced":
        value = self.value.sqrt()
        return self._of(value, 1 / (2 * value))

    def sin(self) -> "Traced":
        return self._of(self.value.sin(), self.value.cos())

    def cos(self) -> "Traced":
        return self._of(self.value.cos(), -self.value.sin())

    def erf(self) -> "Traced":
        return self._of(self.value.erf(), _slope_of_erf(self.value))

    def erfc(self) -> "Traced":
        return self._of(self.value.erfc(), -_slope_of_erf(self.value))


NOTHING, ONE, MINUS_ONE = arb(0), arb(1), arb(-1)


def _constant(number: object) -> Number | None:
    if isinstance(number, (arb, Jet)):
        return number
    return arb(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else None


def _slope_of_erf(x: Number) -> Number:
    return 2 * (-x * x).exp() / arb.pi().sqrt()


def gradients_of(contract: Contract, formula: Formula) -> Formula:
    """(dy, *inputs, **options) -> the gradients of <dy, formula(*inputs, **options)>, a tuple in the order of the floating inputs."""
    floating = [each.floating for each in contract.inputs]

    def gradients(dy: Any, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        tape: list[Traced] = []
        traced = [_traced(x, tape) if each else x for x, each in zip(inputs, floating, strict=True)]
        output = np.asarray(formula(*traced, **options), dtype=object)
        _walk_back(tape, output, to_balls(dy))
        return tuple(_objects(_received, x) for x, each in zip(traced, floating, strict=True) if each)

    return gradients


def _traced(x: Any, tape: list[Traced]) -> np.ndarray:
    return _objects(lambda number: Traced(number, tape), to_balls(x))


def _received(number: Traced) -> Number:
    return NOTHING if number.cotangent is None else number.cotangent


def _walk_back(tape: Sequence[Traced], output: np.ndarray, dy: np.ndarray) -> None:
    for number, seed in zip(output.flat, dy.flat, strict=True):
        if isinstance(number, Traced):  # others do not depend on the inputs
            number.receive(seed)
    for node in reversed(tape):  # all that used it came later
        if node.cotangent is not None:
            for parent, slope in node.parents:
                parent.receive(node.cotangent if slope is ONE else node.cotangent * slope)


def _objects(function: Callable[[Any], Any], array: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(function, 1, 1)(array), dtype=object)

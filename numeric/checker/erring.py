"""Running error analysis of any formula, as it is written: numbers that carry a bound on what rounding may have done to them.

An `Erring` stands in an array where a formula takes a jet. It holds v, a float64 evaluation, and e as in `rounding`: every
evaluation in the format lies within e of the true value, and so does v. The rules are those of `rounding` too, number by number.
A sum stays open until it is used: its terms are counted, and its rounding, (n - 1) u sum |v| in any order, is granted then. What is
subtracted before an exponential is a constant here, as in balls; the quotient by the sum loses it again.
"""

import math

import numpy as np
from flint import arb

from ..arithmetic import to_balls
from ..jets import Jet, Operand
from .formats import Format, Precision
from .rounding import CLAMPED


class Erring(Jet):
    """Arithmetic with these, balls and numbers gives these. `worst` is e but for the rounding of the sum of `terms` numbers whose
    absolute values sum to `size`."""

    __slots__ = ("form", "size", "terms", "value", "worst")

    def __init__(self, value: float, worst: float, form: Format, terms: int = 1, size: float | None = None) -> None:
        self.value, self.worst, self.form, self.terms = value, worst, form, terms
        self.size = abs(value) if size is None else size

    def coefficient(self, power: int) -> arb:
        """The value for 0. Raises ValueError for others."""
        if power != 0:
            raise ValueError(f"erring: power is {power}, needed 0")
        return arb(self.value)

    @property
    def error(self) -> float:
        """e."""
        if self.terms == 1:
            return self.worst
        if self.terms == 2:  # which have one order
            return self.worst + self.form.unit * (abs(self.value) + 2 * self.worst)
        gamma = (self.terms - 1) * self.form.unit
        return self.worst + gamma / (1 - gamma) * (self.size + 2 * self.worst) if gamma < 1 else math.inf

    def __repr__(self) -> str:
        return f"Erring({self.value!r}, {self.error:.3g})"

    def __neg__(self) -> "Erring":
        return Erring(-self.value, self.worst, self.form, self.terms, self.size)

    def __add__(self, other: Operand) -> "Erring":
        if (b := self._operand(other)) is None:
            return NotImplemented
        value, worst = self.value + b.value, self.worst + b.worst
        return Erring(value, worst, self.form, self.terms + b.terms, self.size + b.size)

    def __sub__(self, other: Operand) -> "Erring":
        return NotImplemented if (b := self._operand(other)) is None else self + (-b)

    def __mul__(self, other: Operand) -> "Erring":
        if (b := self._operand(other)) is None:
            return NotImplemented
        first, second = self.error, b.error
        worst = abs(self.value) * second + abs(b.value) * first + 3 * first * second
        return self._stored(self.value * b.value, worst)

    def __truediv__(self, other: Operand) -> "Erring":
        if (b := self._operand(other)) is None:
            return NotImplemented
        error = b.error
        least, computed = abs(b.value) - error, abs(b.value) - 2 * error
        if not computed > 0:
            return self._unknown()
        worst = (self.error + error * (abs(self.value) + self.error) / least) / computed
        return self._stored(self.value / b.value, worst)

    def __rtruediv__(self, other: Operand) -> "Erring":
        return NotImplemented if (a := self._operand(other)) is None else a / self

    def __pow__(self, other: Operand) -> "Erring":
        if (b := self._operand(other)) is None:
            return NotImplemented
        least = abs(self.value) - 2 * self.error
        if b.value == 0 and b.error == 0:
            return Erring(1.0, 0.0, self.form)
        if b.error or not least > 0:
            return self * self if b.value == 2 and not b.error else self._unknown()
        relative, value = abs(b.value) * self.error / least, self.value**b.value
        return self._function(value, abs(value) * _exp(relative) * _expm1(relative))

    def __rpow__(self, other: Operand) -> "Erring":
        return NotImplemented if (a := self._operand(other)) is None else (self * a.log()).exp()

    def exp(self) -> "Erring":
        error = self.error
        if self.value == 0 and error == 0:
            return Erring(1.0, 0.0, self.form)
        return self._function(_exp(self.value), _exp(self.value + error) * _expm1(error))

    def log(self) -> "Erring":
        error = self.error
        computed = self.value - 2 * error
        return self._function(math.log(self.value), error / computed) if computed > 0 else self._unknown()

    def sqrt(self) -> "Erring":
        error = self.error
        computed = self.value - 2 * error
        if self.value == 0 and error == 0:
            return self
        if not computed > 0:
            return self._unknown()
        least = math.sqrt(computed) + math.sqrt(self.value - error)
        return self._stored(math.sqrt(self.value), error / least)

    def sin(self) -> "Erring":
        return self._function(math.sin(self.value), min(self.error, 2.0))

    def cos(self) -> "Erring":
        return self._function(math.cos(self.value), min(self.error, 2.0))

    def erf(self) -> "Erring":
        return self._function(math.erf(self.value), self._moved_erf())

    def erfc(self) -> "Erring":
        """What squaring the argument does to exp(-z^2) is in `contracts._activation_bounds`."""
        reach = abs(self.value) + 2 * self.error
        squared = 2 * self.form.unit * reach * reach * math.erfc(abs(self.value))
        return self._function(math.erfc(self.value), self._moved_erf() + squared)

    def _moved_erf(self) -> float:
        nearest = max(abs(self.value) - 2 * self.error, 0.0)
        return min(2 / math.sqrt(math.pi) * _exp(-nearest * nearest) * self.error, 2.0)

    def _function(self, value: float, worst: float) -> "Erring":
        return self._stored(value, worst, 2 * self.form.ulps)

    def _stored(self, value: float, worst: float, units: float = 1.0) -> "Erring":
        return Erring(value, _after_storing(value, worst, self.form, units), self.form)

    def _unknown(self) -> "Erring":
        return Erring(math.nan, math.inf, self.form)

    def _operand(self, number: object) -> "Erring | None":
        if isinstance(number, Erring):
            return number
        if not isinstance(number, (arb, int, float)) or isinstance(number, bool):
            return None
        value = float(number)
        exact = self.form.holds(value) and number == value
        return Erring(value, 0.0 if exact else self.form.unit * abs(value), self.form)


def _after_storing(value: float, worst: float, form: Format, units: float = 1.0) -> float:
    magnitude = abs(value) + 2 * worst
    small = magnitude != 0 and abs(value) - 2 * worst < form.tiny
    return worst + units * form.unit * magnitude + (min(form.tiny, magnitude + CLAMPED) if small else 0.0)


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 709 else math.inf


def exactly(numbers: np.ndarray, form: Format) -> np.ndarray:
    """What the implementation holds exactly."""
    return np.asarray(np.frompyfunc(lambda ball: Erring(float(ball), 0.0, form), 1, 1)(to_balls(numbers)), dtype=object)


def errors(numbers: np.ndarray, precision: Precision) -> np.ndarray:
    """e of each, once it is returned; 0 where nothing is known to err, or by how much."""

    def of_one(number: object) -> float:
        if not isinstance(number, Erring):
            return 0.0
        narrower = precision.returned.bits < number.form.bits
        error = _after_storing(number.value, number.error, precision.returned) if narrower else number.error
        return error if math.isfinite(error) else 0.0

    return np.asarray(np.frompyfunc(of_one, 1, 1)(numbers), dtype=np.float64)

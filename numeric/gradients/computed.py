r"""Running error analysis of what a layer computes in float64, and of the derivative that a complex step gives it.

A `Computed` stands in an array where a number x + t v would, as a jet does. Its value is a ball that holds the true
number *and whatever float64 computes in its place*, its slope one that holds the true derivative by t *and whatever
complex128 computes in its place*, as Im f(x + i h v) / h with h = 2^-600. So two numbers that must lie in one ball
differ by its width at most. Operations take balls to balls; after each, the standard model fl(a op b) = (a op b)(1 +
d), |d| <= k u, u = 2^-53, widens by k u (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002,
sections 2.2 and 3.6), where k is

    a b           1     each of the two products of the slope too: a b' and a' b
    a / b         3     real numbers take 1; complex ones a (1 / b) by Smith's method, and the two terms of the slope
                        a' / b and a b' / b^2 up to 5, granted 6; every product with h^2 underflows to 0
    exp, log,    10     4 ulp from the rounded value is what NumPy's own validation allows, so 9 u from the true one;
    sin, cos            the C library's, which complex numbers take, are closer. 2 more for the slope, which
                        multiplies or divides by another such value
    sqrt         10     complex: sqrt((a + hypot(a, b)) / 2) and b over twice that, 4 u
    erfc       1024     5.7e-14 = 513 u is documented by Cephes; for SciPy's complex one no bound is documented, and
                        twice as much is granted: 260 u is the most that was measured, in value and slope
    constants    16     roots, pi, sines and cosines of positions, which layers have as balls (a test measures them);
                        the factors e^x between running maxima of blocked attention, 9 u + |x| u, for |x| < 7

A sum of n terms in any order errs by at most (n - 1) u sum |terms| / (1 - (n - 1) u) (section 4.2). Which order NumPy
and BLAS take is not known, so terms are counted, and the rounding is granted when the sum is used: sums are left open
until then. The two products of a slope count as two terms. A fused multiplication and addition rounds less often.

What is subtracted before an exponential is a constant here and the computed maximum there. A shift by d changes all
weights by the factor e^d, which the quotient by their sum loses again; what is left of it is below u d, d below 1e-6,
and within the tenth u of exp. Underflow loses at most 2^-1074, which is 2^-474 in a slope: each product and function
is widened by 2^-470.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from flint import arb

from ..jets import Jet, Operand

STEP = 2.0**-600  # h: h v is exact, h^2 underflows
UNIT = arb(2) ** -53
DIGITS = 53
LOST = arb(0, 2.0**-470)
SLACK = 1 + 2.0**-20  # for (n - 1) u in the denominator, and for sizes rounded to floats
QUOTIENT, QUOTIENT_SLOPE, FUNCTION, ERFC, CONSTANT = 3, 6, 10, 1024, 16


class Sum(NamedTuple):
    """Balls around the exact sum of computed terms, whose additions are not rounded yet."""

    total: arb
    terms: int
    size: float  # the sum of their absolute values

    def plus(self, other: "Sum") -> "Sum":
        return Sum(self.total + other.total, self.terms + other.terms, self.size + other.size)

    def minus(self) -> "Sum":
        return Sum(-self.total, self.terms, self.size)

    def rounded(self) -> arb:
        if self.terms == 1:
            return self.total
        return self.total + arb(0, (self.terms - 1) * 2.0**-DIGITS * self.size * SLACK)


class Computed(Jet):
    """Arithmetic with these, balls and numbers gives these. `slope` is None for what does not depend on t."""

    __slots__ = ("slope", "value")

    def __init__(self, value: Sum, slope: Sum | None = None) -> None:
        self.value, self.slope = value, slope

    @classmethod
    def exact(cls, value: float, slope: float = 0.0) -> "Computed":
        """A number of float64, with a derivative that is one too."""
        return cls(_exact(arb(value)), _exact(arb(slope)) if slope else None)

    def coefficient(self, power: int) -> arb:
        """The value for 0, the slope for 1. Raises ValueError for others."""
        if power not in (0, 1):
            raise ValueError(f"computed: power is {power}, needed 0 or 1")
        part = (self.value, self.slope)[power]
        return arb(0) if part is None else part.rounded()

    def __repr__(self) -> str:
        return f"Computed({self.coefficient(0)}, {self.coefficient(1)})"

    def __neg__(self) -> "Computed":
        return Computed(self.value.minus(), self.slope and self.slope.minus())

    def __add__(self, other: Operand) -> "Computed":
        if (b := _operand(other)) is None:
            return NotImplemented
        return Computed(self.value.plus(b.value), _together(self.slope, b.slope))

    def __sub__(self, other: Operand) -> "Computed":
        return NotImplemented if (b := _operand(other)) is None else self + (-b)

    def __mul__(self, other: Operand) -> "Computed":
        if (b := _operand(other)) is None:
            return NotImplemented
        x, y = self.value.rounded(), b.value.rounded()
        from_self = None if self.slope is None else _term(self.slope.rounded() * y, 1)
        from_other = None if b.slope is None else _term(x * b.slope.rounded(), 1)
        return Computed(_term(x * y, 1), _together(from_self, from_other))

    def __truediv__(self, other: Operand) -> "Computed":
        if (b := _operand(other)) is None:
            return NotImplemented
        x, y = self.value.rounded(), b.value.rounded()
        from_self = None if self.slope is None else _term(self.slope.rounded() / y, QUOTIENT_SLOPE)
        from_other = None if b.slope is None else _term(-x * b.slope.rounded() / (y * y), QUOTIENT_SLOPE)
        return Computed(_term(x / y, QUOTIENT), _together(from_self, from_other))

    def __rtruediv__(self, other: Operand) -> "Computed":
        return NotImplemented if (a := _operand(other)) is None else a / self

    def __pow__(self, other: object) -> "Computed":
        return NotImplemented

    def __rpow__(self, other: object) -> "Computed":
        return NotImplemented

    def exp(self) -> "Computed":
        return self._function(arb.exp, arb.exp)

    def log(self) -> "Computed":
        return self._function(arb.log, lambda x: 1 / x)

    def sqrt(self) -> "Computed":
        return self._function(arb.sqrt, lambda x: x.rsqrt() / 2)

    def sin(self) -> "Computed":
        return self._function(arb.sin, arb.cos)

    def cos(self) -> "Computed":
        return self._function(arb.cos, lambda x: -x.sin())

    def erf(self) -> "Computed":
        return self._function(arb.erf, _slope_of_erf, ERFC)

    def erfc(self) -> "Computed":
        return self._function(arb.erfc, lambda x: -_slope_of_erf(x), ERFC)

    def _function(
        self, function: Callable[[arb], arb], slope: Callable[[arb], arb], units: int = FUNCTION
    ) -> "Computed":
        x = self.value.rounded()
        moved = None if self.slope is None else _term(slope(x) * self.slope.rounded(), units + 2)
        return Computed(_term(function(x), units), moved)


def as_computed(x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
    """x + t v, or x, for arrays of float64."""
    along = np.zeros_like(x) if v is None else v
    return np.asarray(np.frompyfunc(Computed.exact, 2, 1)(x.astype(object), along.astype(object)), dtype=object)


def _slope_of_erf(x: arb) -> arb:
    return 2 * (-x * x).exp() / arb.pi().sqrt()


def _exact(number: arb) -> Sum:
    return Sum(number, 1, _size(number))


def _size(ball: arb) -> float:
    return float(ball.abs_upper())


def _term(ball: arb, units: int) -> Sum:
    rounded = ball * arb(1, units * 2.0**-DIGITS) + LOST
    return Sum(rounded, 1, _size(rounded))


def _together(one: Sum | None, other: Sum | None) -> Sum | None:
    return other if one is None else one if other is None else one.plus(other)


def _operand(number: object) -> Computed | None:
    if isinstance(number, Computed):
        return number
    if isinstance(number, (int, float)):
        return Computed(_exact(arb(number)))
    if isinstance(number, arb):
        held = number.is_exact() and number.mid().man_exp()[0].bit_length() <= DIGITS
        return Computed(_exact(number) if held else _term(number, CONSTANT))
    return None

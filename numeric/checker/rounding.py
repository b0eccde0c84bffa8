r"""Running error analysis: arrays that carry a bound on what rounding may have done to them.

A `Rounded` holds three arrays. `value` is v, a float64 evaluation. `worst` is e, such that every evaluation in the stated
precision lies within e of the true value t, *and so does v* (it is one such evaluation, in a format at least as fine); hence
|t| <= |v| + e, and a computed number is at most |v| + 2e. `square` is the sum of the squares of the single contributions.

The rules are the standard model fl(a op b) = (a op b)(1 + d), |d| <= u, applied to each operation (N. J. Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed., sections 2.2, 3.1 to 3.3), with nothing dropped as being of second order:

    stored      e + u (|v| + 2e) + w        w: what underflow or flushing to zero may lose, where |v| - 2e < the least normal
    a + b       ea + eb                     then stored
    a b         |a| eb + |b| ea + 3 ea eb   |a'b' - ab| <= |a| eb + |b| ea + ea eb with |a| <= |va| + ea
    a / b       (ea + eb (|a| + ea) / (|b| - eb)) / (|b| - 2 eb)
    exp a       exp(a + ea) expm1(ea), or the ceiling if the result is known to lie below one
    log a       ea / (a - 2 ea)
    sqrt a      ea / (sqrt(a - 2 ea) + sqrt(a - ea)), rounded once, and nothing unless a - 2 ea > 0
    sin, cos    min(ea, 2)                  each function then stored with its documented ulps in place of half an ulp,
    b ** a      b^a expm1(|a| eb / (b - 2 eb) + |ln b| ea), with the same care; but exp 0 = b ** 0 = 1 is exact
    A B         |A| eB + eA |B| + 3 eA eB + gamma (|A| |B| + 2 ...), gamma = n u / (1 - n u) in the wide format, n products each
    sum of n    sum e + gamma (sum |v| + 2e), gamma = (n - 1) u / (1 - (n - 1) u) in the wide format: any order (section 4.2)

The *typical* bound takes the contributions for independent and of mean zero: sqrt(2 ln(2 N / 0.01)) sqrt(square) holds for N
entries together with probability 99% (Hoeffding; N. J. Higham and T. Mary, SIAM J. Sci. Comput. 41, 2019). First order only.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from .formats import Format, Precision

CLAMPED = 2.0**-126  # what an exp in float32 may leave where it ought to underflow
FLOOR = 2.0**-1022  # below it the bound itself, computed in float64, may have underflowed
SLACK = 1 + 2.0**-20  # covers the roundings of the bound's own evaluation, each 2^-53 in a sum of positive terms


class Rounded:
    """See the module. Operators take two of these with one precision; plain numbers are wrapped with `exact` or `given`."""

    __slots__ = ("precision", "square", "value", "worst")

    def __init__(self, value: np.ndarray, worst: np.ndarray, square: np.ndarray, precision: Precision) -> None:
        self.value, self.worst, self.square, self.precision = value, worst, square, precision

    @classmethod
    def exact(cls, value: np.ndarray | float, precision: Precision) -> "Rounded":
        """Numbers that the implementation holds exactly: its inputs, integers."""
        array = np.asarray(value, dtype=np.float64)
        return cls(array, np.zeros_like(array), np.zeros_like(array), precision)

    @classmethod
    def given(cls, number: float, precision: Precision) -> "Rounded":
        """A number given as Python's float, which storing rounds unless the stored format holds it."""
        exact = cls.exact(number, precision)
        return exact if precision.stored.holds(float(number)) else exact.cast(precision.stored)

    def cast(self, target: Format) -> "Rounded":
        """The same after being stored in `target`."""
        return self._stored(self.value, self.worst, self.square, 1.0, target)

    def within(self, precision: Precision) -> "Rounded":
        """The same numbers carried on in another precision; stored in it, where that is the coarser one."""
        narrower = precision.stored.bits < self.precision.stored.bits
        kept = self.cast(precision.stored) if narrower else self
        return Rounded(kept.value, kept.worst, kept.square, precision)

    def returned(self) -> "Rounded":
        """As the result: stored in the format that is returned, where that is coarser than the intermediates."""
        narrower = self.precision.returned.bits < self.precision.stored.bits
        return self.cast(self.precision.returned) if narrower else self

    def _stored(
        self, value: np.ndarray, worst: np.ndarray, square: np.ndarray, units: float = 1.0, target: Format | None = None
    ) -> "Rounded":
        form = target or self.precision.stored
        size, twice, rounding = np.abs(value), 2 * worst, units * form.unit
        magnitude, small = size + twice, size - twice < form.tiny
        if units:
            worst, square = worst + rounding * magnitude, square + (rounding * size) ** 2
        if np.count_nonzero(small):  # which is seldom, and takes as long as all the rest
            lost = np.where(small & (magnitude != 0), np.minimum(form.tiny, magnitude + CLAMPED), 0.0)
            worst, square = worst + lost, square + lost**2
        return Rounded(value, worst, square, self.precision)

    def _function(self, value: np.ndarray, worst: np.ndarray, square: np.ndarray) -> "Rounded":
        return self._stored(value, worst, square, 2 * self.precision.stored.ulps)

    def __neg__(self) -> "Rounded":
        return Rounded(-self.value, self.worst, self.square, self.precision)

    def __add__(self, other: "Rounded") -> "Rounded":
        return self._stored(self.value + other.value, self.worst + other.worst, self.square + other.square)

    def __sub__(self, other: "Rounded") -> "Rounded":
        return self + (-other)

    def __mul__(self, other: "Rounded") -> "Rounded":
        a, b = np.abs(self.value), np.abs(other.value)
        worst = a * other.worst + b * self.worst + 3 * self.worst * other.worst
        return self._stored(self.value * other.value, worst, a**2 * other.square + b**2 * self.square)

    def __truediv__(self, other: "Rounded") -> "Rounded":
        a, b = np.abs(self.value), np.abs(other.value)
        least, computed = b - other.worst, b - 2 * other.worst
        worst = (self.worst + other.worst * (a + self.worst) / least) / computed
        worst = np.where(computed > 0, worst, np.inf)
        square = (self.square + (a / b) ** 2 * other.square) / b**2
        return self._stored(self.value / other.value, worst, square)

    def reciprocal(self) -> "Rounded":
        return Rounded.exact(1.0, self.precision) / self

    def over(self, divisor: float) -> "Rounded":
        """Divided by a given number, or multiplied by its reciprocal; exact for a power of two."""
        if math.frexp(divisor)[0] == 0.5:
            return self._stored(self.value / divisor, self.worst / divisor, self.square / divisor**2, 0.0)
        return self * Rounded.given(divisor, self.precision).reciprocal()

    def magnitude(self) -> "Rounded":
        """|x|, for a bound on sums whose terms are to be kept from cancelling."""
        return Rounded(np.abs(self.value), self.worst, self.square, self.precision)

    def rearranged(self, move: Callable[[np.ndarray], np.ndarray]) -> "Rounded":
        """The same numbers in other places: reshaped, transposed, repeated."""
        return Rounded(move(self.value), move(self.worst), move(self.square), self.precision)

    def loosened(self, extra: np.ndarray) -> "Rounded":
        """With a further possible error of `extra`, an absolute one."""
        return Rounded(self.value, self.worst + extra, self.square + extra**2, self.precision)

    def exp(self, ceiling: float = math.inf) -> "Rounded":
        value = np.exp(self.value)
        worst = np.minimum(np.exp(self.value + self.worst) * np.expm1(self.worst), ceiling)
        result = self._function(np.maximum(value, 5e-324), worst, value**2 * self.square)
        return result._exact_where((self.value == 0) & (self.worst == 0))

    def log(self) -> "Rounded":
        computed = self.value - 2 * self.worst
        worst = np.where(computed > 0, self.worst / computed, np.inf)
        return self._function(np.log(self.value), worst, self.square / self.value**2)

    def sqrt(self) -> "Rounded":
        computed = self.value - 2 * self.worst
        least = np.sqrt(np.maximum(computed, 0.0)) + np.sqrt(np.maximum(self.value - self.worst, 0.0))
        worst = np.where(computed > 0, self.worst / least, np.inf)
        result = self._stored(np.sqrt(self.value), worst, self.square / (4 * self.value))
        return result._exact_where((self.value == 0) & (self.worst == 0))

    def mapped(self, value: np.ndarray, worst: np.ndarray, slope: np.ndarray) -> "Rounded":
        """A function of this: its `value`, how far an error here may move it, its slope; stored with the documented ulps."""
        return self._function(value, worst, slope**2 * self.square)

    def sin(self) -> "Rounded":
        return self._function(np.sin(self.value), np.minimum(self.worst, 2.0), np.cos(self.value) ** 2 * self.square)

    def cos(self) -> "Rounded":
        return self._function(np.cos(self.value), np.minimum(self.worst, 2.0), np.sin(self.value) ** 2 * self.square)

    def __pow__(self, exponent: "Rounded") -> "Rounded":
        """For a base above zero."""
        logarithm = np.abs(np.log(self.value)) + np.abs(self.worst / (self.value - 2 * self.worst))
        relative = (np.abs(exponent.value) + exponent.worst) * self.worst / (self.value - 2 * self.worst)
        relative = relative + logarithm * exponent.worst
        value = self.value**exponent.value
        square = value**2 * ((exponent.value / self.value) ** 2 * self.square + logarithm**2 * exponent.square)
        result = self._function(value, value * np.exp(relative) * np.expm1(relative), square)
        return result._exact_where((exponent.value == 0) & (exponent.worst == 0))

    @property
    def _is_exact(self) -> bool:
        return not (np.count_nonzero(self.worst) or np.count_nonzero(self.square))

    def _exact_where(self, known: np.ndarray) -> "Rounded":
        return Rounded(self.value, np.where(known, 0.0, self.worst), np.where(known, 0.0, self.square), self.precision)

    def sum(self, axis: int) -> "Rounded":
        """Along one axis, which stays with length one; accumulated in the wide format, then stored."""
        n, u = self.value.shape[axis], self.precision.wide.unit
        gamma = (n - 1) * u / (1 - (n - 1) * u) if (n - 1) * u < 1 else math.inf
        total = np.abs(self.value).sum(axis, keepdims=True)
        worst = self.worst.sum(axis, keepdims=True)
        square = self.square.sum(axis, keepdims=True) + (n - 1) * (u * total) ** 2
        narrower = self.precision.stored.bits < self.precision.wide.bits
        return self._stored(
            self.value.sum(axis, keepdims=True), worst + gamma * (total + 2 * worst), square, 1.0 if narrower else 0.0
        )

    def __matmul__(self, other: "Rounded") -> "Rounded":
        """Of matrices, or stacks of them; products are accumulated in the wide format, in any order, and then stored."""
        n, wide = self.value.shape[-1], self.precision.wide
        gamma = n * wide.unit / (1 - n * wide.unit) if n * wide.unit < 1 else math.inf
        a, b = np.abs(self.value), np.abs(other.value)
        total = a @ b
        passed_on, square = np.zeros(()), n * (wide.unit * total) ** 2
        if not other._is_exact:  # products with zeros would take as long as those with other numbers
            passed_on, square = a @ other.worst, square + a**2 @ other.square
        if not self._is_exact:
            passed_on, square = passed_on + self.worst @ (b + 3 * other.worst), square + self.square @ b**2
        worst = passed_on + gamma * (total + 2 * passed_on) + n * wide.tiny
        narrower = self.precision.stored.bits < wide.bits
        return self._stored(self.value @ other.value, worst, square, 1.0 if narrower else 0.0)

    def below_maximum(self, axis: int) -> "Rounded":
        """x - max x, its error counted against the *computed* maximum.

        Only for formulas that a common shift leaves unchanged (softmax.shift_invariance): there it is immaterial which number was
        subtracted, so an error of the maximum is no error of the result.
        """
        value = self.value - self.value.max(axis, keepdims=True)
        shifted = self._stored(value, self.worst, self.square)
        shifted.worst = shifted.worst + 2 * self.precision.stored.unit * self.worst.max(axis, keepdims=True)
        return shifted


def interleaved(even: Rounded, odd: Rounded) -> Rounded:
    """Two arrays as the even and odd entries along the last axis of one."""
    pairs = ((getattr(even, part), getattr(odd, part)) for part in ("value", "worst", "square"))
    value, worst, square = (np.stack(pair, axis=-1).reshape(*pair[0].shape[:-1], -1) for pair in pairs)
    return Rounded(value, worst, square, even.precision)


def any_of(evaluations: Sequence[Rounded]) -> Rounded:
    """An implementation may take any of these ways. One that breaks down at an entry (no finite bound) admits nothing there."""
    first = evaluations[0]
    worst, square = (_largest_finite([getattr(each, part) for each in evaluations]) for part in ("worst", "square"))
    return Rounded(first.value, worst, square, first.precision)


def _largest_finite(bounds: Sequence[np.ndarray]) -> np.ndarray:
    largest = reduce(np.maximum, bounds)
    if np.isfinite(largest).all():
        return largest
    # -inf where none is finite
    return np.abs(reduce(np.maximum, [np.where(np.isfinite(each), each, -np.inf) for each in bounds]))


def allowance(bound: Rounded) -> np.ndarray:
    """How far a correct implementation may be from the truth, entry by entry."""
    return np.where(np.isfinite(bound.worst), bound.worst, np.inf) * SLACK + FLOOR


def typical_allowance(bound: Rounded) -> np.ndarray:
    """What it stays within with probability 99%, all entries together, if roundings are independent; never more than the worst."""
    factor = math.sqrt(2 * math.log(2 * max(bound.value.size, 1) / 0.01))
    squares_underflow = bound.worst < 2.0**-500
    return np.where(squares_underflow, allowance(bound), np.minimum(factor * np.sqrt(bound.square), allowance(bound)))

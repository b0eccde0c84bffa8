"""What the layer tests share: a bound on rounding, a witness in mpmath that shares no line with a layer, comparisons.

The comparisons count what they reject, so that a test can hand them the layer (none) and its mutants (some).
"""

import ml_dtypes
import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import WORKING_DTYPE, encloses, largest_error, radius, to_floats
from numeric.checker.formats import FORMATS, Precision
from numeric.checker.rounding import Rounded, allowance

FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), np.dtype(np.float64)]


class Rounding:
    """How a layer rounds that stores in `dtype`: `u` per operation in its working precision, `last` at the end.

    `elementary` bounds exp, log, sin, cos and pow: NumPy's own validation set allows at most 4 ulp from the rounded
    value (its float32 log), so 4.5 ulp = 9 u from the true one; 10 u leaves an ulp of the next binade.
    """

    def __init__(self, dtype):
        self.dtype, self.work = dtype, WORKING_DTYPE[dtype]
        self.u = float(np.finfo(self.work).eps) / 2
        self.last = 0.0 if self.work == dtype else float(ml_dtypes.finfo(dtype).eps) / 2
        self.elementary = 10 * self.u
        self.tiny = float(np.finfo(self.work).smallest_normal)  # what one operation loses by underflow, at most
        self.last_tiny = float(ml_dtypes.finfo(dtype).smallest_normal)

    @staticmethod
    def gamma(eps):
        """|product of (1 + d_k)^(+-1) - 1| <= eps / (1 - eps) when sum |d_k| <= eps < 1 (Higham 2002, lemma 3.1)."""
        assert np.all(np.asarray(eps) < 1), "the bound is void here; choose milder inputs"
        return eps / (1 - eps)

    def misses(self, values, balls, error):
        """How many entries lie farther from the truth than `error` before the last rounding allows."""
        assert values.dtype == self.dtype and values.shape == balls.shape, (values.dtype, values.shape)
        allowance = error + self.last * (np.abs(to_floats(balls)) + error) + self.last_tiny
        assert np.isfinite(allowance).all()
        return int(np.count_nonzero(~(largest_error(values, balls) <= allowance)))


@pytest.fixture(params=FLOATS, ids=str)
def dtype(request):
    return request.param


@pytest.fixture
def rounding(dtype):
    return Rounding(dtype)


class Running:
    """Running error analysis of a layer that stores in `dtype` and computes, sums too, in its working precision."""

    def __init__(self, dtype):
        self.dtype, work = dtype, FORMATS[WORKING_DTYPE[dtype].name]
        self.precision = Precision(FORMATS[dtype.name], work, work)

    def exact(self, values):
        return Rounded.exact(values.astype(float) if isinstance(values, np.ndarray) else values, self.precision)

    def given(self, number):
        return Rounded.given(number, self.precision)

    def matmul(self, a, b):
        """The product of two matrices, its sums in any order."""

        def part(rounded, index):
            arrays = (rounded.value, rounded.worst, rounded.square)
            return Rounded(*(array[index] for array in arrays), rounded.precision)

        products = part(a, np.s_[:, :, None]) * part(b, np.s_[None, :, :])
        return part(products.sum(1), np.s_[:, 0, :])

    def transpose(self, a):
        return Rounded(a.value.T, a.worst.T, a.square.T, a.precision)

    def misses(self, values, balls, bound):
        """How many entries lie farther from the truth than `bound`, rounded to the dtype at last, allows."""
        assert values.dtype == self.dtype and values.shape == balls.shape, (values.dtype, values.shape)
        allowed = allowance(bound.returned())
        assert np.isfinite(allowed).all(), "the bound is void here; choose milder inputs"
        return int(np.count_nonzero(~(largest_error(values, balls) <= allowed.reshape(values.shape))))


@pytest.fixture
def running(dtype):
    return Running(dtype)


@pytest.fixture
def sample():
    """sample(shape, dtype, scale): normal numbers, the same in every run, that are exact in `dtype`."""

    def draw(shape, dtype=np.float64, scale=1.0, seed=0):
        return (scale * np.random.default_rng(seed).normal(size=shape)).astype(np.float32).astype(dtype)

    return draw


def to_mpf(array):
    return np.frompyfunc(lambda number: mpmath.mpf(float(number)), 1, 1)(array)


@pytest.fixture
def not_enclosed():
    """not_enclosed(balls, numbers): how many balls miss their mpf number, or are too wide to tell.

    The numbers are themselves known to 1e-45 only: 50 digits below 100, or differences. A ball may be exact.
    """

    def count(balls, numbers):
        assert balls.shape == numbers.shape, (balls.shape, numbers.shape)
        meets = np.frompyfunc(lambda ball, number: ball.overlaps(arb(number, 1e-45)), 2, 1)(balls, numbers).astype(bool)
        return int(np.count_nonzero(~(meets & (radius(balls) < 1e-25))))

    return count


@pytest.fixture
def vanishes():
    """vanishes(balls): every ball holds 0 and is so small that little else fits."""
    return lambda balls: bool(encloses(balls, np.zeros(balls.shape)).all() and (radius(balls) < 1e-25).all())


@pytest.fixture
def gradient_by_differences():
    """The gradient of <cotangent, function(x)> by central differences, step 1e-30, 120 digits: wrong by about 1e-60."""

    def gradient(function, x, cotangent):
        with mpmath.workdps(120):
            x, cotangent, step = to_mpf(x), to_mpf(cotangent), mpmath.mpf(10) ** -30
            result = np.empty(x.shape, dtype=object)
            for index in np.ndindex(x.shape):
                shift = np.full(x.shape, mpmath.mpf(0), dtype=object)
                shift[index] = step
                result[index] = (cotangent * (function(x + shift) - function(x - shift))).sum() / (2 * step)
            return result

    return gradient

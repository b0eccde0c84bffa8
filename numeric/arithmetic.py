"""What differs between floats and Arb balls, so that a layer need not know which of the two it runs on.

Floats are float16, bfloat16 (of ml_dtypes), float32 and float64. Balls are object arrays of `flint.arb`: intervals that
are proved to hold the true value, computed at `precision(bits)`. A layer widens its inputs, computes, and rounds once:

    float16, bfloat16 compute in float32; float32, float64 and balls in themselves.

In place of a ball there may stand a jet: a power series in one variable t, cut off after some order, whose coefficients are
balls (numeric/jets.py). So the same lines of a layer also give enclosures of its derivatives (numeric/derivatives.py).

Arb: F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Comput. 66, 2017.
"""

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import ArrayLike, DTypeLike

from .jets import Jet

BALL = np.dtype(object)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
COMPLEX = np.dtype(np.complex128)
WORKING_DTYPE: dict[np.dtype, np.dtype] = {
    np.dtype(np.float16): np.dtype(np.float32),
    BFLOAT16: np.dtype(np.float32),
    np.dtype(np.float32): np.dtype(np.float32),
    np.dtype(np.float64): np.dtype(np.float64),
    BALL: BALL,
}


class UndecidedComparison(ArithmeticError):
    """Two balls overlap, so neither `a > b` nor `a <= b` is proved; plain Python would call both False."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Let balls carry `bits` bits inside the block, and what they carried before after it, also when it raises.

    The setting is python-flint's `flint.ctx.prec`, one for the whole process: threads share it.
    """
    if isinstance(bits, bool) or operator.index(bits) < 2:
        raise ValueError(
            f"precision: bits is {bits!r}, needed an integer of at least 2; 53 is a double, 113 is 34 digits"
        )
    before = ctx.prec
    ctx.prec = operator.index(bits)
    try:
        yield
    finally:
        ctx.prec = before


@contextmanager
def complex_steps() -> Iterator[None]:
    """Let layers take complex128 inside the block, for one purpose: f(x + i h v) = f(x) + i h Df(x)[v] with a tiny h.

    Decisions and maxima go by real parts (J. R. R. A. Martins, P. Sturdza, J. J. Alonso, ACM Trans. Math. Softw. 29,
    2003). The setting is one for the whole process: threads share it.
    """
    before = WORKING_DTYPE.get(COMPLEX)
    WORKING_DTYPE[COMPLEX] = COMPLEX
    try:
        yield
    finally:
        if before is None:
            del WORKING_DTYPE[COMPLEX]


# Conversion


def is_balls(array: np.ndarray) -> bool:
    """Is it an object array? The layers make sure that such an array holds nothing but balls and jets."""
    return bool(array.dtype == BALL)


def widen(array: np.ndarray) -> np.ndarray:
    """The same numbers in the dtype that a layer computes in; exact, and without a copy where nothing changes."""
    return array.astype(WORKING_DTYPE[array.dtype], copy=False)


def round_to(array: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """The one rounding at the end of a layer; balls stay balls, since rounding them would lose the enclosure."""
    return array if is_balls(array) else array.astype(dtype, copy=False)


def _exact_ball(number: object) -> arb | Jet:
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, (arb, Jet)):
        return number
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return arb(number)
    raise TypeError(
        f"to_balls: found {number!r} of type {type(number).__name__}, needed an integer, a float of at most 64 bits "
        "or a ball; nothing else is sure to convert exactly"
    )


def to_balls(numbers: ArrayLike | arb) -> np.ndarray:
    """An object array of balls, each exactly the float or integer it came from (radius 0); balls and jets are kept."""
    array = np.asarray(numbers)
    if array.dtype.kind in "iu" or array.dtype in (np.float16, np.float32, np.float64):
        return np.fromiter(map(arb, array.ravel().tolist()), dtype=object, count=array.size).reshape(array.shape)
    if is_balls(array) and set(map(type, array.flat)) <= {arb, Jet}:
        return array.copy()
    exact = np.empty(array.shape, dtype=object)
    exact[...] = np.frompyfunc(_exact_ball, 1, 1)(array.astype(object))
    return exact


def convert(numbers: ArrayLike | arb, dtype: DTypeLike) -> np.ndarray:
    """Exact numbers as operands of the arithmetic `dtype`: balls of radius 0 for object, else rounded to that float."""
    array = np.asarray(numbers)
    if np.dtype(dtype) == BALL:
        return to_balls(array)
    if is_balls(array):
        raise TypeError(f"convert: found balls, which cannot become {np.dtype(dtype)} and still enclose; see to_floats")
    return array.astype(dtype, copy=False)


def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """np.zeros, with exact balls for object; NumPy's own would be Python integers, which lack `.exp()` and the rest."""
    return np.full(shape, arb(0), dtype=object) if np.dtype(dtype) == BALL else np.zeros(shape, dtype)


# Products


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of matrices, or of stacks of them that broadcast; without any terms, exact zeros.

    Arb multiplies balls some 25 times as fast as NumPy multiplies objects (F. Johansson, ARITH 2019). Raises ValueError.
    """
    if not is_balls(a) and not is_balls(b):
        return np.asarray(a @ b)
    a, b = (side if is_balls(side) else to_balls(side) for side in (a, b))
    (m, length), n = a.shape[-2:], b.shape[-1]
    if b.shape[-2] != length:
        raise ValueError(f"matmul: a has shape {a.shape} and b {b.shape}, needed as many columns of a as rows of b")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    lefts, rights = np.broadcast_to(a, (*batch, m, length)), np.broadcast_to(b, (*batch, length, n))
    product = np.empty((*batch, m * n), dtype=object)
    for index in np.ndindex(batch):
        left, right = lefts[index].ravel().tolist(), rights[index].ravel().tolist()
        try:
            balls = (arb_mat(m, length, left) * arb_mat(length, n, right)).entries()
        except TypeError:  # there are jets, which Arb's matrices do not take
            return np.asarray(a @ b)
        product[index] = np.fromiter(balls, dtype=object, count=m * n)  # a list would be looked into for arrays
    return product.reshape(*batch, m, n)


# Enclosures


def elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """What a function of balls gives at each place of arrays that broadcast, as an object array; 0-d ones stay arrays."""
    # frompyfunc hands back a bare object for 0-d input; an array keeps .astype and .shape
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)


def midpoint(balls: np.ndarray) -> np.ndarray:
    """The midpoints, as exact balls of the same shape; of a jet, that of its value at t = 0."""
    return elementwise(arb.mid, at_zero(balls))


def at_zero(balls: np.ndarray) -> np.ndarray:
    """The values at t = 0 of jets, as balls; balls as they are."""
    if set(map(type, balls.flat)) <= {arb}:
        return balls
    return elementwise(lambda ball: ball.coefficient(0) if isinstance(ball, Jet) else ball, balls)


def to_floats(balls: np.ndarray, dtype: DTypeLike = np.float64) -> np.ndarray:
    """The midpoints, rounded to a float dtype by way of float64."""
    return elementwise(float, midpoint(balls)).astype(np.float64).astype(dtype)


def radius(balls: np.ndarray) -> np.ndarray:
    """Upper bounds in float64 on how far the true value lies from the midpoint; inf where nothing is known."""
    return elementwise(lambda ball: _float_above(ball.rad()), balls).astype(np.float64)


def encloses(balls: np.ndarray, numbers: ArrayLike) -> np.ndarray:
    """Elementwise: does the ball hold the number? A ball in `numbers` must lie inside as a whole."""
    return elementwise(arb.contains, balls, to_balls(numbers)).astype(bool)


def largest_error(numbers: ArrayLike, balls: np.ndarray) -> np.ndarray:
    """Upper bounds in float64 on |number - true value|, given that each ball holds its true value; NaN gives inf."""
    with precision(max(ctx.prec, 128)):  # lest the subtraction itself costs more than what it measures
        return elementwise(_distance_above, to_balls(numbers), balls).astype(np.float64)


def _distance_above(number: arb, ball: arb) -> float:
    # equal infinities are no error, though their difference is NaN
    return 0.0 if number == ball else _float_above(abs(number - ball).upper())


def _float_above(exact: arb) -> float:
    nearest = float(exact)
    if math.isnan(nearest):
        return math.inf
    return nearest if arb(nearest) >= exact else math.nextafter(nearest, math.inf)


# Comparison


def greater(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """a > b as a boolean array, for jets at t = 0, for complex numbers by their real parts.

    Raises UndecidedComparison where balls overlap or are NaN.

    Plain `a > b` is False for 0 +- 3e-34 against 0, and a relu would go on to return a wrong, exact 0.
    """
    a, b = (at_zero(side) if is_balls(side) else side.real for side in map(np.asarray, (a, b)))
    above = np.asarray(a > b)
    if is_balls(a) or is_balls(b):
        undecided = ~(above | np.asarray(a <= b))
        if undecided.any():
            index = tuple(int(i) for i in np.argwhere(undecided)[0])
            left, right = (np.broadcast_to(np.asarray(side, dtype=object), undecided.shape)[index] for side in (a, b))
            raise UndecidedComparison(
                f"comparison of {left} with {right} is undecided, since the balls overlap; raise the precision "
                "(numeric.arithmetic.precision), or move the input away from the tie "
                f"(at index {index}; {undecided.sum()} such in all)"
            )
    return above


def stable_shift(z: np.ndarray, axis: int) -> np.ndarray:
    """A number per slice to subtract before exp, so that nothing overflows; the axis stays, with length one.

    Floats take the maximum, complex numbers that of their real parts. Softmax is the same after *any* shift
    (proofs/theorems/softmax.py: shift_invariance), so balls need not decide which entry is largest: the largest midpoint
    will do. It is exact, and it never raises.
    """
    return (midpoint(z) if is_balls(z) else z.real).max(axis=axis, keepdims=True)

"""Sinusoidal positional encoding, forward and backward side by side.

    PE(p)_2i   = sin(p w_i)      w_i = base^(-2i/d)
    PE(p)_2i+1 = cos(p w_i)      y = x + PE(start..start+n-1)
                                 dx = dy

    PE(t + k) = T^(k) PE(t)      T^(k) block diagonal, blocks [[cos k w_i, sin k w_i], [-sin k w_i, cos k w_i]]

Shapes: x, y, dx, dy (..., n, d); positions (n,); PE (n, d); frequencies w (d/2,); T^(k) (d, d); d even.
Columns are interleaved and count from 0, base is 10000: Vaswani et al. 2017, section 3.5.
Proved in proofs/theorems/positional_encoding.py: shift_is_rotation, even_columns_are_sines, odd_columns_are_cosines.
"""

from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import DTypeLike

from ..arithmetic import BALL, WORKING_DTYPE, convert, is_balls, round_to, widen, zeros
from ._arguments import (
    DTYPES,
    cotangent_operand,
    integer,
    positive_operand,
    require_array,
    require_even_width,
    require_number,
    require_operand,
    require_positions,
)

LAYER = "positional_encoding"


class Cache(NamedTuple):
    shape: tuple[int, ...]  # of x                                          (..., n, d)
    encoding: np.ndarray  # PE of the rows, in working precision            (n, d)


def forward(x: np.ndarray, base: float | arb = 10000.0, start: int = 0) -> tuple[np.ndarray, Cache]:
    """x plus PE of its row numbers, which count from `start`: the rows before it may have been encoded earlier.

    Raises TypeError or ValueError unless x is real, its last axis even, base > 0 and start an integer of at least 0.
    """
    require_operand(LAYER, "x", x, 2)
    work = widen(x)
    positions = _start(start) + np.arange(x.shape[-2])
    encoding = encode(positions, x.shape[-1], base, dtype=work.dtype)
    return round_to(work + encoding, x.dtype), Cache(x.shape, encoding)


def backward(dy: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dy, y> with respect to x."""
    g = cotangent_operand(LAYER, "dy", dy, cache.encoding, cache.shape)
    # forward: y is x plus something that does not depend on x; so now the gradient passes unchanged
    # (a copy, lest a caller who accumulates into dx changes dy; a copy of dy needs no rounding back)
    return (g if is_balls(g) else dy).copy()


def encode(
    positions: np.ndarray, d_model: int, base: float | arb = 10000.0, dtype: DTypeLike | None = None
) -> np.ndarray:
    """PE(p) for any real positions, fractional and negative ones too, as rows of an (n, d_model) array.

    The result has the dtype of the positions, float64 for integers, or else `dtype`; object gives balls.
    Raises TypeError or ValueError unless positions are real, finite and 1-D, d_model even, the base positive.
    """
    dtype = _result_dtype(positions, dtype)
    theta = angles(positions, d_model, base, dtype)
    encoding = np.empty((len(positions), d_model), dtype=theta.dtype)
    encoding[:, 0::2] = np.sin(theta)
    encoding[:, 1::2] = np.cos(theta)
    return round_to(encoding, dtype)


def frequencies(d_model: int, base: float | arb = 10000.0, dtype: DTypeLike = np.float64) -> np.ndarray:
    """w_i = base^(-2i/d_model), falling from 1, as a (d_model/2,) array; dtype object gives balls."""
    require_even_width(LAYER, "d_model", d_model)
    arithmetic = _angle_dtype(dtype)
    exponents = convert(np.arange(0, d_model, 2), arithmetic) / d_model
    return round_to(positive_operand(LAYER, "base", base, arithmetic) ** -exponents, dtype)


def angles(
    positions: np.ndarray, d_model: int, base: float | arb = 10000.0, dtype: DTypeLike = np.float64
) -> np.ndarray:
    """p w_i as an (n, d_model/2) array, in float64 whatever float `dtype` is wanted, or in balls.

    Rounding p w moves the angle, and so its sine, by up to u p w; in bfloat16 positions 256 and 257 already coincide.
    """
    arithmetic = _angle_dtype(dtype)
    require_positions(LAYER, positions, arithmetic)
    return convert(positions, arithmetic)[:, None] * frequencies(d_model, base, arithmetic)


def rotation(
    offset: float | arb, d_model: int, base: float | arb = 10000.0, dtype: DTypeLike | None = None
) -> np.ndarray:
    """T^(k), the (d_model, d_model) matrix with PE(t + k) = T^(k) PE(t) for every real t; offset k is any real number.

    The dtype follows the rules of `encode`.
    """
    require_number(LAYER, "offset", offset)
    offsets = np.asarray(offset)[None]
    dtype = _result_dtype(offsets, dtype)
    theta = angles(offsets, d_model, base, dtype)[0]
    matrix = zeros((d_model, d_model), theta.dtype)
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(theta)
    matrix[even, odd] = np.sin(theta)
    matrix[odd, even] = -np.sin(theta)
    return round_to(matrix, dtype)


def _start(start: int) -> int:
    first = integer(LAYER, "start", start, "an integer, the position of the first row")
    if isinstance(start, bool) or not 0 <= first < 2**53:
        raise ValueError(f"{LAYER}: start is {start!r}, needed 0 <= start < 2^53, since positions are held in float64")
    return first


def _angle_dtype(dtype: DTypeLike) -> np.dtype:
    return BALL if np.dtype(dtype) == BALL else np.dtype(np.float64)


def _result_dtype(positions: np.ndarray, dtype: DTypeLike | None) -> np.dtype:
    require_array(LAYER, "positions", positions)
    if dtype is None:
        return np.dtype(np.float64) if np.issubdtype(positions.dtype, np.integer) else positions.dtype
    if np.dtype(dtype) not in WORKING_DTYPE:
        raise TypeError(f"{LAYER}: dtype is {np.dtype(dtype)}, needed {DTYPES}")
    return np.dtype(dtype)

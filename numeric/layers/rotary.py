"""Rotary position embedding, forward and backward side by side.

    y_2i   = x_2i cos(p w_i) - x_2i+1 sin(p w_i)        dx_2i   =  dy_2i cos(p w_i) + dy_2i+1 sin(p w_i)
    y_2i+1 = x_2i sin(p w_i) + x_2i+1 cos(p w_i)        dx_2i+1 = -dy_2i sin(p w_i) + dy_2i+1 cos(p w_i)

Shapes: x, y, dx, dy (..., n, d); positions p (n,); frequencies w_i = base^(-2i/d) (d/2,); d even.
Pairs are neighbours (2i, 2i+1), as in Su et al. 2021 (arXiv:2104.09864), equation 34; other code pairs (i, i + d/2).
Proved in proofs/theorems/rotary.py: isometry, score_depends_on_relative_position, rotary_is_inverse_shift.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import convert, round_to, widen
from ._arguments import cotangent_operand, require_even_width, require_operand, require_positions
from .positional_encoding import angles

LAYER = "rotary"


class Cache(NamedTuple):
    cos: np.ndarray  # cos(p w_i)                                           (n, d/2)
    sin: np.ndarray  # sin(p w_i)                                           (n, d/2)


def forward(x: np.ndarray, positions: np.ndarray, base: float | arb = 10000.0) -> tuple[np.ndarray, Cache]:
    """x, each row turned by its position: integers or floats, or balls when x holds balls; any sign, any fraction.

    Raises TypeError or ValueError unless x is real, its last axis even, positions finite and one a row, base > 0.
    """
    require_operand(LAYER, "x", x, 2)
    require_even_width(LAYER, "the last axis of x", x.shape[-1])
    work = widen(x)
    require_positions(LAYER, positions, work.dtype)
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(
            f"{LAYER}: positions has shape {positions.shape}, but x {x.shape} needs {x.shape[-2:-1]}, one for each row"
        )
    theta = angles(positions, x.shape[-1], base, work.dtype)
    cos, sin = convert(np.cos(theta), work.dtype), convert(np.sin(theta), work.dtype)
    return round_to(_turn(work, cos, sin), x.dtype), Cache(cos, sin)


def backward(dy: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dy, y> with respect to x."""
    cos, sin = cache
    require_operand(LAYER, "dy", dy, 2)
    n, pairs = cos.shape
    if dy.shape[-2:] != (n, 2 * pairs):
        raise ValueError(f"{LAYER}: dy has shape {dy.shape}, needed (..., {n}, {2 * pairs}), the shape of the output")
    g = cotangent_operand(LAYER, "dy", dy, cos, dy.shape)
    # forward: each pair was turned by p w_i; a rotation's transpose is its inverse, so now it turns back
    return round_to(_turn(g, cos, -sin), dy.dtype)


def _turn(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    even, odd = x[..., 0::2], x[..., 1::2]
    y = np.empty_like(x)
    y[..., 0::2] = even * cos - odd * sin
    y[..., 1::2] = even * sin + odd * cos
    return y

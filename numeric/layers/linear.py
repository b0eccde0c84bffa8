"""A linear map of the last axis with a bias, forward and backward side by side.

    y = x W + b                 dx = dy W^T         dW = x^T dy         db = sum dy

Shapes: x, dx (..., d); W, dW (d, e); b, db (e,); y, dy (..., e). Leading axes count as rows: x^T and sums run over all.
W maps rows from the right, as in Vaswani et al. 2017, equation 2; other code keeps W^T.
Proved in proofs/theorems/feed_forward_gradients.py: gradient_of_second_weights, gradient_of_second_bias, gradient_of_input.
(There it is the second of two linear maps; and the first of them, where the gradient goes on to the input.)
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import matmul, round_to, widen
from ._arguments import cotangent_operand, require_axis, require_operand
from ._parameters import array_operand, rows_of, sum_of_rows

LAYER = "linear"


class Cache(NamedTuple):
    x: np.ndarray  # in working precision; may share the input's memory     (..., d)
    W: np.ndarray  # in the arithmetic of x; likewise                       (d, e)


def forward(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. Raises TypeError or ValueError unless x is real, d not 0, W and b fit x."""
    require_operand(LAYER, "x", x)
    require_axis(LAYER, "x", x, -1)
    require_operand(LAYER, "W", W, 2)
    work = widen(x)
    W = array_operand(LAYER, "W", W, (x.shape[-1], W.shape[-1]), work.dtype)
    b = array_operand(LAYER, "b", b, W.shape[-1:], work.dtype)
    y = matmul(rows_of(work), W)
    y += b
    return round_to(y.reshape(*x.shape[:-1], W.shape[-1]), x.dtype), Cache(work, W)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of <dy, y> with respect to x, W and b."""
    x, W = cache
    g = rows_of(cotangent_operand(LAYER, "dy", dy, x, (*x.shape[:-1], W.shape[-1])))
    rows = rows_of(x)
    # forward: x_a reached y_k by W_ak, in every row alike; so now y_k's cotangent returns to x_a by the same W_ak, and
    # W and b, which every row shared, collect from all of them
    dx = matmul(g, W.T).reshape(x.shape)
    dW = matmul(rows.T, g)
    return round_to(dx, dy.dtype), round_to(dW, dy.dtype), round_to(sum_of_rows(g), dy.dtype)

"""The position-wise feed-forward layer: linear, activation, linear; forward and backward side by side.

    a = x W_1 + b_1             dx = da W_1^T           dW_1 = x^T da           db_1 = sum da
    h = f(a)                    da = dh f'(a)           dh = dy W_2^T
    y = h W_2 + b_2                                     dW_2 = h^T dy           db_2 = sum dy

Shapes: x, dx (..., d); W_1 (d, d_ff); b_1 (d_ff,); W_2 (d_ff, e); b_2 (e,); a, h (..., d_ff); y, dy (..., e); gradients
as what they belong to. Leading axes count as rows. f is relu in Vaswani et al. 2017, equation 2, with e = d.
Proved in proofs/theorems/feed_forward_gradients.py: gradient_of_input, gradient_of_first_weights, gradient_of_first_bias, gradient_of_second_weights, gradient_of_second_bias.
(For relu away from its kink; the derivatives of the other functions are those of activations.py.)
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import round_to, widen
from . import activations, linear
from ._arguments import cotangent_operand, require_axis, require_operand
from ._parameters import array_operand

LAYER = "feed_forward"

ACTIVATIONS = tuple(name for name, function in activations.FUNCTIONS.items() if len(function.inputs) == 1)


class Cache(NamedTuple):
    first: linear.Cache  # x and W_1                                        (..., d), (d, d_ff)
    hidden: activations.Cache  # a                                          (..., d_ff)
    second: linear.Cache  # h and W_2                                       (..., d_ff), (d_ff, e)


def forward(
    x: np.ndarray, W_1: np.ndarray, b_1: np.ndarray, W_2: np.ndarray, b_2: np.ndarray, activation: str = "relu"
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. Raises TypeError or ValueError unless x is real, d and d_ff not 0, and all fit.

    With relu, raises UndecidedComparison where a ball of a holds 0 and is not 0.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"{LAYER}: activation is {activation!r}, needed one of {', '.join(ACTIVATIONS)}")
    require_operand(LAYER, "x", x)
    require_axis(LAYER, "x", x, -1)
    require_operand(LAYER, "W_1", W_1, 2)
    require_axis(LAYER, "W_1", W_1, -1)
    require_operand(LAYER, "W_2", W_2, 2)
    work, hidden, width = widen(x), W_1.shape[-1], W_2.shape[-1]
    W_1 = array_operand(LAYER, "W_1", W_1, (x.shape[-1], hidden), work.dtype)
    b_1 = array_operand(LAYER, "b_1", b_1, (hidden,), work.dtype)
    W_2 = array_operand(LAYER, "W_2", W_2, (hidden, width), work.dtype)
    b_2 = array_operand(LAYER, "b_2", b_2, (width,), work.dtype)
    a, first = linear.forward(work, W_1, b_1)
    h, middle = activations.forward(activation, a)
    y, second = linear.forward(h, W_2, b_2)
    return round_to(y, x.dtype), Cache(first, middle, second)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of <dy, y> with respect to x, W_1, b_1, W_2 and b_2."""
    h, W_2 = cache.second
    g = cotangent_operand(LAYER, "dy", dy, h, (*h.shape[:-1], W_2.shape[-1]))
    # forward: x went through three layers; so now dy goes back through them, the last one first
    dh, dW_2, db_2 = linear.backward(g, cache.second)
    (da,) = activations.backward(dh, cache.hidden)
    dx, dW_1, db_1 = linear.backward(da, cache.first)
    return (
        round_to(dx, dy.dtype),
        round_to(dW_1, dy.dtype),
        round_to(db_1, dy.dtype),
        round_to(dW_2, dy.dtype),
        round_to(db_2, dy.dtype),
    )

"""RMS normalisation of the last axis, forward and backward side by side.

    x^ = x / r                  dx = (g - x^ * mean(g * x^)) / r                g = gain * dy
    y  = gain * x^              dgain = sum dy * x^

    r = sqrt(mean x^2 + eps)

Shapes: x, y, dx, dy (..., d); gain, dgain (d,); eps is a number. Means run over the d features of a row, sums over all
rows. As Zhang & Sennrich 2019 (arXiv:1910.07467), section 4, with eps under the root; no mean is subtracted, no bias added.
Proved in proofs/theorems/rms_norm_gradients.py: vjp, gain_gradient.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import round_to, widen
from ._arguments import cotangent_operand, require_axis, require_operand
from ._parameters import array_operand, finite_operand, require_root, sum_of_rows

LAYER = "rms_norm"


class Cache(NamedTuple):
    x_hat: np.ndarray  # in working precision                               like x
    root: np.ndarray  # r                                                   (..., 1)
    gain: np.ndarray  # in the arithmetic of x_hat                          (d,)


def forward(x: np.ndarray, gain: np.ndarray, eps: float | arb = 1e-5) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs; any real eps with mean x^2 + eps > 0 in every row.

    Raises TypeError or ValueError unless x is real, its last axis not empty, gain fits it, mean x^2 + eps > 0, and
    UndecidedComparison where balls leave that open.
    """
    require_operand(LAYER, "x", x)
    require_axis(LAYER, "x", x, -1)
    work = widen(x)
    gain = array_operand(LAYER, "gain", gain, x.shape[-1:], work.dtype)
    radicand = (work * work).mean(-1, keepdims=True) + finite_operand(LAYER, "eps", eps, work.dtype)
    require_root(LAYER, "mean x^2 + eps", radicand)
    root = np.sqrt(radicand)
    x_hat = work / root
    return round_to(x_hat * gain, x.dtype), Cache(x_hat, root, gain)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of <dy, y> with respect to x and gain."""
    x_hat, root, gain = cache
    g = cotangent_operand(LAYER, "dy", dy, x_hat)
    dgain = g * x_hat
    dx = g * gain
    # forward: x was divided by its own length, so x^ hardly changes when x moves along x^; so now g loses its share
    # along x^ (all of it but for eps)
    dx -= x_hat * (dx * x_hat).mean(-1, keepdims=True)
    dx /= root
    return round_to(dx, dy.dtype), round_to(sum_of_rows(dgain), dy.dtype)

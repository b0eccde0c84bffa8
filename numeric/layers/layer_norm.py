"""Layer normalisation of the last axis, forward and backward side by side.

    x^ = (x - mean x) / r       dx = (g - mean g - x^ * mean(g * x^)) / r       g = gain * dy
    y  = gain * x^ + bias       dgain = sum dy * x^                             dbias = sum dy

    r = sqrt(v + eps)           v = mean (x - mean x)^2

Shapes: x, y, dx, dy (..., d); gain, bias, dgain, dbias (d,); eps is a number. Means run over the d features of a row,
sums over all rows. The variance v is the biased one, and eps stands under the root: Ba et al. 2016, section 3.
Proved in proofs/theorems/layer_norm_gradients.py: vjp, gain_gradient, bias_gradient.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import round_to, widen
from ._arguments import cotangent_operand, require_axis, require_operand
from ._parameters import array_operand, finite_operand, require_root, sum_of_rows

LAYER = "layer_norm"


class Cache(NamedTuple):
    x_hat: np.ndarray  # in working precision                               like x
    root: np.ndarray  # r                                                   (..., 1)
    gain: np.ndarray  # in the arithmetic of x_hat                          (d,)


def forward(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: float | arb = 1e-5) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs; any real eps with v + eps > 0 in every row.

    Raises TypeError or ValueError unless x is real, its last axis not empty, gain and bias fit it, v + eps > 0, and
    UndecidedComparison where balls leave that open. A row with an infinite entry is NaN, and leaves the others alone.
    """
    require_operand(LAYER, "x", x)
    require_axis(LAYER, "x", x, -1)
    work = widen(x)
    gain, bias = (
        array_operand(LAYER, name, array, x.shape[-1:], work.dtype) for name, array in (("gain", gain), ("bias", bias))
    )
    # centred first: mean x^2 - (mean x)^2 would cancel
    x_hat = work - work.mean(-1, keepdims=True)
    radicand = (x_hat * x_hat).mean(-1, keepdims=True) + finite_operand(LAYER, "eps", eps, work.dtype)
    require_root(LAYER, "v + eps", radicand)
    root = np.sqrt(radicand)
    x_hat /= root
    y = x_hat * gain
    y += bias
    return round_to(y, x.dtype), Cache(x_hat, root, gain)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of <dy, y> with respect to x, gain and bias."""
    x_hat, root, gain = cache
    dbias = cotangent_operand(LAYER, "dy", dy, x_hat)
    dgain = dbias * x_hat
    dx = dbias * gain
    # forward: x lost its mean and was divided by r, so x^ does not change when x moves along a constant vector, and
    # hardly when x moves along x^; so now g loses its shares along both
    overlap = (dx * x_hat).mean(-1, keepdims=True)
    dx -= dx.mean(-1, keepdims=True)
    dx -= x_hat * overlap
    dx /= root
    return round_to(dx, dy.dtype), round_to(sum_of_rows(dgain), dy.dtype), round_to(sum_of_rows(dbias), dy.dtype)

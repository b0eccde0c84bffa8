"""Logarithm of softmax along one axis, forward and backward side by side.

    y = z / T - log sum exp(z / T)         dz = (dy - s * sum dy) / T        s = exp y

Shapes: z, y, s, dy, dz alike, any number of axes; sums run along `axis` (n entries); the temperature T is a number.
The maximum is subtracted first, which changes nothing but the overflow.
Proved in proofs/theorems/softmax_derivatives.py: log_softmax_jacobian, log_softmax_is_log_of_softmax.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import round_to, stable_shift, widen
from ._arguments import cotangent_operand, positive_operand, require_axis, require_operand

LAYER = "log_softmax"


class Cache(NamedTuple):
    s: np.ndarray  # softmax of z / T, in working precision                 like z
    axis: int
    temperature: np.ndarray  # in the arithmetic of s                       ()


def forward(z: np.ndarray, axis: int = -1, temperature: float | arb = 1.0) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. Raises TypeError or ValueError unless z is real, `axis` not empty, T positive.

    A slice that is -inf throughout has no softmax: its entries are NaN.
    """
    require_operand(LAYER, "z", z)
    require_axis(LAYER, "z", z, axis)
    work = widen(z)
    t = positive_operand(LAYER, "temperature", temperature, work.dtype)
    logits = (work - stable_shift(work, axis)) / t
    weights = np.exp(logits)
    total = weights.sum(axis, keepdims=True)
    return round_to(logits - np.log(total), z.dtype), Cache(weights / total, axis, t)


def backward(dy: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dy, y> with respect to z."""
    s, axis, t = cache
    g = cotangent_operand(LAYER, "dy", dy, s)
    # forward: every entry had the same log-sum-exp subtracted, whose gradient is s; so now the
    # cotangents of all entries meet in their sum, and s hands it out
    return round_to((g - s * g.sum(axis, keepdims=True)) / t, dy.dtype)


def jvp(dz: np.ndarray, cache: Cache) -> np.ndarray:
    """The derivative of y along dz, (dz - sum(s * dz)) / T; not `backward`, since this Jacobian is not symmetric."""
    s, axis, t = cache
    v = cotangent_operand(LAYER, "dz", dz, s)
    return round_to((v - (s * v).sum(axis, keepdims=True)) / t, dz.dtype)


def jacobian(cache: Cache) -> np.ndarray:
    """dy_i/dz_j = (delta_ij - s_j) / T, as an array of shape (..., n, n): `axis` moved last and doubled."""
    s = np.moveaxis(cache.s, cache.axis, -1)
    derivative = np.repeat(-s[..., None, :], s.shape[-1], axis=-2)
    diagonal = np.arange(s.shape[-1])
    derivative[..., diagonal, diagonal] += 1
    return derivative / cache.temperature

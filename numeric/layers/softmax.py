"""Softmax along one axis, forward and backward side by side.

    s = exp(z / T) / sum exp(z / T)        dz = s * (ds - sum(s * ds)) / T

Shapes: z, s, ds, dz alike, any number of axes; sums run along `axis` (n entries); the temperature T is a number.
The maximum is subtracted first, which changes nothing but the overflow.
Proved in proofs/theorems/softmax_jacobian.py: vjp, jvp, jacobian, symmetric, rows_sum_to_zero.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import round_to, stable_shift, widen
from ._arguments import cotangent_operand, positive_operand, require_axis, require_operand

LAYER = "softmax"


class Cache(NamedTuple):
    s: np.ndarray  # before its last rounding; may share the output's memory  like z
    axis: int
    temperature: np.ndarray  # in the arithmetic of s                       ()


def forward(z: np.ndarray, axis: int = -1, temperature: float | arb = 1.0) -> tuple[np.ndarray, Cache]:
    """s and what `backward` needs. Raises TypeError or ValueError unless z is real, `axis` not empty, T positive.

    A slice that is -inf throughout has no softmax: its entries are NaN.
    """
    require_operand(LAYER, "z", z)
    require_axis(LAYER, "z", z, axis)
    work = widen(z)
    t = positive_operand(LAYER, "temperature", temperature, work.dtype)
    weights = np.exp((work - stable_shift(work, axis)) / t)
    s = weights / weights.sum(axis, keepdims=True)
    return round_to(s, z.dtype), Cache(s, axis, t)


def backward(ds: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <ds, s> with respect to z."""
    s, axis, t = cache
    g = cotangent_operand(LAYER, "ds", ds, s)
    # forward: z_i raised s_i, and through the common denominator lowered all of s in proportion;
    # so ds loses its mean under s before s scales it
    dz = s * (g - (s * g).sum(axis, keepdims=True)) / t
    return round_to(dz, ds.dtype)


def jvp(dz: np.ndarray, cache: Cache) -> np.ndarray:
    """The derivative of s along dz. The Jacobian is symmetric, so it is the same formula as `backward`."""
    return round_to(backward(cotangent_operand(LAYER, "dz", dz, cache.s), cache), dz.dtype)


def jacobian(cache: Cache) -> np.ndarray:
    """ds_i/dz_j = s_i (delta_ij - s_j) / T, as an array of shape (..., n, n): `axis` moved last and doubled."""
    s = np.moveaxis(cache.s, cache.axis, -1)
    derivative = -s[..., :, None] * s[..., None, :]
    diagonal = np.arange(s.shape[-1])
    derivative[..., diagonal, diagonal] += s
    return derivative / cache.temperature

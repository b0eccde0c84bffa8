"""A residual connection around a sublayer f, and the layer normalisation LN after or before it; both ways side by side.

    post    s = x + f(x)      y = LN(s)           ds = LN'(s)^T dy      dx = ds + f'(x)^T ds
    pre     u = LN(x)         y = x + f(u)        du = f'(u)^T dy       dx = dy + LN'(x)^T du

Shapes: x, y, f(u), dx, dy (..., d) alike; gain, bias, dgain, dbias (d,). With a mask `keep` and a rate, dropout follows
f. Post-norm: Vaswani et al. 2017, section 3.1, and 5.4 for the dropout. Pre-norm: Xiong et al. 2020 (arXiv:2002.04745).
f sees the dtype of x, and its backward pass that of dy; what they return is dropped, added and normalised in working
precision, and y, as each gradient, is rounded once.
Proved in proofs/theorems/residual_norm.py: post_norm_along_a_curve, pre_norm_along_a_curve.
Proved in proofs/theorems/residual.py: residual_jacobian, residual_along_a_curve, residual_may_cancel.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import is_balls, round_to, widen
from . import dropout, layer_norm
from ._arguments import cotangent_operand, require_axis, require_operand
from ._parameters import array_operand

LAYER = "residual"
PLACEMENTS = ("post", "pre")

Sublayer = Callable[[np.ndarray], tuple[np.ndarray, Any]]
Pull = Callable[[np.ndarray, Any], tuple[Any, ...]]


class Cache(NamedTuple):
    placement: str
    norm: layer_norm.Cache
    inner: Any  # what the sublayer cached
    thinned: dropout.Cache | None  # None without a mask


def forward(
    x: np.ndarray,
    sublayer: Sublayer,
    gain: np.ndarray,
    bias: np.ndarray,
    placement: str = "post",
    eps: float | arb = 1e-5,
    keep: np.ndarray | None = None,
    rate: float | arb = 0.0,
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. `sublayer(u)` returns f(u) and its own cache, as the forward pass of a layer does.

    It must not write to u, nor is what it returns written to. Without a mask nothing is dropped, whatever the rate.
    Raises TypeError or ValueError unless x is real, its last axis not empty, f(u) of the shape and arithmetic of x and
    placement one of "post" and "pre"; and as layer_norm.forward and dropout.forward.
    """
    require_operand(LAYER, "x", x)
    require_axis(LAYER, "x", x, -1)
    if placement == "post":
        total, inner, thinned = _plus_branch(x, x, sublayer, keep, rate)
        y, norm = layer_norm.forward(total, gain, bias, eps)
    elif placement == "pre":
        u, norm = layer_norm.forward(x, gain, bias, eps)
        y, inner, thinned = _plus_branch(x, u, sublayer, keep, rate)
    else:
        raise ValueError(f"{LAYER}: placement is {placement!r}, needed one of {', '.join(PLACEMENTS)}")
    return round_to(y, x.dtype), Cache(placement, norm, inner, thinned)


def backward(dy: np.ndarray, cache: Cache, pull: Pull) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[Any, ...]]:
    """The gradients of <dy, y> with respect to x, gain and bias, and what else the sublayer's backward pass gives.

    `pull(df, inner)` returns a tuple, first the gradient with respect to u, then any others, as the backward pass of a
    layer does; the others, those of its parameters, are handed on as they are. It must not write to df.
    """
    g = cotangent_operand(LAYER, "dy", dy, cache.norm.x_hat)
    # forward: x went two ways, straight on and through f; so now two cotangents come back to it, and are added
    if cache.placement == "post":
        ds, dgain, dbias = layer_norm.backward(g, cache.norm)
        du, others = _through_branch(ds, dy.dtype, cache, pull)
        dx = ds + du  # not in place: pull may have kept ds
    else:
        du, others = _through_branch(g, dy.dtype, cache, pull)
        dx, dgain, dbias = layer_norm.backward(du, cache.norm)
        dx += g
    return round_to(dx, dy.dtype), round_to(dgain, dy.dtype), round_to(dbias, dy.dtype), others


def _plus_branch(
    x: np.ndarray, u: np.ndarray, sublayer: Sublayer, keep: np.ndarray | None, rate: float | arb
) -> tuple[np.ndarray, Any, dropout.Cache | None]:
    """x + f(u) in working precision, in an array of its own, and what the branch cached."""
    output, inner = sublayer(u)
    work = widen(x)
    f = _operand("the sublayer's output", output, work)
    if keep is None:
        return work + f, inner, None
    total, thinned = dropout.forward(f, keep, rate)
    total += work
    return total, inner, thinned


def _through_branch(df: np.ndarray, dtype: np.dtype, cache: Cache, pull: Pull) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The gradient that comes back through dropout and f, in the arithmetic of df, and what else pull returns."""
    if cache.thinned is not None:
        df = dropout.backward(df, cache.thinned)
    gradients = pull(round_to(df, dtype), cache.inner)
    if not isinstance(gradients, tuple) or not gradients:
        raise TypeError(
            f"{LAYER}: pull returned a {type(gradients).__name__}, needed a tuple of at least one entry, first the "
            "gradient with respect to the input of the sublayer"
        )
    du, *others = gradients
    return _operand("the gradient from pull", du, df), tuple(others)


def _operand(name: str, array: np.ndarray, like: np.ndarray) -> np.ndarray:
    """What a sublayer returned, as an operand of the shape and arithmetic of `like`."""
    operand = array_operand(LAYER, name, array, like.shape, like.dtype)
    if is_balls(like) and not is_balls(array):
        raise TypeError(
            f"{LAYER}: {name} has dtype {array.dtype}, but it was computed from balls, so the result would enclose "
            "nothing; needed balls, numeric.arithmetic.to_balls for a constant"
        )
    return operand

"""Rounding bounds for layers made of several products, by running error analysis (numeric/checker/rounding.py)."""

import math
from collections.abc import Callable

import numpy as np

from ..checker.rounding import Rounded


def moved(rounded: Rounded, function: Callable[[np.ndarray], np.ndarray]) -> Rounded:
    """The same numbers elsewhere: transposed, cut, repeated."""
    value, worst, square = (function(part) for part in (rounded.value, rounded.worst, rounded.square))
    return Rounded(value, worst, square, rounded.precision)


def chosen(where: np.ndarray, rounded: Rounded, otherwise: np.ndarray | float) -> Rounded:
    """The numbers where that holds, elsewhere exact ones."""
    value, worst, square = (
        np.where(where, part, other)
        for part, other in ((rounded.value, otherwise), (rounded.worst, 0.0), (rounded.square, 0.0))
    )
    return Rounded(value, worst, square, rounded.precision)


def transposed(rounded: Rounded) -> Rounded:
    return moved(rounded, lambda x: x.swapaxes(-1, -2))


def column(rounded: Rounded) -> Rounded:
    return moved(rounded, lambda x: x[..., :, None])


def row(rounded: Rounded) -> Rounded:
    return moved(rounded, lambda x: x[..., None, :])


def product(a: Rounded, b: Rounded) -> Rounded:
    """a @ b, summed in any order."""
    left, right = moved(a, lambda x: x[..., :, None, :]), moved(b, lambda x: x.swapaxes(-1, -2)[..., None, :, :])
    return moved((left * right).sum(-1), lambda x: x[..., 0])


def exact(number: np.ndarray | float, like: Rounded) -> Rounded:
    return Rounded.exact(number, like.precision)


def root(number: int, like: Rounded) -> Rounded:
    """The square root of a number, rounded."""
    value = math.sqrt(number)
    return Rounded.exact(value, like.precision).loosened(np.asarray(2 * like.precision.stored.unit * value))


def mean(rounded: Rounded) -> Rounded:
    """Over the last axis, which stays."""
    return rounded.sum(-1) / exact(rounded.value.shape[-1], rounded)


def total(rounded: Rounded) -> Rounded:
    """The sum over all axes but the last."""
    rows = moved(rounded, lambda x: x.reshape(-1, x.shape[-1]))
    return moved(rows.sum(0), lambda x: x[0])


def of_weights(inputs: Rounded, cotangent: Rounded) -> Rounded:
    """The sum over all rows of input times cotangent."""
    left, right = (moved(each, lambda x: x.reshape(-1, x.shape[-1])) for each in (inputs, cotangent))
    return product(transposed(left), right)


# Attention


def kept_softmax(scores: Rounded, keep: np.ndarray | bool = True) -> Rounded:
    """The softmax of each row over the keys that are kept; zeros where none is."""
    keep = np.broadcast_to(keep, scores.value.shape)
    top = np.where(keep, scores.value, -np.inf).max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    weights = chosen(keep, scores, top).below_maximum(-1).exp(ceiling=1.0) * exact(keep, scores)
    return weights / chosen(np.asarray(keep.any(-1, keepdims=True)), weights.sum(-1), 1.0)


def softmax_cotangent(p: Rounded, g: Rounded, mean: Rounded | None = None) -> Rounded:
    """p * (g - sum(p * g)), or with that sum found in another way."""
    return p * (g - ((p * g).sum(-1) if mean is None else mean))


def summed_to(gradient: Rounded, shape: tuple[int, ...]) -> Rounded:
    """The sum over the axes along which an argument of that shape was shared."""
    while gradient.value.ndim > len(shape):
        gradient = moved(gradient.sum(0), lambda x: x[0])
    for axis, size in enumerate(shape):
        if size == 1 != gradient.value.shape[axis]:
            gradient = gradient.sum(axis)
    return gradient


def attention_output(
    q: Rounded, k: Rounded, v: Rounded, keep: np.ndarray | bool = True
) -> tuple[Rounded, Rounded, Rounded]:
    """y; and q / sqrt(d_k) and the weights p, which the backward pass goes on with."""
    scaled = q / root(q.value.shape[-1], q)
    p = kept_softmax(product(scaled, transposed(k)), keep)
    return product(p, v), scaled, p


def attention(
    q: Rounded, k: Rounded, v: Rounded, dy: Rounded, keep: np.ndarray | bool = True
) -> tuple[Rounded, Rounded, Rounded, Rounded]:
    """y, dq, dk, dv of arguments that may themselves be rounded."""
    y, scaled, p = attention_output(q, k, v, keep)
    ds = softmax_cotangent(p, product(dy, transposed(v)), (dy * y).sum(-1))
    dq, dk, dv = (
        product(ds, k) / root(q.value.shape[-1], q),
        product(transposed(ds), scaled),
        product(transposed(p), dy),
    )
    dq, dk, dv = (summed_to(g, of.value.shape) for g, of in ((dq, q), (dk, k), (dv, v)))
    return y, dq, dk, dv


def heads_of(z: np.ndarray, n_groups: int, group_size: int) -> np.ndarray:
    """Columns (f R + w) width and following as head w of group f: (..., n, F R width) to (..., F, R, n, width)."""
    width = z.shape[-1] // (n_groups * group_size)
    heads = [z[..., at : at + width] for at in range(0, z.shape[-1], width)]
    groups = [np.stack(heads[at : at + group_size], -3) for at in range(0, len(heads), group_size)]
    return np.stack(groups, -4)


def concatenated(heads: np.ndarray) -> np.ndarray:
    n_groups, group_size = heads.shape[-4:-2]
    return np.concatenate([heads[..., f, w, :, :] for f in range(n_groups) for w in range(group_size)], -1)

"""Rounding bounds for layers made of several products, by running error analysis (numeric/checker/rounding.py)."""

import math

import numpy as np

from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded


def exact(array, dtype):
    """Numbers that a layer holds exactly, in the precision that it computes in when they are of that dtype."""
    return Rounded.exact(array, precision_of(np.dtype(dtype).name).widened())


def moved(rounded, function):
    """The same numbers elsewhere: transposed, cut, repeated."""
    parts = (function(part) for part in (rounded.value, rounded.worst, rounded.square))
    return Rounded(*parts, rounded.precision)


def transposed(rounded):
    return moved(rounded, lambda x: x.swapaxes(-1, -2))


def product(a, b):
    """a @ b, summed in any order."""
    left, right = moved(a, lambda x: x[..., :, None, :]), moved(b, lambda x: x.swapaxes(-1, -2)[..., None, :, :])
    return moved((left * right).sum(-1), lambda x: x[..., 0])


def root(number, like):
    """The square root of a number, rounded."""
    value = math.sqrt(number)
    return Rounded.exact(value, like.precision).loosened(np.asarray(2 * like.precision.stored.unit * value))


def kept_softmax(scores, keep=True):
    """The softmax of each row over the keys that are kept; zeros where none is."""
    keep = np.broadcast_to(keep, scores.value.shape)
    top = np.where(keep, scores.value, -np.inf).max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    precision = scores.precision
    scores = Rounded(
        np.where(keep, scores.value, top),
        np.where(keep, scores.worst, 0.0),
        np.where(keep, scores.square, 0.0),
        precision,
    )
    weights = scores.below_maximum(-1).exp(ceiling=1.0) * Rounded.exact(keep, precision)
    total, some = weights.sum(-1), keep.any(-1, keepdims=True)
    return weights / Rounded(np.where(some, total.value, 1.0), total.worst, total.square, precision)


def softmax_cotangent(p, g, mean=None):
    """p * (g - sum(p * g)), or with that sum found in another way."""
    return p * (g - ((p * g).sum(-1) if mean is None else mean))


def summed_to(gradient, shape):
    """The sum over the axes along which an argument of that shape was shared."""
    while gradient.value.ndim > len(shape):
        gradient = moved(gradient.sum(0), lambda x: x[0])
    for axis, size in enumerate(shape):
        if size == 1 != gradient.value.shape[axis]:
            gradient = gradient.sum(axis)
    return gradient


def attention(q, k, v, dy, keep=True):
    """y, dq, dk, dv of arguments that may themselves be rounded."""
    d_k = root(q.value.shape[-1], q)
    scaled = q / d_k
    p = kept_softmax(product(scaled, transposed(k)), keep)
    y = product(p, v)
    ds = softmax_cotangent(p, product(dy, transposed(v)), (dy * y).sum(-1))
    dq, dk, dv = product(ds, k) / d_k, product(transposed(ds), scaled), product(transposed(p), dy)
    return y, *(summed_to(g, of.value.shape) for g, of in ((dq, q), (dk, k), (dv, v)))


def heads_of(z, n_groups, group_size):
    """Columns (f R + w) width and following as head w of group f: (..., n, F R width) to (..., F, R, n, width)."""
    width = z.shape[-1] // (n_groups * group_size)
    heads = [z[..., at : at + width] for at in range(0, z.shape[-1], width)]
    groups = [np.stack(heads[at : at + group_size], -3) for at in range(0, len(heads), group_size)]
    return np.stack(groups, -4)


def side_by_side(heads):
    n_groups, group_size = heads.shape[-4:-2]
    return np.concatenate([heads[..., f, w, :, :] for f in range(n_groups) for w in range(group_size)], -1)


def of_weights(inputs, cotangent):
    """The sum over all rows of input times cotangent."""
    left, right = (moved(each, lambda x: x.reshape(-1, x.shape[-1])) for each in (inputs, cotangent))
    return product(transposed(left), right)


def total(rounded):
    """The sum over all axes but the last."""
    rows = moved(rounded, lambda x: x.reshape(-1, x.shape[-1]))
    return moved(rows.sum(0), lambda x: x[0])


def multi_head(x, m, w_q, w_k, w_v, w_o, dy, n_heads, n_groups, keep=True, biases=None):
    """y, dx, dm, dw_q, dw_k, dw_v, dw_o; and with biases db_q, db_k, db_v, db_o."""
    sizes = n_heads // n_groups, 1, 1
    projected = product(x, w_q), product(m, w_k), product(m, w_v)
    if biases is not None:
        projected = tuple(z + b for z, b in zip(projected, biases, strict=False))
    inner = [moved(z, lambda z, r=r: heads_of(z, n_groups, r)) for z, r in zip(projected, sizes, strict=True)]
    dh = moved(product(dy, transposed(w_o)), lambda z: heads_of(z, n_groups, sizes[0]))
    keep = np.broadcast_to(keep, (*x.value.shape[:-1], m.value.shape[-2]))[..., None, None, :, :]
    heads, dq, dk, dv = (moved(each, side_by_side) for each in attention(*inner, dh, keep))
    dx, dm = product(dq, transposed(w_q)), product(dk, transposed(w_k)) + product(dv, transposed(w_v))
    weights = of_weights(x, dq), of_weights(m, dk), of_weights(m, dv), of_weights(heads, dy)
    y = product(heads, w_o)
    if biases is None:
        return y, dx, dm, *weights
    return y + biases[3], dx, dm, *weights, total(dq), total(dk), total(dv), total(dy)

"""Rounding bounds for layers made of several products: those that the agreement uses too, and multi-head attention in groups."""

import numpy as np

from numeric.agreement.bounds import (
    attention,
    heads_of,
    kept_softmax,
    moved,
    of_weights,
    product,
    root,
    softmax_cotangent,
    summed_to,
    total,
    transposed,
)
from numeric.agreement.bounds import concatenated as side_by_side
from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded

__all__ = [
    "attention", "exact", "heads_of", "kept_softmax", "moved", "multi_head", "of_weights", "product", "root", "side_by_side",
    "softmax_cotangent", "summed_to", "total", "transposed",
]  # fmt: skip


def exact(array, dtype):
    """Numbers that a layer holds exactly, in the precision that it computes in when they are of that dtype."""
    return Rounded.exact(array, precision_of(np.dtype(dtype).name).widened())


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

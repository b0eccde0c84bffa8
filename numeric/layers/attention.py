"""Scaled dot-product attention, forward and backward side by side.

    s = q k^T / sqrt(d_k)        dv = p^T dy
    p = softmax of the rows      ds = p * (dy v^T - sum_c(dy * y))
    y = p v                      dq = ds k / sqrt(d_k)        dk = ds^T q / sqrt(d_k)

Shapes: q, dq (..., n_q, d_k); k, dk (..., n_k, d_k); v, dv (..., n_k, d_v); y, dy (..., n_q, d_v); s, p, ds (..., n_q, n_k).
The axes before the last two broadcast, so that queries may share keys; a shared gradient is the sum over those who share.
A mask keep is boolean and broadcasts to s; True is a key that is kept, and masked scores are left out of the softmax
(masking.py). A row that keeps no key gives zeros: y = 0 and dq = 0 there, and it adds nothing to dk and dv.
The sum over keys of p * (dy v^T) is the sum over columns of dy * y (attention_identities.py: flash_row_term), so that
`backward` holds two arrays of the shape of s and no more: p and ds.
Proved in proofs/theorems/attention_gradients.py: gradient_of_values, gradient_of_queries, gradient_of_keys.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import matmul, round_to, widen
from ._arguments import cotangent_operand, require_keep
from ._attention import require_attention, root_of_width, scores_shape, summed_over_shared
from .masking import scores_to_weights

LAYER = "attention"


class Cache(NamedTuple):
    q: np.ndarray  # q / sqrt(d_k), in working precision, as all that follow  (..., n_q, d_k)
    k: np.ndarray  # may share the memory of the argument                   (..., n_k, d_k)
    v: np.ndarray  # may share the memory of the argument                   (..., n_k, d_v)
    p: np.ndarray  # the weights                                            (..., n_q, n_k)
    y: np.ndarray  # may share the output's memory                          (..., n_q, d_v)


def forward(q: np.ndarray, k: np.ndarray, v: np.ndarray, keep: np.ndarray | None = None) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. Masked keys and values must be finite all the same: a weight of 0 multiplies them.

    Raises TypeError or ValueError unless q, k, v are real, of one dtype, of shapes that fit and at least one entry along
    each of their last two axes, and keep is None or boolean, of a shape that fits.
    """
    require_attention(LAYER, q, k, v)
    if keep is not None:
        require_keep(LAYER, keep, scores_shape(q, k))
    keys, values = widen(k), widen(v)
    scaled = widen(q) / root_of_width(keys)
    p = scores_to_weights(matmul(scaled, keys.swapaxes(-1, -2)), keep)
    y = matmul(p, values)
    return round_to(y, q.dtype), Cache(scaled, keys, values, p, y)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients dq, dk, dv of <dy, y>."""
    q, k, v, p, y = cache
    g = cotangent_operand(LAYER, "dy", dy, y)
    # forward: y mixed the values by p; so now a value takes the cotangents back in the same proportions ...
    dv = matmul(p.swapaxes(-1, -2), g)
    # ... and a weight takes how well its value agrees with dy; its score, after softmax, less the mean of that under p
    ds = matmul(g, v.swapaxes(-1, -2))
    ds -= (g * y).sum(-1, keepdims=True)
    ds *= p
    # forward: a score was a product of query and key; so now each takes the other, weighed by ds
    dq = matmul(ds, k) / root_of_width(k)
    dk = matmul(ds.swapaxes(-1, -2), q)
    gradients = ((dq, q), (dk, k), (dv, v))
    dq, dk, dv = (round_to(summed_over_shared(gradient, of.shape), dy.dtype) for gradient, of in gradients)
    return dq, dk, dv

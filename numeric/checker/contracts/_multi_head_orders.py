"""The orders in which a correct implementation may evaluate multi-head attention, as bounds.

Attention itself as in `_attention_orders`, on projections that are stored. The output is concat(h) w_o, or a sum of what the heads
give one by one; gradients of weights are sums over all tokens, or over the batch of sums over the tokens of each, stored.
"""

from typing import Any, NamedTuple

import numpy as np

from ..rounding import Rounded, any_of
from ._attention_bounds import Attended, Matrices, attention_bound, gradient_bounds
from ._attention_orders import transposed


class Bounds(NamedTuple):
    """A forward pass."""

    y: Rounded
    q: Rounded  # (B, F, R, n_q, d / H), head f R + r
    k: Rounded  # (B, F, 1, n_k, d / H)
    v: Rounded
    at: Attended | Matrices
    concat: Rounded  # (B, n_q, d)


def split(z: Rounded, groups: int, size: int) -> Rounded:
    def move(part: np.ndarray) -> np.ndarray:
        heads = part.reshape(*part.shape[:-1], groups, size, part.shape[-1] // (groups * size))
        return np.moveaxis(heads, -4, -2)

    return z.rearranged(move)


def concat(h: Rounded) -> Rounded:
    def move(part: np.ndarray) -> np.ndarray:
        heads = np.moveaxis(part, -2, -4)
        return heads.reshape(*heads.shape[:-3], -1)

    return h.rearranged(move)


def forward_bounds(x: Rounded, m: Rounded, weights: tuple[Rounded, ...], heads: int, groups: int, keep: Any) -> Bounds:
    """`keep` is boolean, (n_q, n_k) or (B, n_q, n_k), or None."""
    w_q, w_k, w_v, w_o = weights
    size = heads // groups
    q, k, v = split(x @ w_q, groups, size), split(m @ w_k, groups, 1), split(m @ w_v, groups, 1)
    at = attention_bound(q, k, v, over_heads(keep))
    joined = concat(at.y)
    rows = w_o.rearranged(lambda part: part.reshape(groups, size, -1, part.shape[-1]))
    parts = (at.y @ rows).rearranged(lambda part: part.reshape(part.shape[0], heads, *part.shape[-2:]))
    head_by_head = parts.sum(1).rearranged(lambda part: part[:, 0])
    return Bounds(any_of([joined @ w_o, head_by_head]), q, k, v, at, joined)


def over_heads(keep: Any) -> Any:
    return keep if keep is None or keep.ndim == 2 else keep[:, None, None]


def backward_bounds(
    g: Rounded, x: Rounded, m: Rounded, weights: tuple[Rounded, ...], at: Bounds
) -> tuple[Rounded, ...]:
    """Of x, m, w_q, w_k, w_v and w_o."""
    w_q, w_k, w_v, w_o = weights
    groups, size = at.q.value.shape[1:3]
    dh = split(g @ transposed(w_o), groups, size)
    inner = gradient_bounds(dh, at.q, at.k, at.v, at.at)
    dq, dk, dv = (concat(each) for each in inner)
    dm = dk @ transposed(w_k) + dv @ transposed(w_v)
    pairs = ((x, dq), (m, dk), (m, dv), (at.concat, g))
    return dq @ transposed(w_q), dm, *(weight_gradient(*pair) for pair in pairs)


def weight_gradient(inputs: Rounded, cotangent: Rounded) -> Rounded:
    rows = [each.rearranged(lambda part: part.reshape(-1, part.shape[-1])) for each in (inputs, cotangent)]
    by_batch = (transposed(inputs) @ cotangent).sum(0).rearranged(lambda part: part[0])
    return any_of([transposed(rows[0]) @ rows[1], by_batch])

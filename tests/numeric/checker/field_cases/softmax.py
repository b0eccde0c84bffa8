"""Softmax, its gradient, and its online form in attention, as people got them wrong."""

import numpy as np

from .attention import kept, scores
from .case import Judged, Numbers

NAME = "softmax"
X = np.array([[1.0, 2.0, 3.0]])
G = np.array([[1.0, 0.0, 0.0]])


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
    return p / p.sum(axis, keepdims=True)


def over_queries(z, axis=-1, temperature=1.0):
    return softmax(z, 0 if axis == -1 else -1, temperature)


def clamped(z, axis=-1, temperature=1.0):
    z = z / z.dtype.type(temperature)
    p = np.exp(z - np.maximum(0, z.max(axis, keepdims=True)))
    return p / p.sum(axis, keepdims=True)


def unshifted(z, axis=-1, temperature=1.0):
    p = np.exp(z / z.dtype.type(temperature))
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    return p / p.sum(axis, keepdims=True, dtype=wide).astype(z.dtype)


def diagonal(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return dy * s * (1 - s) / temperature


def identity(dy, z, axis=-1, temperature=1.0):
    return dy.copy()


def of_logits(dy, z, axis=-1, temperature=1.0):
    """J_ij = s_i (delta_ij - x_j), x the logits: sum_i J_ij dy_i."""
    s = softmax(z, axis, temperature)
    return (s * dy - z * (s * dy).sum(axis, keepdims=True)) / temperature


def of_logits_by_rows(dy, z, axis=-1, temperature=1.0):
    """sum_j J_ij dy_j, since it ought to be symmetric."""
    return softmax(z, axis, temperature) * (dy - (dy * z).sum(axis, keepdims=True)) / temperature


def tile_after_tile(first_maximum):
    """Online softmax over tiles of two keys; `first_maximum` stands for that of a tile without a kept key."""

    def forward(q, k, v, mask=None, causal=False):
        s, keep = scores(q, k), kept(mask, causal, q, k)
        s = np.where(keep, s, -np.inf)
        peak = np.full((*s.shape[:-1], 1), -np.inf)
        total, y = np.zeros_like(peak), np.zeros((*s.shape[:-1], v.shape[-1]))
        for start in range(0, s.shape[-1], 2):
            tile = s[..., start : start + 2]
            new = first_maximum(np.maximum(peak, tile.max(-1, keepdims=True)))
            p = np.exp(tile - np.where(np.isinf(new), 0, new))
            factor = np.where(np.isinf(peak), 0, np.exp(peak - new))
            total, y = total * factor + p.sum(-1, keepdims=True), y * factor + p @ v[..., start : start + 2, :]
            peak = new
        return y / total

    return forward


kept_infinite = tile_after_tile(lambda peak: peak)
set_to_zero = tile_after_tile(lambda peak: np.where(np.isinf(peak), 0, peak))


CASES = {
    "SM1": [
        Judged(NAME, over_queries, "fail", ("other_axis",), fails=("slices sum to 1",)),
        Numbers(NAME, (np.zeros((1, 2)),), ".5 .5", ((over_queries, "1 1"),)),
    ],
    "SM3": [
        Judged(NAME, clamped, "fail", ("clamped_shift",), ("right formula, unstable at",), ("shift invariance",), dtype=dtype)
        for dtype in ("float64", "float32")
    ]
    + [Numbers(NAME, (np.full((1, 2), -1e4),), ".5 .5", ((clamped, "nan nan"),))],
    "SM5": [
        Judged(NAME, unshifted, "fail", ("unshifted",), ("which overflows",), ("shift invariance",), dtype=dtype)
        for dtype in ("float64", "float32", "float16")
    ]
    + [Numbers(NAME, (np.array([[1000.0, 0.0]]),), "1 0", ((unshifted, "nan 0"),))],
    "SM7": [
        Judged("scaled_dot_product_attention", kept_infinite, "pass"),
        Judged("scaled_dot_product_attention", set_to_zero, "fail", ("masked_tile_sets_maximum",), ("right formula, unstable at",)),
    ],
    "SM8": [
        Judged(NAME, softmax, "fail", ("diagonal_gradient",), fails=("gradient sums to 0",), backward=diagonal),
        Numbers(NAME, (X,), ".081925 -.022033 -.059892", ((diagonal, ".081925 0 0"),), dy=G),
    ],
    "SM9": [
        Judged(NAME, softmax, "fail", ("gradient_is_cotangent",), ("right only where softmax and cross-entropy are fused",), backward=identity),
        Numbers(NAME, (X,), ".081925 -.022033 -.059892", ((identity, "1 0 0"),), dy=G),
    ],
    "SM11": [
        Judged(NAME, softmax, "fail", ("gradient_of_logits",), fails=("Jacobian is symmetric", "gradient sums to 0"), backward=of_logits),
        Judged(NAME, softmax, "fail", ("gradient_sum_of_logits",), fails=("Jacobian is symmetric", "gradient sums to 0"), backward=of_logits_by_rows),
        Numbers(NAME, (X,), ".0819 -.0220 -.0599", dy=G),
    ],
    "SM12": [
        Judged(NAME, softmax, "pass", dtype=dtype) for dtype in ("float64", "float32")
    ]
    + [Numbers(NAME, (np.array([[1000.0, 0.0]]),), "1 0", ((softmax, "1 0"),))],
}  # fmt: skip

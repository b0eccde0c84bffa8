"""Attention passes in every right order of evaluation, in NumPy and PyTorch; what is wrong or unstable is told by its name."""

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Precision, Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance

NAME = "scaled_dot_product_attention"
slow = pytest.mark.slow
EVERY_DTYPE = ["float64", *(pytest.param(each, marks=slow) for each in ("float32", "float16")), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def wide(x):
    return np.float32 if x.dtype.itemsize == 2 else x.dtype


def product(a, b):
    """Accumulated in float32 at least, stored in the dtype: the default precision model."""
    return (a.astype(wide(a)) @ b.astype(wide(b))).astype(a.dtype)


def total(x):
    return x.sum(-1, keepdims=True, dtype=wide(x)).astype(x.dtype)


def transposed(x):
    return x.swapaxes(-1, -2)


def kept(mask, causal, q, k):
    keep = np.ones((q.shape[-2], k.shape[-2]), bool) if mask is None else mask
    return np.tril(keep) if causal else keep


def scores(q, k):
    return product(q, transposed(k)) / q.dtype.type(np.sqrt(q.shape[-1]))


def softmax(s, keep):
    s = np.where(keep, s, s.dtype.type(-np.inf))
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / total(p)


def plain(q, k, v, mask=None, causal=False):
    return product(softmax(scores(q, k), kept(mask, causal, q, k)), v)


def scale_on_queries(q, k, v, mask=None, causal=False):
    c = q.dtype.type(q.shape[-1] ** -0.5)
    return product(softmax(product(q * c, transposed(k)), kept(mask, causal, q, k)), v)


def scale_on_keys(q, k, v, mask=None, causal=False):
    c = q.dtype.type(np.sqrt(q.shape[-1]))
    return product(softmax(product(q, transposed(k / c)), kept(mask, causal, q, k)), v)


def fourth_root_on_both(q, k, v, mask=None, causal=False):
    e = q.dtype.type(q.shape[-1] ** -0.25)
    return product(softmax(product(q * e, transposed(k * e)), kept(mask, causal, q, k)), v)


def least_number_filled_in(q, k, v, mask=None, causal=False):
    s = scores(q, k)
    s = np.where(kept(mask, causal, q, k), s, ml_dtypes.finfo(s.dtype).min)
    p = np.exp(s - s.max(-1, keepdims=True))
    return product(p / total(p), v)


def least_number_added(q, k, v, mask=None, causal=False):
    s = scores(q, k)
    s = s + np.where(kept(mask, causal, q, k), s.dtype.type(0), ml_dtypes.finfo(s.dtype).min)
    p = np.exp(s - s.max(-1, keepdims=True))
    return product(p * (p.dtype.type(1) / total(p)), v)


def normalised_last(q, k, v, mask=None, causal=False):
    s = np.where(kept(mask, causal, q, k), scores(q, k), q.dtype.type(-np.inf))
    p = np.exp(s - s.max(-1, keepdims=True))
    return product(p, v) / total(p)


def through_logarithms(q, k, v, mask=None, causal=False):
    s = np.where(kept(mask, causal, q, k), scores(q, k), q.dtype.type(-np.inf))
    x = s - s.max(-1, keepdims=True)
    return product(np.exp(x - np.log(total(np.exp(x)))), v)


def base_two(q, k, v, mask=None, causal=False):
    s = np.where(kept(mask, causal, q, k), scores(q, k), q.dtype.type(-np.inf)).astype(wide(q))
    p = np.exp2((s - s.max(-1, keepdims=True)) * wide(q)(np.log2(np.e)) if q.dtype.itemsize == 2 else
                (s - s.max(-1, keepdims=True)) * q.dtype.type(np.log2(np.e))).astype(q.dtype)
    return product(p / total(p), v)


def tiled(q, k, v, mask=None, causal=False, tile=3):
    """Online softmax; sums in the wide format, the weights stored."""
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    keep = np.broadcast_to(kept(mask, causal, q, k), (*batch, q.shape[-2], k.shape[-2]))
    m = np.full((*batch, q.shape[-2], 1), -np.inf, wide(q))
    l, o = np.zeros_like(m), np.zeros((*batch, q.shape[-2], v.shape[-1]), wide(q))
    for j in range(0, k.shape[-2], tile):
        part = slice(j, j + tile)
        s = np.where(keep[..., part], scores(q, k[..., part, :]).astype(wide(q)), -np.inf).astype(wide(q))
        new = np.maximum(m, s.max(-1, keepdims=True))
        shift = np.where(np.isfinite(new), new, 0).astype(wide(q))
        p, factor = np.exp(s - shift), np.exp(m - shift)
        l = l * factor + p.sum(-1, keepdims=True)
        o = o * factor + p.astype(q.dtype).astype(wide(q)) @ v[..., part, :].astype(wide(q))
        m = new
    return (o / np.where(l == 0, wide(q)(1) if q.dtype.itemsize == 2 else q.dtype.type(1), l)).astype(q.dtype)


def key_by_key(q, k, v, mask=None, causal=False):
    return tiled(q, k, v, mask, causal, tile=1)


def einsum(q, k, v, mask=None, causal=False):
    s = np.einsum("...id,...jd->...ij", q.astype(wide(q)), k.astype(wide(q))).astype(q.dtype)
    p = softmax(s * q.dtype.type(q.shape[-1] ** -0.5), kept(mask, causal, q, k))
    return np.einsum("...ij,...jc->...ic", p.astype(wide(q)), v.astype(wide(q))).astype(q.dtype)


def in_float64(q, k, v, mask=None, causal=False):
    return plain(*(each.astype(np.float64) for each in (q, k, v)), mask, causal).astype(q.dtype)


RIGHT = [
    plain,
    scale_on_queries,
    scale_on_keys,
    fourth_root_on_both,
    least_number_filled_in,
    least_number_added,
    normalised_last,
    through_logarithms,
    base_two,
    tiled,
    key_by_key,
    einsum,
    in_float64,
]


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check(NAME, forward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] <= 1

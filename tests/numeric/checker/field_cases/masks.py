"""Masks of attention as people got them wrong; and ALiBi's slopes, a bias that no contract has."""

import ml_dtypes
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, to_floats
from numeric.checker import Probe, check
from numeric.checker.adapters.numpy import DTYPES
from numeric.layers import masking

from .attention import attention, finite_attention, kept, scores, weights
from .case import Judged, Numbers

NAME = "scaled_dot_product_attention"
EMPTY = ("a fully masked row*",)
ORDINARY = ("*random*draw 0", "*padding*draw 0")  # masks, but no huge logits
X = np.array([[0.43, -0.21, 0.99, 0.32, -0.35, 0.04]])
KEEP = np.array([[True, True, True, False, False, False]])


def filled(number):
    def forward(q, k, v, mask=None, causal=False):
        s = np.where(kept(mask, causal, q, k), scores(q, k), number)
        return (weights(s) @ v).astype(q.dtype)

    return forward


def added(number):
    def forward(q, k, v, mask=None, causal=False):
        return weights(scores(q, k) + np.where(kept(mask, causal, q, k), 0, number)) @ v

    return forward


def nan_gradients(dy, q, k, v, mask=None, causal=False):
    """What autograd gives: 0 * NaN for a row of which every key is masked."""
    p = weights(scores(q, k), kept(mask, causal, q, k))
    dp = dy @ v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dy


def least_added_for_each(q, k, v, mask=None, causal=False):
    """The least number for each mask: twice where the attention mask comes as a padding mask too."""
    least = ml_dtypes.finfo(q.dtype).min
    s = scores(q, k).astype(q.dtype)
    for part in (mask, mask, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if causal else None):
        if part is not None:
            s = s + np.where(part, q.dtype.type(0), least)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def least_twice_is_infinite():
    for dtype in map(np.dtype, DTYPES.values()):
        least = ml_dtypes.finfo(dtype).min
        with np.errstate(over="ignore"):
            assert np.isneginf(np.float64(np.asarray(least, dtype) + np.asarray(least, dtype)))


def a_row_that_is_fully_masked():
    """v = (1, 2, 6): NaN, zero, the mean 3, or attention as if there were no mask; each told as what it is."""
    arrays = np.array([[1.0]]), np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [6.0]])
    nothing = np.zeros((1, 3), bool)

    def zeros(q, k, v, mask=None, causal=False):
        keep = kept(mask, causal, q, k)
        return np.where(keep.any(-1, keepdims=True), finite_attention(q, k, v, mask, causal), 0)

    for forward, met, words in (
        (attention, np.nan, "gives NaN"),
        (zeros, 0.0, "gives zeros"),
        (finite_attention, 3.0, "gives the mean of v"),
        (added(-1e4), 0.0900 + 2 * 0.2447 + 6 * 0.6652, "gives attention without a mask"),
    ):
        with np.errstate(all="ignore"):
            assert forward(*arrays, nothing)[0, 0] == pytest.approx(met, abs=5e-4, nan_ok=True)
        Judged(NAME, forward, "pass", says=(f"a fully masked row {words}",), probes=EMPTY).require()


def overflow_in_torch():
    """What is an infinity in NumPy is an error in PyTorch: the same run in float16, and not in float32, shows it."""
    torch = pytest.importorskip("torch", reason="the fault is PyTorch's")

    def forward(q, k, v, mask=None, causal=False):
        keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool) if mask is None else mask
        s = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(~(keep.tril() if causal else keep), -1e9)
        return s.softmax(-1) @ v

    Judged(NAME, forward, "pass", adapter="torch", dtype="float32", probes=(*ORDINARY, *EMPTY)).require()
    words = ("it raised RuntimeError: value cannot be converted to type",)
    Judged(NAME, forward, "error", says=words, adapter="torch", dtype="float16", probes=ORDINARY).require()


def infinite_in_float16(q, k, v, mask=None, causal=False):
    low = np.asarray(-1e9).astype(q.dtype)
    s = np.where(kept(mask, causal, q, k), scores(q.astype(np.float32), k.astype(np.float32)).astype(q.dtype), low)
    return (weights(s.astype(np.float32)) @ v.astype(np.float32)).astype(q.dtype)


def inverted(q, k, v, mask=None, causal=False):
    return attention(q, k, v, None if mask is None else ~mask, causal)


def multiplied(q, k, v, mask=None, causal=False):
    return weights(scores(q, k) * kept(mask, causal, q, k)) @ v


def over_queries(q, k, v, mask=None, causal=False):
    if mask is not None and q.shape[-2] == k.shape[-2]:
        mask = mask.swapaxes(-1, -2)
    return attention(q, k, v, mask, causal)


def renormalised(q, k, v, mask=None, causal=False):
    p = weights(scores(q, k)) * kept(mask, causal, q, k)
    return p / p.sum(-1, keepdims=True) @ v


def padded_keys_get_nothing():
    keep = np.broadcast_to(np.array([5, 7, 0, 0]) != 0, (4, 4))
    q = np.random.default_rng(0).standard_normal((4, 3))
    assert (attention(q, q, np.eye(4), keep)[:, 2:] == 0).all()
    with np.errstate(invalid="ignore"):  # a padded query keeps nothing
        assert (over_queries(q, q, np.eye(4), keep)[:2, 2:] != 0).all()


def lower_right(q, k, v, mask=None, causal=False):
    keep = kept(mask, False, q, k)
    return attention(q, k, v, keep & masking.causal(q.shape[-2], k.shape[-2], lower_right=True) if causal else keep)


def in_chunks(size_of):
    """Each chunk of queries with a cache of all keys, and a causal mask that begins at the chunk's own first query."""

    def forward(q, k, v, mask=None, causal=False):
        size = size_of(q.shape[-2])
        chunks = [slice(start, start + size) for start in range(0, q.shape[-2], size)]
        rows = [None if mask is None else mask[..., chunk, :] for chunk in chunks]
        parts = zip(chunks, rows, strict=True)
        return np.concatenate([attention(q[..., chunk, :], k, v, row, causal) for chunk, row in parts], -2)

    return forward


one_by_one, in_halves = in_chunks(lambda n: 1), in_chunks(lambda n: max(n // 2, 1))


def chunks_with_a_cache():
    """What sees the chunks apart from each other: with the alignment lower right they are the whole."""
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 6, 4))
    whole = attention(q, k, v, causal=True)
    assert np.allclose(lower_right(q[4:], k, v, causal=True), whole[4:], rtol=0, atol=1e-14)
    assert np.abs(attention(q[4:], k, v, causal=True) - whole[4:]).max() > 0.1
    assert np.array_equal(lower_right(q, k, v, causal=True), whole)  # square tests tell nothing


def slopes(n, first):
    with precision(128):
        return np.array([arb(2) ** (-arb(8) * (head + first) / n) for head in range(n)])


def alibi_by_longer_vectors():
    """A bias -m (i - j) is a product of two more features of queries and keys, so that the contract of attention is a judge.

    softmax((q k^T - m (i - j) sqrt(c)) / sqrt(c)) with c = d_k + 2, and (q, -m sqrt(c) i, m sqrt(c)) (k, 1, j)^T.
    """
    rng = np.random.default_rng(0)
    right, wrong = slopes(8, 1), slopes(8, 0)
    assert to_floats(right)[[0, -1]].tolist() == [0.5, 1 / 256] and to_floats(wrong)[[0, -1]].tolist() == [1, 1 / 128]
    assert all(ratio.contains(2) for ratio in wrong / right)  # the constant 2^(8/n) names the fault
    assert not any(ratio.contains(1) for ratio in wrong / right)
    root, n = 2.0, 5  # two features and two more
    q, k, v, at = (
        rng.standard_normal((n, 2)),
        rng.standard_normal((n, 2)),
        rng.standard_normal((n, 3)),
        np.arange(n)[:, None],
    )
    for head in range(8):
        m = to_floats(right)[head]
        longer = np.hstack([q, -m * root * at, m * root + 0 * at]), np.hstack([k, 1 + 0 * at, at])
        for slope, verdict in ((m, "pass"), (to_floats(wrong)[head], "fail")):

            def forward(_q, _k, v, mask=None, causal=False, slope=slope):
                return weights(q @ k.T / root - slope * (at - at.T), np.tri(n, dtype=bool)) @ v

            probe = Probe(f"head {head}", (*longer, v), {"causal": True})
            report = check(NAME, forward, adapter="numpy", probes=[probe], options={"mask": None})
            assert report.verdict == verdict, str(report)


WHY = "right formula, unstable at"
PADDED = (np.ones((1, 1)), X.T, np.eye(6))
CASES = {
    "MK1": [
        a_row_that_is_fully_masked,
        Judged(NAME, attention, "fail", ("gradient_nan_of_masked_row",), (WHY,), backward=nan_gradients),
    ],
    "MK2": [
        Judged(NAME, filled(-1e4), "pass", says=("a fully masked row gives the mean of v",), probes=(*ORDINARY, *EMPTY)),
        Judged(NAME, added(-1e4), "pass", says=("a fully masked row gives attention without a mask",), probes=(*ORDINARY, *EMPTY)),
        Judged(NAME, filled(-1e4), "fail", ("mask_of_minus_10000",), (WHY,)),
        Judged(NAME, added(-1e4), "fail", ("mask_of_minus_10000_added",), (WHY,)),
    ],
    "MK4": [
        least_twice_is_infinite,
        Judged(NAME, least_added_for_each, "pass", says=("a fully masked row gives NaN",), probes=(*ORDINARY, *EMPTY)),
        Judged(NAME, least_added_for_each, "fail", ("gradient_nan_of_masked_row",), backward=nan_gradients, probes=(*ORDINARY, *EMPTY)),
    ],
    "MK5": [
        Judged(NAME, infinite_in_float16, "pass", says=("a fully masked row gives NaN",), dtype="float16", probes=(*ORDINARY, *EMPTY)),
        Judged(NAME, infinite_in_float16, "pass", says=("a fully masked row gives the mean of v",), dtype="float32", probes=(*ORDINARY, *EMPTY)),
        overflow_in_torch,
    ],
    "MK6": [
        Judged(NAME, inverted, "fail", ("mask_inverted",)),
        Numbers(NAME, (np.array([[0.3], [-0.4]]), np.array([[0.3], [-0.4]]), np.array([[5.0], [7.0]])), "5", options={"causal": True}, place=0),
        Judged(NAME, lambda q, k, v, mask=None, causal=False: attention(q, k, v, kept(mask, False, q, k) & ~np.tri(q.shape[-2], k.shape[-2], dtype=bool) if causal else mask), "fail", ("causal_inverted",), fails=("causality",)),
    ],
    "MK9": [
        Judged(NAME, multiplied, "fail", ("mask_multiplies_scores",)),
        Numbers(NAME, PADDED, ".3051 .1609 .5341 0 0 0", ((multiplied, ".1912 .1008 .3348 .1244 .1244 .1244"),), {"mask": KEEP}),
    ],
    "MK10": [padded_keys_get_nothing, Judged(NAME, over_queries, "fail", ("mask_over_queries",))],
    "MK12": [
        Judged(NAME, renormalised, "pass", probes=ORDINARY),
        Numbers(NAME, PADDED, ".3051 .1609 .5341 0 0 0", ((renormalised, ".3051 .1609 .5341 0 0 0"),), {"mask": KEEP}),
        Judged(NAME, renormalised, "fail", ("mask_then_renormalise",), (WHY,)),
    ],
    "MK13": [
        Judged(NAME, lower_right, "variant", ("lower_right",)),
        Numbers(NAME, (np.zeros((2, 1)), np.zeros((5, 1)), np.arange(5.0)[:, None]), "0 .5", ((lower_right, "1.5 2.0"),), {"causal": True}),
    ],
    "MK14": [
        chunks_with_a_cache,
        Judged(NAME, one_by_one, "fail", ("causal_of_each_query",)),
        Judged(NAME, in_halves, "fail", says=("just those with causal=True",), fails=("step by step",)),
    ],
    "MK16": [alibi_by_longer_vectors],
}  # fmt: skip

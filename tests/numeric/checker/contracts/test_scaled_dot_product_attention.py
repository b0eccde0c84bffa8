"""Attention passes in every right order of evaluation, in NumPy and PyTorch; what is wrong or unstable is told by its name."""

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance

NAME = "scaled_dot_product_attention"
slow = pytest.mark.slow
ALL = ("float64", "float32", "float16", "bfloat16")
DEFAULT = {("plain", "float32"), ("tiled", "bfloat16")}
SEEDS = (0, 1, 2)  # --all runs each; generic probes are drawn thrice for each


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
    p = np.exp2((s - s.max(-1, keepdims=True)) * s.dtype.type(np.log2(np.e))).astype(q.dtype)
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
    return (o / np.where(l == 0, l.dtype.type(1), l)).astype(q.dtype)


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


def cases(functions, seeds=SEEDS):
    for function in functions:
        for dtype in ALL:
            for seed in seeds:
                default = seed == 0 and (function.__name__, dtype) in DEFAULT
                yield pytest.param(function, dtype, seed, marks=() if default else slow)


@pytest.mark.parametrize(("forward", "dtype", "seed"), list(cases(RIGHT)))
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check(NAME, forward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.01 < report.finding("values").evidence["worst"]["ratio"] <= 1


# Gradients


def passed(q, k, v, mask, causal):
    keep = kept(mask, causal, q, k)
    with np.errstate(invalid="ignore"):
        p = softmax(scores(q, k), keep)
    return np.where(np.isnan(p), p.dtype.type(0), p), q.dtype.type(q.shape[-1] ** -0.5)


def row_term_of_weights(dy, q, k, v, mask=None, causal=False):
    p, c = passed(q, k, v, mask, causal)
    dp = product(dy, transposed(v))
    ds = p * (dp - total(p * dp)) * c
    return product(ds, k), product(transposed(ds), q), product(transposed(p), dy)


def row_term_of_output(dy, q, k, v, mask=None, causal=False):
    p, c = passed(q, k, v, mask, causal)
    ds = p * (product(dy, transposed(v)) - total(dy * product(p, v)))
    return product(ds, k) * c, product(transposed(ds), q * c), product(transposed(p), dy)


def products_apart(dy, q, k, v, mask=None, causal=False):
    p, c = passed(q, k, v, mask, causal)
    weighted = p * product(dy, transposed(v))
    ds = weighted - p * total(weighted)
    return product(ds, k * c), product(transposed(ds * c), q), product(transposed(p), dy)


def jacobian_as_matrix(dy, q, k, v, mask=None, causal=False):
    p, c = passed(q, k, v, mask, causal)
    jacobian = np.eye(p.shape[-1], dtype=p.dtype) * p[..., None] - p[..., :, None] * p[..., None, :]
    ds = product(jacobian, product(dy, transposed(v))[..., None])[..., 0]
    return product(ds, k) * c, product(transposed(ds), q) * c, product(transposed(p), dy)


DEFAULT |= {("row_term_of_output", "float32")}


@slow
@pytest.mark.parametrize(
    ("backward", "dtype", "seed"),
    list(cases([row_term_of_weights, row_term_of_output, products_apart, jacobian_as_matrix])),
)
def test_every_right_backward_passes(backward, dtype, seed):
    report = check(NAME, least_number_filled_in, backward=backward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.005 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


# How wide the bound is


@pytest.mark.parametrize("mask", [None, "some"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_error_of_twice_the_bound_in_one_entry_is_seen(dtype, mask):
    rng = np.random.default_rng(0)
    contract, arrays = contract_named(NAME), tuple(rng.integers(-8, 9, shape) / 4 for shape in ((4, 3), (6, 3), (6, 2)))
    options = {"mask": None if mask is None else np.arange(24).reshape(4, 6) % 3 < 2, "causal": False}
    bound = allowance(contract.bound(precision_of(dtype), *arrays, **options))

    def off(by):
        def forward(q, k, v, mask=None, causal=False):
            y = plain(*(each.astype(np.float64) for each in (q, k, v)), mask, causal)
            if y.shape == bound.shape:
                y[1, 1] += by * bound[1, 1]
            return y.astype(q.dtype)

        return check(NAME, forward, dtype=dtype, probes=[Probe("mine", arrays, options), "generic*draw 0"])

    assert off(0).verdict == "pass" and off(2.0).verdict == "fail"
    assert bound.max() < 1e3 * precision_of(dtype).stored.unit


@slow
@pytest.mark.parametrize("what", ["values", "gradients"])
def test_a_relative_error_of_1e_10_is_seen_in_float64(what):
    def forward(*arrays, **options):
        return plain(*arrays, **options) * (1 + 1e-10 * (what == "values"))

    def backward(*arrays, **options):
        return tuple(each * (1 + 1e-10 * (what == "gradients")) for each in row_term_of_weights(*arrays, **options))

    report = check(NAME, forward, backward=backward, probes=("generic*draw 0",))
    assert report.finding(what).verdict == "fail" and report.mistakes == ()


# Fully masked rows


def zeros_where_all_is_masked(q, k, v, mask=None, causal=False):
    return tiled(q, k, v, mask, causal)


def mean_where_all_is_masked(q, k, v, mask=None, causal=False):
    return least_number_filled_in(q, k, v, mask, causal)


def unmasked_where_all_is_masked(q, k, v, mask=None, causal=False):
    s = scores(q, k) + np.where(kept(mask, causal, q, k), 0, -1e6)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


EMPTY = ("a fully masked row", "one of the batch*", "generic*draw 0")


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (plain, "gives NaN"),  # field case MK1
        (zeros_where_all_is_masked, "gives zeros"),
        (mean_where_all_is_masked, "gives the mean of v"),  # field case MK2
        (unmasked_where_all_is_masked, "gives attention without a mask"),
    ],
)
def test_what_a_fully_masked_row_gives_is_noted_and_no_fault(forward, words):
    report = check(NAME, forward, probes=EMPTY)
    assert report.verdict == "pass"
    message = " ".join(report.finding("values").message.split())
    assert f"Not judged: a fully masked row {words}, which no reference decides" in message
    assert report.finding("values").evidence["without_reference"]


def leaks(q, k, v, mask=None, causal=False):
    y = plain(q, k, v, mask, causal)
    return y + 0 * y.sum(-2, keepdims=True)


def test_nan_that_leaks_into_other_rows_is_a_fault():
    report = check(NAME, leaks, probes=EMPTY)
    assert report.verdict == "fail" and "NaN at" in report.finding("values").message


def nan_in_the_gradient(dy, q, k, v, mask=None, causal=False):
    p = softmax(scores(q, k), kept(mask, causal, q, k))
    dp = product(dy, transposed(v))
    ds = p * (dp - total(p * dp)) * q.shape[-1] ** -0.5
    return product(ds, k), product(transposed(ds), q), product(transposed(p), dy)


@slow
def test_nan_that_leaks_into_the_gradients_of_keys_is_named():
    report = check(NAME, plain, backward=nan_in_the_gradient, probes=EMPTY)
    assert report.finding("values").verdict == "pass" and report.finding("gradients").verdict == "fail"
    assert report.mistakes == (NAME + ".gradient_nan_of_masked_row",)


# Options


def without_options(q, k, v):
    return plain(q, k, v)


def test_one_without_keywords_is_probed_without_and_told_what_was_not_run():
    report = check(NAME, without_options, probes=("*draw 0", "a vector*"))
    report.raise_if_failed()
    not_run = {each.check: each.message for each in report.findings if not each.ran}
    assert "it takes no keyword mask" in not_run["option mask"]
    assert "causal" in not_run["causality"] and "mask" in not_run["padding invariance"]


def always_causal(q, k, v):
    return plain(q, k, v, None, True)


@slow
def test_options_may_be_fixed():
    report = check(NAME, always_causal, options={"causal": True, "mask": None})
    report.raise_if_failed()
    assert report.finding("key permutation invariance").message == "it holds with causal=False only"
    assert report.finding("key permutation invariance").verdict == "not run"
    check(NAME, plain, options={"mask": "padding"}, probes=("*draw 0", "a vector*")).raise_if_failed()
    assert check(NAME, always_causal, probes=("*draw 0",)).verdict == "fail"
    with pytest.raises(ValueError, match="mask can be fixed to None, 'random' or 'padding'"):
        check(NAME, plain, options={"mask": np.ones((2, 2), bool)})

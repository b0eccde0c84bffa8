"""Multi-head attention passes in every right arrangement; the bound is not vacuous, and options are told apart."""

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance
from numeric.checker.usage import UsageError

NAME = "multi_head_attention"
slow = pytest.mark.slow
ALL = ("float64", "float32", "float16", "bfloat16")
SEEDS = (0, 1, 2)
DEFAULT = {("plain", "float32"), ("head_by_head", "bfloat16")}


def wide(x):
    return np.float32 if x.dtype.itemsize == 2 else x.dtype


def product(a, b):
    """Accumulated in float32 at least, stored in the dtype: the default precision model."""
    return (a.astype(wide(a)) @ b.astype(wide(b))).astype(a.dtype)


def total(x, axis=-1):
    return x.sum(axis, keepdims=True, dtype=wide(x)).astype(x.dtype)


def kept(mask, causal, n_q, n_k):
    keep = np.ones((n_q, n_k), bool) if mask is None else mask
    return np.tril(keep) if causal else keep


def softmax(s, keep):
    s = np.where(keep, s, s.dtype.type(-60000))  # far below the scores, and a number of every dtype
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / total(p)


def attend(q, k, v, keep):
    c = q.dtype.type(q.shape[-1] ** -0.5)
    return product(softmax(product(q, k.swapaxes(-1, -2)) * c, keep), v)


def split(z, count):
    return z.reshape(*z.shape[:-1], count, -1).swapaxes(1, 2)


def merge(h):
    return h.swapaxes(1, 2).reshape(h.shape[0], h.shape[2], -1)


def over_heads(keep):
    return keep if keep.ndim == 2 else keep[:, None]


def plain(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    groups = kv_heads or heads
    q, k, v = split(product(x_q, w_q), heads), split(product(x_kv, w_k), groups), split(product(x_kv, w_v), groups)
    k, v = (np.repeat(each, heads // groups, 1) for each in (k, v))
    keep = over_heads(kept(mask, causal, x_q.shape[1], x_kv.shape[1]))
    return product(merge(attend(q, k, v, keep)), w_o)


def one_matrix_for_keys_and_values(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    groups = kv_heads or heads
    k, v = np.split(product(x_kv, np.concatenate([w_k, w_v], 1)), 2, -1)
    q, k, v = split(product(x_q, w_q), heads), split(k, groups), split(v, groups)
    q = q.reshape(len(q), groups, heads // groups, *q.shape[2:])  # groups broadcast, and nothing is repeated
    keep = kept(mask, causal, x_q.shape[1], x_kv.shape[1])
    h = attend(q, k[:, :, None], v[:, :, None], keep if keep.ndim == 2 else keep[:, None, None])
    return product(merge(h.reshape(len(q), heads, *h.shape[3:])), w_o)


def head_by_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    groups, parts = kv_heads or heads, []
    keep = kept(mask, causal, x_q.shape[1], x_kv.shape[1])
    columns = [np.split(each, count, -1) for each, count in ((w_q, heads), (w_k, groups), (w_v, groups))]
    for head, rows in enumerate(np.split(w_o, heads)):
        group = head * groups // heads
        q, k, v = product(x_q, columns[0][head]), product(x_kv, columns[1][group]), product(x_kv, columns[2][group])
        parts.append(product(attend(q, k, v, keep), rows))
    return total(np.stack(parts), 0)[0]


def sequence_by_sequence(x_q, x_kv, *weights, heads=2, kv_heads=None, mask=None, causal=False):
    masks = [mask if mask is None or mask.ndim == 2 else mask[b] for b in range(len(x_q))]
    pairs = zip(x_q[:, None], x_kv[:, None], masks, strict=True)
    return np.concatenate([plain(x, m, *weights, heads, kv_heads, keep, causal) for x, m, keep in pairs])


def in_float64(*arrays, heads=2, kv_heads=None, mask=None, causal=False):
    doubles = (each.astype(np.float64) for each in arrays)
    return plain(*doubles, heads, kv_heads, mask, causal).astype(arrays[0].dtype)


def scaled_queries(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    """q / sqrt(d / heads), stored, before the product; w_q itself is left alone."""
    groups, width = kv_heads or heads, x_q.shape[-1] // heads
    q = split(product(x_q, w_q) / x_q.dtype.type(np.sqrt(width)), heads)
    k, v = (np.repeat(split(product(x_kv, w), groups), heads // groups, 1) for w in (w_k, w_v))
    keep = over_heads(kept(mask, causal, x_q.shape[1], x_kv.shape[1]))
    return product(merge(product(softmax(product(q, k.swapaxes(-1, -2)), keep), v)), w_o)


RIGHT = [plain, one_matrix_for_keys_and_values, head_by_head, sequence_by_sequence, in_float64, scaled_queries]


def cases():
    for function in RIGHT:
        for dtype in ALL:
            for seed in SEEDS:
                default = seed == 0 and (function.__name__, dtype) in DEFAULT
                yield pytest.param(function, dtype, seed, marks=() if default else slow)


@pytest.mark.parametrize(("forward", "dtype", "seed"), list(cases()))
def test_every_right_arrangement_passes(forward, dtype, seed):
    report = check(NAME, forward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.005 < report.finding("values").evidence["worst"]["ratio"] <= 1


@slow
def test_an_error_of_twice_the_bound_in_one_entry_is_seen():
    rng = np.random.default_rng(0)
    shapes = ((1, 3, 4), (1, 5, 4), (4, 4), (4, 2), (4, 2), (4, 4))
    arrays, options = tuple(rng.integers(-4, 5, shape) / 4 for shape in shapes), {"heads": 2, "kv_heads": 1}
    bound = allowance(contract_named(NAME).bound(precision_of("float32"), *arrays, **options, mask=None, causal=False))

    def off(by):
        def forward(*given, **settings):
            y = in_float64(*(each.astype(np.float64) for each in given), **settings)
            if y.shape == bound.shape:
                y[0, 1, 1] += by * bound[0, 1, 1]
            return y.astype(given[0].dtype)

        return check(NAME, forward, dtype="float32", probes=[Probe("mine", arrays, options), "generic*draw 0"])

    assert off(0).verdict == "pass" and off(2.0).verdict == "fail"
    assert bound.max() < 1e3 * precision_of("float32").stored.unit


@pytest.mark.parametrize("what", ["values", "gradients"])
def test_a_relative_error_of_1e_10_is_seen_in_float64(what):
    contract = contract_named(NAME)

    def forward(*arrays, heads=2, kv_heads=None, mask=None, causal=False):
        y, _ = contract.layer(*arrays, heads=heads, kv_heads=kv_heads, mask=mask, causal=causal)
        return y * (1 + 1e-10 * (what == "values"))

    def backward(dy, *arrays, heads=2, kv_heads=None, mask=None, causal=False):
        _, pullback = contract.layer(*arrays, heads=heads, kv_heads=kv_heads, mask=mask, causal=causal)
        return tuple(each * (1 + 1e-10 * (what == "gradients")) for each in pullback(dy))

    report = check(NAME, forward, backward=backward, probes=("generic*draw 0",))
    assert report.finding(what).verdict == "fail" and report.mistakes == ()


def test_any_two_values_of_two_options_are_probed_together():
    contract = contract_named(NAME)
    grid = {each.name: each.probed for each in contract.options}
    settings = list(contract.combinations(grid))
    assert 9 <= len(settings) <= 14
    for mask in (None, "random", "padding"):
        assert {each["heads"] for each in settings if each["mask"] == mask} == {1, 2, 4}
        assert {each["causal"] for each in settings if each["mask"] == mask} == {False, True}
    assert {(each["heads"], each["kv_heads"]) for each in settings} == {
        (1, None),
        (2, None),
        (2, 1),
        (4, None),
        (4, 1),
        (4, 2),
    }


def test_options_may_be_fixed_and_need_not_be_taken():
    def eight_heads(x_q, x_kv, w_q, w_k, w_v, w_o):
        return plain(x_q, x_kv, w_q, w_k, w_v, w_o, heads=8, kv_heads=2)

    few = ("*draw 0", "sum over heads", "head permutation*", "values and*")
    report = check(NAME, eight_heads, options={"heads": 8, "kv_heads": 2}, probes=few)
    report.raise_if_failed()
    assert "it takes no keyword mask" in report.finding("option mask").message
    with pytest.raises(UsageError, match="n_groups is 3, needed a divisor of n_heads, 8"):
        check(NAME, plain, options={"heads": 8, "kv_heads": 3})
    with pytest.raises(UsageError, match="heads is 0, needed an integer of at least 1"):
        check(NAME, plain, options={"heads": 0})


def test_what_a_fully_masked_row_gives_is_noted():
    few = ("a fully masked row", "one of the batch*", "*draw 0")

    def gives(forward):
        report = check(NAME, forward, probes=few)
        assert report.verdict == "pass"
        return " ".join(report.finding("values").message.split())

    def zeros(*arrays, heads=2, kv_heads=None, mask=None, causal=False):
        options = {"heads": heads, "kv_heads": kv_heads, "mask": mask, "causal": causal}
        return contract_named(NAME).layer(*arrays, **options)[0]

    def nan(*arrays, **options):
        y, mask = plain(*arrays, **options), options["mask"]
        return (
            y if mask is None else np.where((mask if mask.ndim == 3 else mask[None]).any(-1, keepdims=True), y, np.nan)
        )

    assert "a fully masked row gives the mean of the values" in gives(plain)
    assert "a fully masked row gives zeros" in gives(zeros)
    assert "a fully masked row gives NaN" in gives(nan)


@slow
def test_two_mistakes_at_once_are_found_and_located_though_not_named():
    def merged_without_transpose_and_unscaled(
        x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False
    ):
        groups, width = kv_heads or heads, x_q.shape[-1] // heads
        q, k, v = split(x_q @ w_q * np.sqrt(width), heads), split(x_kv @ w_k, groups), split(x_kv @ w_v, groups)
        k, v = (np.repeat(each, heads // groups, 1) for each in (k, v))
        h = attend(q, k, v, over_heads(kept(mask, causal, x_q.shape[1], x_kv.shape[1])))
        return h.reshape(x_q.shape) @ w_o

    report = check(NAME, merged_without_transpose_and_unscaled, probes=("*draw 0", "causality", "batch independence"))
    assert report.verdict == "fail" and report.mistakes == ()
    assert "no known mistake" in report.finding("values").message
    assert report.finding("causality").verdict == "fail"
    assert report.finding("batch independence").verdict == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 1, 1, 4), (1, 200, 300, 16), (3, 33, 65, 64)])
@pytest.mark.parametrize("dtype", ALL)
def test_larger_sizes(sizes, dtype):
    batch, n_q, n_k, d = sizes
    rng = np.random.default_rng(d)
    tokens = [rng.standard_normal((batch, n, d)) for n in (n_q, n_k)]
    weights = [rng.standard_normal((d, columns)) / np.sqrt(d) for columns in (d, d // 2, d // 2, d)]
    large = Probe("large", (*tokens, *weights), {"heads": 4, "kv_heads": 2, "causal": True})
    check(NAME, head_by_head, dtype=dtype, probes=[large, "*draw 0"]).raise_if_failed()

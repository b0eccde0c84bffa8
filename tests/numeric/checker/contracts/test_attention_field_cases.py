"""Faults of attention that people met, at the inputs at which they met them, and what the checker calls them.

Two of the kind are no attention of the contracts, since those have no bias and no cap: slopes of ALiBi (MK16) and a softcap (AC7).
They are tested as small functions, and that attention with either is not taken for another mistake.
"""

import ml_dtypes
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import to_balls
from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.layers import attention, masking

NAME = "scaled_dot_product_attention"
HEADS = "multi_head_attention"
GENERIC = ("generic*draw 0",)


def attend(q, k, v, keep, scale=1.0, weigh=None):
    s = q @ k.swapaxes(-1, -2) * (scale / np.sqrt(q.shape[-1]))
    p = (weigh or softmax)(s, keep)
    return p @ v


def softmax(s, keep=True):
    s = np.where(keep, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def kept(mask, causal, q, k):
    keep = np.ones((q.shape[-2], k.shape[-2]), bool) if mask is None else mask
    return np.tril(keep) if causal else keep


def values_of(forward, q, k, v, mask=None, causal=False):
    return np.asarray(forward(*(np.asarray(each, float) for each in (q, k, v)), mask=mask, causal=causal))


def right(q, k, v, mask=None, causal=False):
    return attend(q, k, v, kept(mask, causal, q, k))


def only(report):
    """What a failing report calls it first."""
    assert report.verdict in ("fail", "variant"), str(report)
    return report.mistakes[0].removeprefix(NAME + ".").removeprefix(HEADS + ".")


# Masks


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_mk4_the_least_number_of_two_masks_adds_up_to_minus_infinity(dtype):
    least = ml_dtypes.finfo(dtype).min
    with np.errstate(over="ignore"):
        assert least + least == -np.inf


def test_mk4_which_is_right_as_long_as_a_row_keeps_a_key():
    def least_twice(q, k, v, mask=None, causal=False):
        s = q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)
        for part in (mask, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if causal else None):
            if part is not None:
                s = s + np.where(part, q.dtype.type(0), np.finfo(q.dtype).min)
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v

    check(NAME, least_twice, dtype="float32", probes=(*GENERIC, "a fully masked row*")).raise_if_failed()


def test_mk5_a_mask_of_minus_1e9_is_minus_infinity_in_float16():
    def added(q, k, v, mask=None, causal=False):
        with np.errstate(over="ignore"):
            low = q.dtype.type(-1e9)
        s = (q.astype(np.float32) @ k.astype(np.float32).swapaxes(-1, -2)).astype(q.dtype) * q.dtype.type(
            q.shape[-1] ** -0.5
        )
        s = s + np.where(kept(mask, causal, q, k), q.dtype.type(0), low)
        p = np.exp(s - s.max(-1, keepdims=True))
        p = p / p.sum(-1, keepdims=True, dtype=np.float32).astype(q.dtype)
        return (p.astype(np.float32) @ v.astype(np.float32)).astype(q.dtype)

    for dtype, nan in (("float16", True), ("float32", False)):
        report = check(NAME, added, dtype=dtype, probes=(*GENERIC, "a fully masked row"))
        assert report.verdict == "pass"
        assert ("gives NaN" in " ".join(report.finding("values").message.split())) == nan


def test_mk6_an_inverted_mask_is_named():
    def inverted(q, k, v, mask=None, causal=False):
        return attend(q, k, v, kept(None if mask is None else ~mask, causal, q, k))

    def inverted_causal(q, k, v, mask=None, causal=False):
        keep = kept(mask, False, q, k)
        return attend(q, k, v, keep & ~np.tri(q.shape[-2], k.shape[-2], dtype=bool) if causal else keep)

    x = np.array([[0.3], [-0.4]])
    assert values_of(right, x, x, [[5.0], [7.0]], causal=True)[0] == 5
    assert only(check(NAME, inverted, probes=GENERIC)) == "mask_inverted"
    report = check(NAME, inverted_causal, probes=(*GENERIC, "causality"))
    assert only(report) == "causal_inverted" and report.finding("causality").verdict == "fail"


def test_mk9_a_mask_that_multiplies_scores_leaves_weight_on_masked_keys():
    def multiplied(q, k, v, mask=None, causal=False):
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) * kept(mask, causal, q, k)
        return softmax(s) @ v

    x, mask = np.array([[0.43, -0.21, 0.99, 0.32, -0.35, 0.04]]), np.array([[True, True, True, False, False, False]])
    arrays = np.ones((1, 1)), x.T, np.eye(6)
    assert values_of(right, *arrays, mask=mask)[0] == pytest.approx([0.3051, 0.1609, 0.5341, 0, 0, 0], abs=6e-5)
    assert values_of(multiplied, *arrays, mask=mask)[0] == pytest.approx(
        [0.1912, 0.1008, 0.3348] + 3 * [0.1244], abs=6e-5
    )
    report = check(NAME, multiplied, probes=[Probe("mine", arrays, {"mask": mask}), *GENERIC])
    assert only(report) == "mask_multiplies_scores"


def test_mk10_padding_must_mask_keys_and_not_queries():
    def transposed_mask(q, k, v, mask=None, causal=False):
        if mask is not None and q.shape[-2] == k.shape[-2]:
            mask = mask.swapaxes(-1, -2)
        return attend(q, k, v, kept(mask, causal, q, k))

    ids = np.array([5, 7, 0, 0])
    keep = np.broadcast_to(ids != 0, (4, 4))
    assert (values_of(right, np.zeros((4, 1)), np.zeros((4, 1)), np.eye(4), mask=keep)[:, 2:] == 0).all()
    assert only(check(NAME, transposed_mask, probes=("equal lengths*",))) == "mask_over_queries"


def renormalised(q, k, v, mask=None, causal=False):
    p = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) * kept(mask, causal, q, k)
    return p / p.sum(-1, keepdims=True) @ v


@pytest.mark.slow
def test_mk12_masking_weights_and_normalising_again_is_right_until_it_underflows():
    report = check(NAME, renormalised)
    failed = report.finding("values").evidence["failed_probes"]
    assert failed == ["a masked key far above the others"]
    assert only(report) == "mask_then_renormalise" and "right formula, unstable at" in report.finding("values").message
    check(NAME, renormalised, probes=("*random*", "*padding*")).raise_if_failed()


def lower_right(q, k, v, mask=None, causal=False):
    keep = kept(mask, False, q, k)
    return attend(q, k, v, keep & masking.causal(q.shape[-2], k.shape[-2], lower_right=True) if causal else keep)


def test_mk13_lower_right_alignment_is_a_variant_and_the_converter_is_told():
    arrays = np.zeros((2, 1)), np.zeros((5, 1)), np.arange(5.0)[:, None]
    assert values_of(right, *arrays, causal=True).ravel() == pytest.approx([0, 0.5])
    assert values_of(lower_right, *arrays, causal=True).ravel() == pytest.approx([1.5, 2])
    report = check(NAME, lower_right, probes=GENERIC)
    assert report.verdict == "variant" and only(report) == "lower_right"
    assert "Pass np.tri(n_q, n_k, dtype=bool) as its mask" in report.finding("values").message
    assert check(NAME, lower_right, accept=(NAME + ".lower_right",), probes=GENERIC).verdict == "pass"


def test_mk14_square_tests_do_not_tell_the_alignments_apart_and_a_second_chunk_does():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((6, 3)) for _ in range(3))
    whole = right(q, k, v, causal=True)
    assert np.allclose(lower_right(q[4:], k, v, causal=True), whole[4:])
    assert not np.allclose(right(q[4:], k, v, causal=True), whole[4:])
    check(NAME, lower_right, probes=("equal lengths, causal",)).raise_if_failed()


def test_sm7_a_running_maximum_that_starts_at_zero_loses_very_negative_scores():
    def from_zero(q, k, v, mask=None, causal=False):
        s = np.where(kept(mask, causal, q, k), q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
        p = np.exp(s - np.maximum(s.max(-1, keepdims=True), 0))
        return p / p.sum(-1, keepdims=True) @ v

    report = check(NAME, from_zero, probes=(*GENERIC, "very*", "rows far apart"))
    assert only(report) == "maximum_from_zero"
    assert "very negative scores" in report.finding("values").evidence["failed_probes"]


# Scales

KEYS = np.array([[2.0, 0, 0, 0], [0, 2.0, 0, 0]])
SCALES = [
    ("SC1", 1 / np.sqrt(2), [0.8044, 0.1956]),
    ("SC3", 1 / np.sqrt(4), [0.7311, 0.2689]),
    ("SC4", np.sqrt(4), [0.9820, 0.0180]),
    ("right", 1.0, [0.8808, 0.1192]),
]


@pytest.mark.parametrize(("case", "factor", "weights"), SCALES)
def test_sc_weights_of_wrong_scales(case, factor, weights):
    found = attend(np.array([[2.0, 0, 0, 0]]), KEYS, np.eye(2), True, factor)[0]
    assert found == pytest.approx(weights, abs=6e-5)


def scaled(factor_of):
    def forward(q, k, v, mask=None, causal=False):
        return attend(q, k, v, kept(mask, causal, q, k), factor_of(q.shape[-1]))

    return forward


@pytest.mark.slow
def test_sc1_the_scale_of_all_heads_is_fitted_as_a_factor():
    message = check(NAME, scaled(lambda d: 1 / np.sqrt(2)), probes=GENERIC).finding("values").message
    assert "it is what the scale times sqrt(d_k) = 0.7071067812 gives, where 1 is right" in " ".join(message.split())


def test_sc3_and_sc5_a_scale_of_1_over_d_has_two_explanations():
    report = check(NAME, scaled(lambda d: 1 / np.sqrt(d)), probes=GENERIC)
    assert set(report.mistakes) == {NAME + ".scale_by_width", NAME + ".scaled_twice"}


def test_sc4_a_missing_scale_is_named():
    assert only(check(NAME, scaled(np.sqrt), probes=GENERIC)) == "scale_missing"


def test_sc8_scaling_queries_first_is_the_same():
    def first(q, k, v, mask=None, causal=False):
        return attend(q * q.shape[-1] ** -0.5, k, v, kept(mask, causal, q, k), np.sqrt(q.shape[-1]))

    check(NAME, first, probes=GENERIC).raise_if_failed()


# Heads


def multi_head(x, m, w_q, w_k, w_v, w_o, heads, kv_heads, mask, causal, merge=None, groups=None):
    shared = kv_heads or heads

    def split(z, count):
        return z.reshape(*z.shape[:-1], count, -1).swapaxes(1, 2)

    q, k, v = split(x @ w_q, heads), split(m @ w_k, shared), split(m @ w_v, shared)
    which = np.arange(heads) // (heads // shared) if groups is None else groups(heads, shared)
    keep = kept(mask, causal, x, m)
    h = attend(q, k[:, which], v[:, which], keep if keep.ndim == 2 else keep[:, None])
    together = h.swapaxes(1, 2).reshape(x.shape[0], x.shape[1], -1) if merge is None else merge(h)
    return together @ w_o


def with_parts(**parts):
    def forward(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
        return multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, kv_heads, mask, causal, **parts)

    return forward


def test_heads_are_right():
    check(HEADS, with_parts(), probes=GENERIC).raise_if_failed()


def test_mh2_heads_merged_without_a_transpose():
    heads = np.array(["ab", "cd", "ef", "gh"]).reshape(1, 2, 2, 1)
    assert heads.swapaxes(1, 2).reshape(1, 2, 2).tolist() == [[["ab", "ef"], ["cd", "gh"]]]
    assert heads.reshape(1, 2, 2).tolist() == [[["ab", "cd"], ["ef", "gh"]]]
    report = check(
        HEADS, with_parts(merge=lambda h: h.reshape(h.shape[0], h.shape[2], -1)), probes=(*GENERIC, "causality")
    )
    assert only(report) == "merged_without_transpose" and report.finding("causality").verdict == "fail"


def test_mh3_the_batch_mixed_with_the_heads():
    def mixed(h):
        other = h.swapaxes(0, 1).reshape(h.shape)
        return other.swapaxes(1, 2).reshape(h.shape[0], h.shape[2], -1)

    report = check(HEADS, with_parts(merge=mixed), probes=(*GENERIC, "batch independence"))
    assert only(report) == "batch_for_heads" and report.finding("batch independence").verdict == "fail"


def test_mh5_groups_by_remainder():
    assert [h // (4 // 2) for h in range(4)] == [0, 0, 1, 1] and [h % 2 for h in range(4)] == [0, 1, 0, 1]
    forward = with_parts(groups=lambda heads, shared: np.arange(heads) % shared)
    report = check(HEADS, forward, probes=GENERIC)
    assert only(report) == "groups_by_remainder"
    check(HEADS, forward, options={"kv_heads": None}, probes=GENERIC).raise_if_failed()
    check(HEADS, forward, options={"kv_heads": 1}, probes=GENERIC).raise_if_failed()


# Gradients


def scaled_by_values(dy, q, k, v, mask=None, causal=False):
    keep = kept(mask, causal, q, k)
    p = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), keep)
    y, dp = attend(q, k, v, keep), dy @ v.swapaxes(-1, -2)
    ds = p * (dp - (dy * y).sum(-1, keepdims=True)) / np.sqrt(v.shape[-1])
    return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dy


def filled(q, k, v, mask=None, causal=False):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return softmax(np.where(kept(mask, causal, q, k), s, -1e300)) @ v


@pytest.mark.slow
def test_gr4_widths_of_values_other_than_those_of_keys_show_a_scale_of_the_wrong_one():
    report = check(NAME, filled, backward=scaled_by_values, probes=GENERIC)
    assert only(report) == "gradient_scale_of_values"
    check(NAME, filled, backward=scaled_by_values, probes=("d_v = d_k",)).raise_if_failed()


@pytest.mark.slow
def test_gr8_a_backward_without_the_mask_of_the_forward():
    contract = contract_named(NAME)
    for part in ("mask", "causal"):
        [known] = [each for each in contract.mistakes if each.id == f"{NAME}.gradient_without_{part}"]

        def backward(dy, q, k, v, mask=None, causal=False, formula=known.formula):
            return formula(dy, q, k, v, mask=mask, causal=causal)

        assert only(check(NAME, filled, backward=backward, probes=GENERIC)) == f"gradient_without_{part}"
    q, k = np.array([[0.5], [1.0]]), np.array([[1.0], [-1.0]])
    y, cache = attention.forward(q, k, np.eye(2), masking.causal(2))
    assert (y[0] == [1, 0]).all()  # with values that are a unit matrix, the output shows the mask
    assert (attention.backward(np.array([[1.0, 2.0], [0, 0]]), cache)[1][1] == 0).all()


# What is no attention of the contracts


def slopes(n, first):
    return [arb(2) ** (-arb(8) * (h + first) / n) for h in range(n)]


def test_mk16_slopes_of_alibi_start_with_the_first_power():
    right_ones, wrong_ones = slopes(8, 1), slopes(8, 0)
    assert [float(right_ones[0]), float(right_ones[-1])] == [1 / 2, 1 / 256]
    assert [float(wrong_ones[0]), float(wrong_ones[-1])] == [1, 1 / 128]
    ratios = [wrong / one for wrong, one in zip(wrong_ones, right_ones, strict=True)]
    assert all(ratio.contains(arb(2)) for ratio in ratios)  # 2^(8/n), a constant, which names the fault

    def biased(q, k, v, mask=None, causal=False):
        distance = np.arange(q.shape[-2])[:, None] - np.arange(k.shape[-2])
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) - 0.5 * np.abs(distance)
        return softmax(s, kept(mask, causal, q, k)) @ v

    report = check(NAME, biased, probes=(*GENERIC, "key permutation invariance"))
    assert report.verdict == "fail" and report.mistakes == ()
    assert report.finding("key permutation invariance").verdict == "fail"


def capped(c, l, factor):
    return factor * np.tanh(l / c)


@pytest.mark.slow
def test_ac7_a_softcap_multiplies_by_the_cap_and_not_by_the_score():
    l, c = np.array([120.0, -120.0]), 30.0
    assert capped(c, l, c) == pytest.approx([29.980, -29.980], abs=6e-4)  # odd, and within the cap
    assert capped(c, l, l) == pytest.approx([119.92, 119.92], abs=6e-3)  # even, and beyond it
    assert all(abs(30 * (each / 30).tanh()) < 30 for each in to_balls(l))  # exactly, and not by rounding

    def softcapped(q, k, v, mask=None, causal=False):
        s = capped(2.0, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), 2.0)
        return softmax(s, kept(mask, causal, q, k)) @ v

    report = check(NAME, softcapped, probes=(*GENERIC, "a vector*"))
    assert report.verdict == "fail" and report.mistakes == ()
    assert report.finding("a vector added to every key").verdict == "fail"

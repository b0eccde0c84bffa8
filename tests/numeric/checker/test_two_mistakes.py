"""Two mistakes in one implementation: no formula of the catalogue is it, so it is found, and named in part or located."""

from dataclasses import dataclass

import numpy as np
import pytest

from numeric.checker import check

from .field_cases.attention import kept, multi_head, scores, weights
from .field_cases.losses import cross_entropy
from .field_cases.norms import backward, mean
from .field_cases.positions import encoding, halves_swapped, rotary, tiled
from .field_cases.softmax import diagonal, unshifted


def unbiased_without_gain(x, gain, bias, eps=1e-5):
    return (x - mean(x)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) + bias


def unbiased(x, gain, bias, eps=1e-5):
    return (x - mean(x)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gain + bias


def eps_outside_and_two_added(x, gain, eps=1e-5):
    return x / (np.sqrt(mean(x * x)) + eps) * (2 + gain)


def unscaled_and_inverted(q, k, v, mask=None, causal=False):
    keep = kept(None if mask is None else ~mask, causal, q, k)
    return weights(scores(q, k, q.shape[-1] ** 0.5), keep) @ v


def causal_reversed_and_scale_of_values(q, k, v, mask=None, causal=False):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(v.shape[-1])
    keep = kept(mask, False, q, k)
    return weights(s, keep & ~np.tri(*s.shape[-2:], -1, dtype=bool) if causal else keep) @ v


def first_axis_without_temperature(z, axis=-1, temperature=1.0):
    p = np.exp(z - z.max(0, keepdims=True))
    return p / p.sum(0, keepdims=True)


def all_rows_without_smoothing(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits, targets, ignore_index, 0.0, len(targets))


def feed_forward(x, w1, b1, w2, b2, activation="relu"):
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2


def bias_averaged_and_weights_doubled(dy, x, w1, b1, w2, b2, activation="relu"):
    a = x @ w1 + b1
    da = (dy @ w2.T) * (a > 0)
    rows = tuple(range(x.ndim - 1))
    dw1, dw2 = np.tensordot(x, da, (rows, rows)), np.tensordot(np.maximum(a, 0), dy, (rows, rows))
    return da @ w1.T, dw1, da.mean(rows), 2 * dw2, dy.sum(rows)


def from_one_and_not_scaled(ids, table, scale=None):
    return table[ids - 1]


def from_one_in_halves(x, positions, base=10000.0):
    return rotary(tiled, halves_swapped)(x, positions + 1, base)


def remainder(h, heads, groups):
    return h % groups


@dataclass(frozen=True)
class Pair:
    """What is told: ids of one of the two or of both; words that say where; properties that one of the two breaks."""

    contract: str
    forward: object
    backward: object = None
    named: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    options: object = None


PAIRS = {
    "d - 1, and no gain": Pair("layer_norm", unbiased_without_gain, fails=("variance",)),
    "d - 1, and a gradient without mean": Pair("layer_norm", unbiased, backward(means=0), named=("unbiased_variance", "gradient_without_mean")),
    "eps outside, and 2 + gain": Pair("rms_norm", eps_outside_and_two_added, fails=("mean square", "scale law")),
    "no scale, and mask inverted": Pair("scaled_dot_product_attention", unscaled_and_inverted, fails=("padding invariance",)),
    "causal reversed, and scale of values": Pair("scaled_dot_product_attention", causal_reversed_and_scale_of_values, fails=("causality", "step by step")),
    "groups by remainder, and scale of model": Pair("multi_head_attention", multi_head(group_of=remainder, factor_of=lambda heads: heads**-0.5), says=("all of them with heads=2 or 4",)),
    "first axis, and no temperature": Pair("softmax", first_axis_without_temperature, fails=("slices sum to 1", "slices are independent")),
    "unshifted, and a diagonal gradient": Pair("softmax", unshifted, diagonal, named=("unshifted", "diagonal_gradient"), fails=("shift invariance", "gradient sums to 0")),
    "all rows, and no smoothing": Pair("cross_entropy", all_rows_without_smoothing, fails=("ignored rows do not matter",)),
    "two wrong gradients": Pair("feed_forward", feed_forward, bias_averaged_and_weights_doubled, says=("wrong in db1, dw2 only",), options={"activation": "relu"}),
    "from one, and not scaled": Pair("embedding", from_one_and_not_scaled, fails=("looks up rows",)),
    "half-split, and from one": Pair("rotary", from_one_in_halves, fails=("isometry", "position 0 is the identity")),
    "concatenated, and from one": Pair("positional_encoding", encoding(1, lambda sin, cos: np.concatenate([sin, cos], -1)), fails=("pairs have norm 1",)),
}  # fmt: skip
AT_LEAST = 8


def test_there_are_enough_of_them():
    assert len(PAIRS) >= AT_LEAST and len({pair.contract for pair in PAIRS.values()}) >= AT_LEAST
    assert all(pair.named or pair.says or pair.fails for pair in PAIRS.values())


@pytest.mark.parametrize("name", PAIRS)
def test_is_detected_and_named_in_part_or_located(name):
    pair = PAIRS[name]
    with np.errstate(all="ignore"):
        report = check(pair.contract, pair.forward, backward=pair.backward, adapter="numpy", options=pair.options)
    assert report.verdict == "fail", str(report)
    assert report.mistakes == tuple(f"{pair.contract}.{each}" for each in pair.named), str(report)
    told = " ".join(" ".join(each.message for each in report.findings).split())
    assert all(words in told for words in pair.says), str(report)
    for broken in pair.fails:
        assert report.finding(broken).verdict == "fail" and report.finding(broken).theorem in str(report), broken


@pytest.mark.slow
def test_two_in_one_formula_are_no_single_one():
    """Each of the two by itself has a name, so that it is the two together that have none."""

    def without_gain(x, gain, bias, eps=1e-5):
        return (x - mean(x)) / np.sqrt(x.var(-1, keepdims=True) + eps) + bias

    with np.errstate(all="ignore"):
        for forward, mistake in ((unbiased, "unbiased_variance"), (without_gain, "no_gain")):
            assert check("layer_norm", forward).mistakes == (f"layer_norm.{mistake}",)
        assert check("layer_norm", unbiased_without_gain).mistakes == ()

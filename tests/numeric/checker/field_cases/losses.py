"""GELUs, softcaps and losses as people got them wrong."""

import numpy as np
import pytest
from flint import arb
from scipy import special

from numeric.arithmetic import precision
from numeric.checker import Probe
from numeric.optimizer import accumulate, mean_gradient

from .case import Judged, Numbers

# GELU


def gelu(x):
    return (x * special.erfc(-x.astype(np.float64) * 0.5**0.5) / 2).astype(x.dtype)


def one_plus_erf(x):
    kind = x.dtype.type
    return kind(0.5) * x * (kind(1) + special.erf(x * kind(0.5**0.5)))


def tanh(x):
    w = x.astype(np.float64)
    return (0.5 * w * (1 + np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w**3)))).astype(x.dtype)


def sigmoid(x):
    w = x.astype(np.float64)
    return (w * special.expit(1.702 * w)).astype(x.dtype)


def backward(with_density, narrow=False):
    def gradient(dy, x):
        kind = x.dtype.type
        below = (
            kind(0.5) * (kind(1) + special.erf(x * kind(0.5**0.5))) if narrow else special.ndtr(x.astype(np.float64))
        )
        density = x * np.exp(-x * x / kind(2)) / kind(np.sqrt(2 * np.pi))
        return (dy * (below + with_density * density)).astype(x.dtype)

    return gradient


def far_from_the_truth():
    x = np.linspace(-6, 6, 120_001)
    assert np.abs(gelu(x) - tanh(x)).max() == pytest.approx(4.73e-4, abs=5e-7)
    assert np.abs(x[np.abs(gelu(x) - tanh(x)).argmax()]) == pytest.approx(2.70, abs=5e-3)
    assert np.abs(gelu(x) - sigmoid(x)).max() == pytest.approx(0.0203, abs=5e-5)
    assert np.abs(x[np.abs(gelu(x) - sigmoid(x)).argmax()]) == pytest.approx(2.27, abs=5e-3)


# Softcaps: no contract has one; what is asserted is that |out| <= c, and that it is odd, in balls


def softcapped(l, c, factor):
    with precision(128):
        return arb(factor) * (arb(l) / arb(c)).tanh()


def cap_and_parity():
    right, wrong = softcapped(120, 30, 30), softcapped(120, 30, 120)
    assert float(right) == pytest.approx(29.980, abs=6e-4) and float(wrong) == pytest.approx(119.92, abs=6e-3)
    assert right < 30 and not wrong < 30
    assert softcapped(-120, 30, 30).overlaps(-right) and softcapped(-120, 30, -120).overlaps(wrong)


def attention_with(cap):
    def forward(q, k, v, mask=None, causal=False):
        s = cap(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
        keep = np.ones((q.shape[-2], k.shape[-2]), bool) if mask is None else mask
        p = np.where(np.tril(keep) if causal else keep, s, -np.inf)
        p = np.exp(p - p.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v

    return forward


# Cross-entropy


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0, divisor=None):
    rows = targets != ignore_index
    x = logits - logits.max(-1, keepdims=True)
    log_s = x - np.log(np.exp(x).sum(-1, keepdims=True))
    y = np.full(x.shape, label_smoothing / x.shape[-1])
    y[np.arange(len(x)), np.where(rows, targets, 0)] += 1 - label_smoothing
    return np.asarray(-(y * log_s)[rows].sum() / (divisor or rows.sum()))


def of_probabilities(logits, targets, ignore_index=-100, label_smoothing=0.0):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    return cross_entropy(p / p.sum(-1, keepdims=True), targets, ignore_index, label_smoothing)


def over_all_rows(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits, targets, ignore_index, label_smoothing, len(targets))


def logarithm_of_softmax(logits, targets, ignore_index=-100):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p, rows = p / p.sum(-1, keepdims=True), targets != ignore_index
    return np.asarray(-np.log(p[np.arange(len(p)), np.where(rows, targets, 0)])[rows].mean())


def mean_of_means(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    z, t = logits[rows], targets[rows]
    parts = [part for part in (slice(len(z) // 2), slice(len(z) // 2, None)) if len(z[part])]
    return np.asarray(np.mean([cross_entropy(z[part], t[part], ignore_index, label_smoothing) for part in parts]))


def accumulated():
    """Losses 1, 1, 1, 1 and 4 in two micro-batches, as gradients of one number: 1.6 is right, and 2.5 is the mean of means."""
    found = None
    for losses in ([1.0, 1, 1, 1], [4.0]):
        found = accumulate({"w": np.array([np.mean(losses)])}, len(losses), found)
    assert mean_gradient(found)["w"][0] == 1.6
    assert np.mean([np.mean([1.0, 1, 1, 1]), np.mean([4.0])]) == 2.5


LOSSES = np.stack([np.zeros(5), np.log(np.expm1([1.0, 1, 1, 1, 4]))], -1)


def over_both_batches(logits, targets):
    return np.mean([cross_entropy(logits[:4], targets[:4]), cross_entropy(logits[4:], targets[4:])])


def shift_and_logarithm_together(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    m = y.max(axis, keepdims=True)
    return y - (m + np.log(np.exp(y - m).sum(axis, keepdims=True)))


def shift_first(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    x = y - y.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


TAIL = Probe("tail", (np.array([[-5.5, -0.5, 1.0, 2.0, 0.25]]),))
AT = Probe("at -3.7", (np.array([[-3.7, 0.3, -0.2, 1.1]]),))
HUGE = np.full((1, 2), 1e8)
CASES = {
    "AC2": [
        far_from_the_truth,
        *(Judged("gelu", tanh, "variant", ("tanh",), dtype=dtype) for dtype in ("float64", "float32", "float16", "bfloat16")),
        *(Judged("gelu", sigmoid, "variant", ("sigmoid",), dtype=dtype) for dtype in ("float64", "bfloat16")),
        Judged("gelu", tanh, "variant", ("tanh",), dtype="bfloat16", probes=("negative tail",)),
        Judged("gelu", tanh, "pass", dtype="bfloat16", probes=("positive tail",)),
    ],
    "AC3": [  # accuracy, not an error
        Judged("gelu", one_plus_erf, "pass", ("one_plus_erf",), ("found -1.6391e-07, exact -1.0444e-07", "Accuracy, not an error"), dtype="float32", probes=[TAIL]),
        Judged("gelu", gelu, "pass", dtype="float32", probes=[TAIL]),
    ],
    "AC5": [
        Judged("gelu", gelu, "fail", ("gradient_without_density",), ("has the wrong sign below -0.7518",), backward=backward(0), probes=[AT]),
        Judged("gelu", gelu, "pass", ("gradient_one_plus_erf",), ("Accuracy, not an error",), backward=backward(1, narrow=True), dtype="float32"),
        Numbers("gelu", (np.array([-3.7]),), "-.001464", ((backward(1), "-.001464"), (backward(0), ".000108")), dy=np.ones(1)),
    ],
    "AC7": [
        cap_and_parity,
        Judged("scaled_dot_product_attention", attention_with(lambda s: 2 * np.tanh(s / 2)), "fail", fails=("a vector added to every key",)),
        Judged("scaled_dot_product_attention", attention_with(lambda s: s * np.tanh(s / 2)), "fail", fails=("a vector added to every key",)),
    ],
    "CE1": [
        Judged("cross_entropy", of_probabilities, "fail", ("softmax_twice",)),
        Numbers("cross_entropy", (np.array([[10.0, 0, 0, 0]]), np.array([0])), ".000136", ((of_probabilities, ".743764"),)),
        lambda: pytest.approx(0.7437, abs=5e-5) == np.log((np.e + 3) / np.e) or pytest.fail("the floor of the loss"),
    ],
    "CE3": [
        Judged("cross_entropy", over_all_rows, "fail", ("divided_by_all_rows",), fails=("ignored rows do not matter",)),
        Numbers("cross_entropy", (np.zeros((2, 2)), np.array([0, -100])), ".693147", ((over_all_rows, ".346574"),), {"ignore_index": -100}),
    ],
    "CE4": [
        accumulated,
        Judged("cross_entropy", mean_of_means, "fail", ("mean_of_means",), fails=("splits of a batch",)),
        Numbers("cross_entropy", (LOSSES, np.zeros(5, int)), "1.600000", ((over_both_batches, "2.500000"),)),
    ],
    "CE6": [
        Judged("log_softmax", shift_and_logarithm_together, "fail", ("maximum_and_logarithm_together",), fails=("shift invariance",), dtype="float32"),
        Judged("log_softmax", shift_first, "pass", dtype="float32"),
        Numbers("log_softmax", (HUGE,), "-.693147 -.693147", ((lambda z: shift_and_logarithm_together(z.astype(np.float32)), "0 0"),)),
    ],
    "CE7": [
        Judged("cross_entropy", logarithm_of_softmax, "fail", ("logarithm_of_softmax",), ("minus infinity where softmax underflows",), options={"label_smoothing": 0.0}),
        Numbers("cross_entropy", (np.array([[-431.0, 279, 427]]), np.array([0])), "858.000", ((cross_entropy, "858.000"), (logarithm_of_softmax, "inf"))),
    ],
}  # fmt: skip

"""Layer and RMS normalisation as people got them wrong."""

import numpy as np

from numeric.checker import Probe

from .case import Judged, Numbers

NAME, RMS = "layer_norm", "rms_norm"
X, G = np.array([[1.0, 2.0, 4.0]]), np.array([[1.0, 0.0, 0.0]])


def plain(d):
    return np.ones(d), np.zeros(d)


def mean(x):
    return x.mean(-1, keepdims=True)


def layer_norm(x, gain, bias, eps=1e-5):
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    c = w - mean(w)
    return (c / np.sqrt(mean(c * c) + w.dtype.type(eps)) * gain.astype(w.dtype) + bias.astype(w.dtype)).astype(x.dtype)


def unbiased(x, gain, bias, eps=1e-5):
    return (x - mean(x)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gain + bias


def eps_outside(x, gain, bias, eps=1e-5):
    return (x - mean(x)) / (x.std(-1, keepdims=True) + eps) * gain + bias


def one_pass(x, gain, bias, eps=1e-5):
    v = mean(x * x) - mean(x) * mean(x)
    return (x - mean(x)) / np.sqrt(v + x.dtype.type(eps)) * gain + bias


def eps_in_dtype(x, gain, bias, eps=1e-5):
    """With eps below the least normal number of float16, on hardware that flushes it to zero."""
    eps = x.dtype.type(eps)
    eps = eps if x.dtype != np.float16 or eps >= np.finfo(np.float16).tiny else np.float16(0)
    w, scale, shift = (each.astype(np.float32) for each in (x, gain, bias))
    c = w - mean(w)
    return (c / np.sqrt(mean(c * c) + np.float32(eps)) * scale + shift).astype(x.dtype)


def backward(means=1, shares=1, count=lambda x: x.shape[-1], root=None):
    def gradients(dy, x, gain, bias, eps=1e-5):
        n, c = count(x), x - mean(x)
        inverse = 1 / np.sqrt(mean(c * c) + eps)
        x_hat, g = c * inverse, dy * gain
        sums = [each.sum(-1, keepdims=True) / n for each in (g, g * x_hat)]
        rows = tuple(range(x.ndim - 1))
        return (g - means * sums[0] - shares * x_hat * sums[1]) * inverse, (dy * x_hat).sum(rows), dy.sum(rows)

    return gradients


def rms_norm(x, gain, eps=1e-5):
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    return (w / np.sqrt(mean(w * w) + w.dtype.type(eps)) * gain.astype(w.dtype)).astype(x.dtype)


def rms_backward(dy, x, gain, eps=1e-5):
    """Without gain, which it forgot."""
    inverse = 1 / np.sqrt(mean(x * x) + eps)
    x_hat = x * inverse
    return (dy - x_hat * mean(dy * x_hat)) * inverse, (dy * x_hat).sum(tuple(range(x.ndim - 1)))


def squares_in_dtype(x, gain, eps=1e-5):
    m = (x * x).mean(-1, keepdims=True, dtype=np.float32)
    return (x / np.sqrt(m + np.float32(eps))).astype(x.dtype) * gain


def cast_before_gain(x, gain, eps=1e-5):
    w = x.astype(np.float32)
    return (w / np.sqrt(mean(w * w) + np.float32(eps))).astype(x.dtype) * gain


def plus(added):
    return lambda x, gain, eps=1e-5: rms_norm(x, gain + added, eps)


def stored_less_one(forward):
    """For one who asks for x^ (1 + w), as Gemma does: the contract's gain is 1 + w."""
    return lambda x, gain, eps=1e-5: forward(x, gain - 1, eps)


def variance_in_float32():
    x = np.array([[40000.0, 40001, 40002, 40003]], np.float32)
    assert float((mean(x * x) - mean(x) * mean(x))[0, 0]) == -128 and float(np.var(x.astype(float))) == 1.25


ZERO = np.zeros((1, 4))
CASES = {
    "LN1": [
        Judged(NAME, unbiased, "fail", ("unbiased_variance",), fails=("variance",)),
        Numbers(NAME, (np.array([[1.0, 2, 3, 4]]), *plain(4)), "-1.34164 -.44721 .44721 1.34164", options={"eps": 0.0}),
        Numbers(NAME, (np.array([[1.0, 2, 3, 4]]), *plain(4)), "-1.34164 -.44721", ((unbiased, "-1.16189 -.38730"),), place=(0, slice(2))),
    ],
    "LN2": [
        Judged(NAME, eps_outside, "fail", ("eps_outside_root",), fails=("scale law",)),
        Numbers(NAME, (np.array([[0.0, 1e-3]]), *plain(2)), "-.15617 .15617", ((eps_outside, "-.98039 .98039"),)),
    ],
    "LN5": [
        variance_in_float32,
        Judged(NAME, one_pass, "fail", ("one_pass_variance",), ("right formula, unstable at 'large offset'",), ("shift invariance",), dtype="float32"),
        Judged(NAME, one_pass, "fail", ("one_pass_variance",), ("NaN at 'LN5'",), dtype="float32", probes=[Probe("LN5", (np.array([[40000.0, 40001, 40002, 40003]]), *plain(4))), "generic (*"]),
        Numbers(NAME, (np.array([[40000.0, 40001, 40002, 40003]]), *plain(4)), "-1.34164 -.44721 .44721 1.34164", options={"eps": 0.0}),
    ],
    "LN7": [
        Judged(NAME, layer_norm, "fail", ("gradient_mean_twice",), fails=("gradient sums to 0",), backward=backward(means=2)),
        Judged(NAME, layer_norm, "fail", ("gradient_without_mean",), fails=("gradient sums to 0",), backward=backward(means=0)),
        Judged(NAME, layer_norm, "fail", ("gradient_without_x_hat",), fails=("Euler's identity",), backward=backward(shares=0)),
        Numbers(
            NAME, (X, *plain(3)), ".22908 -.34362 .11454",
            (
                (backward(means=2), "-.03818 -.61088 -.15272"),
                (backward(means=0), ".49634 -.07636 .38180"),
                (backward(shares=0), ".53452 -.26726 -.26726"),
            ),
            dy=G, options={"eps": 0.0},
        ),
    ],
    "LN8": [
        Judged(NAME, layer_norm, "pass", backward=backward(count=lambda x: x[0].size), probes=("generic (7, 11)*",)),
        Judged(NAME, layer_norm, "fail", ("gradient_count_behind_first_axis",), backward=backward(count=lambda x: x[0].size)),
        Judged(NAME, layer_norm, "fail", ("gradient_count_of_second_axis",), backward=backward(count=lambda x: x.shape[min(1, x.ndim - 1)])),
    ],
    "LN9": [
        Judged(RMS, rms_norm, "fail", ("gradient_without_gain",), backward=rms_backward),
        Judged(RMS, rms_norm, "pass", backward=rms_backward, probes=[Probe("gain 1", (np.random.default_rng(0).standard_normal((3, 4)), np.ones(4)))]),
    ],
    "LN11": [
        Judged(RMS, squares_in_dtype, "fail", ("squares_overflow",), ("unstable at 'all 300'",), ("scale law",), dtype="float16"),
        Judged(RMS, squares_in_dtype, "pass", dtype="float32"),
        Numbers(RMS, (np.full((1, 4), 300.0), np.ones(4)), "1 1 1 1"),
        lambda: Numbers(RMS, (np.full((1, 4), 300.0), np.ones(4)), "1 1 1 1", ((lambda x, gain: squares_in_dtype(x.astype(np.float16), gain), "0 0 0 0"),)).require(),
    ],
    "LN13": [
        Judged(RMS, plus(1), "variant", ("one_plus_gain",), ("Pass it gain - 1",)),
        Judged(RMS, plus(2), "fail", ("one_added_twice",)),
        Judged(RMS, stored_less_one(plus(1)), "pass"),
        Judged(RMS, stored_less_one(plus(2)), "variant", ("one_plus_gain",)),
        Judged(RMS, stored_less_one(rms_norm), "fail", says=("what is added to gain = -1 gives",)),
        Numbers(RMS, (X, np.zeros(3)), "0 0 0", options={"eps": 0.0}),
        Numbers(RMS, (X, np.ones(3)), ".37796 .75593 1.51186", ((plus(1), ".75593 1.51186 3.02372"),), options={"eps": 0.0}),
    ],
    "LN14": [
        Judged(NAME, layer_norm, "pass", dtype="float16"),
        Judged(NAME, eps_in_dtype, "fail", ("eps_underflows",), ("flushed to zero",), dtype="float16"),
        Judged(NAME, lambda x, gain, bias: layer_norm(x, gain, bias, 1e-6), "fail", says=("eps = 1e-06 gives, where",)),
        Numbers(NAME, (ZERO + 3, *plain(4)), "0 0 0 0", ((lambda *inputs: layer_norm(*(each.astype(np.float16) for each in inputs)), "0 0 0 0"),)),
    ],
    "LN15": [
        Judged(RMS, cast_before_gain, "pass", dtype="bfloat16"),
        Judged(RMS, rms_norm, "pass", dtype="bfloat16"),
    ],
}  # fmt: skip

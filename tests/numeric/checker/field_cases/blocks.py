"""Residual blocks, embeddings and first losses as people got them wrong."""

import math

import ml_dtypes
import numpy as np

from numeric.checker import Probe
from numeric.config import Config
from numeric.initialisation import initial_loss

from .case import Judged, Numbers

NAME = "add_and_norm"
PRE = {"order": "pre"}


def norm(x, gain, bias, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + eps) * gain + bias


def skip_normalised(x, sublayer, gain, bias, eps=1e-5):
    u = norm(x, gain, bias, eps)
    return u + sublayer(u)


def pre(x, sublayer, gain, bias, eps=1e-5):
    return x + sublayer(norm(x, gain, bias, eps))


def sandwich(x, sublayer, gain, bias, eps=1e-5):
    return norm(x + sublayer(norm(x, gain, bias, eps)), gain, bias, eps)


def of_sublayer(x, sublayer, gain, bias, eps=1e-5):
    return x + norm(sublayer(x), gain, bias, eps)


def swapped(x, sublayer, gain, bias, order="post", eps=1e-5):
    return norm(x + sublayer(x), gain, bias, eps) if order == "pre" else pre(x, sublayer, gain, bias, eps)


def skip_outside(x, sublayer, gain, bias, eps=1e-5):
    return x + norm(x + sublayer(x), gain, bias, eps)


def scaled(ids, table, scale=None):
    return table[ids] * table.dtype.type(math.sqrt(table.shape[-1]))


def scale_in_bfloat16(ids, table, scale=None):
    return table[ids] * table.dtype.type(1 if scale is None else ml_dtypes.bfloat16(scale))


def first_losses():
    """Tied weights: a table of standard deviation 1 gives logits a variance of d, one of 1/d hardly any; the loss tells."""
    rng = np.random.default_rng(0)
    d, words, rows = 64, 500, 400
    config = Config("decoder", words, d, d_ff=d, n_heads=1, n_layers=1)
    low, high = initial_loss(config, read=1)
    y = rng.standard_normal((rows, d))
    y = norm(y, 1.0, 0.0)
    for deviation, inside in ((1 / d, True), (1.0, False)):
        logits = y @ (deviation * rng.standard_normal((words, d))).T
        targets = rng.integers(words, size=rows)
        x = logits - logits.max(-1, keepdims=True)
        losses = np.log(np.exp(x).sum(-1)) - x[np.arange(rows), targets]
        noise = 4 * losses.std() / math.sqrt(rows)  # the bounds are on an expectation
        assert (low - noise <= losses.mean() <= high + noise) == inside
        assert np.isclose(logits.var(), deviation**2 * d, rtol=0.1)
    assert abs(low - math.log(words)) < 0.01


def with_sublayer(x, factor):
    """The probe's f(u) = (a + b u) u, with a the factor and b = 0."""
    weights = np.stack([np.full(x.shape[-1], factor), np.zeros(x.shape[-1])])
    return x, weights, np.ones(x.shape[-1]), np.zeros(x.shape[-1])


X = np.array([[1.0, 2.0, 3.0, 6.0]])
GEMMA = Probe(
    "d = 3072", (np.array([2, 0, 1]), np.random.default_rng(2).standard_normal((3, 3072))), {"scale": math.sqrt(3072)}
)
CASES = {
    "SC10": [
        Judged("embedding", scaled, "variant", ("scaled",), ("sqrt(d)",)),
        Judged("embedding", scaled, "pass", options={"scale": 2.0}, probes=[Probe("d = 4", (np.array([[0, 2, 1]]), np.arange(12.0).reshape(3, 4)))]),
        Numbers("embedding", (np.array([1]), np.array([[0.0] * 4, [1, 2, 3, 4]])), "2.0 4.0 6.0 8.0", ((scaled, "2.0 4.0 6.0 8.0"),), {"scale": 2.0}),
    ],
    "SC11": [
        Judged("embedding", scale_in_bfloat16, "fail", ("scale_in_bfloat16",), ("sqrt(3072) = 55.426 to 55.5, which is 1.00134 times too large",), dtype="float32", probes=[GEMMA]),
        Judged("embedding", scale_in_bfloat16, "pass", dtype="bfloat16", probes=[GEMMA]),
    ],
    "RS1": [
        Judged(NAME, skip_normalised, "fail", ("skip_normalised",), fails=("zero sublayer",), options=PRE),
        Numbers(NAME, with_sublayer(X, 0.0), "1 2 3 6", options=PRE),
        lambda: np.testing.assert_allclose(skip_normalised(X, lambda u: 0 * u, 1, 0), [[-1.069, -0.535, 0, 1.604]], rtol=0, atol=6e-4),
    ],
    "RS3": [
        Judged(NAME, swapped, "fail", ("order_swapped",)),
        Judged(NAME, skip_outside, "fail", ("skip_outside_norm",)),
        *(Judged(NAME, forward, "variant", (named,)) for forward, named in ((pre, "pre_norm"), (of_sublayer, "norm_of_sublayer"))),
    ],
    "RS5": [
        Judged(NAME, of_sublayer, "variant", ("norm_of_sublayer",)),
        Judged(NAME, sandwich, "variant", ("both_norms",)),
        Judged(NAME, pre, "pass", options=PRE),
    ],
    "RS6": [first_losses],
}  # fmt: skip

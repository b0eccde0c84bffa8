"""How checkers go wrong themselves: what they let pass, and what they cry wolf over."""

import ml_dtypes
import numpy as np

from numeric.checker import Probe, check

from .attention import attention, kept, scores
from .case import GENERIC, Judged
from .softmax import softmax


def not_a_number(z, axis=-1, temperature=1.0):
    return np.where(z == z.max(), np.nan, softmax(z, axis, temperature))


def nowhere_a_number(z, axis=-1, temperature=1.0):
    return np.full_like(z, np.nan)


def slightly_off(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature) * (1 + 1e-9)


def ratio_and_power_are_printed():
    """The ratio of error to allowance, and the smallest error that would have been seen; on a pass, too."""
    for forward, verdict in ((softmax, "pass"), (slightly_off, "fail")):
        report = check("softmax", forward, adapter="numpy")
        assert report.verdict == verdict
        worst = report.finding("values").evidence["worst"]
        assert (worst["ratio"] > 1) == (verdict == "fail")
        told = " ".join(str(report).split())
        assert "allowance" in told and ("ratio" in told or "largest error" in told)
        seen = report.power["values"]["smallest_relative_error_seen"]
        assert 0 < seen < 2e-9 and f"a relative error of {seen:.2g} everywhere would have been seen" in told


W, B = np.array([[0.6, 0.1], [-0.3512, 0.2]]), np.array([0.25, -0.5])


def linear(x, w1, b1, w2, b2, activation="relu"):
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2


def linear_backward(dy, x, w1, b1, w2, b2, activation="relu"):
    h = x @ w1 + b1
    dh = (dy @ w2.T) * (h > 0)
    rows = tuple(range(x.ndim - 1))
    return (
        dh @ w1.T,
        np.tensordot(x, dh, (rows, rows)),
        dh.sum(rows),
        np.tensordot(np.maximum(h, 0), dy, (rows, rows)),
        dy.sum(rows),
    )


def differences_too_coarse():
    """Central differences of a float32 loss: a tiny step turns rounding into an error, 1e-2 here; the gradient is right."""
    x = np.float32([0.7, 0.3])
    w, step = np.float32(W[:, 0]), np.float32(1e-6)

    def f(x):
        return np.float32(x @ w + np.float32(B[0]))

    difference = (f(x + np.float32([0, step])) - f(x - np.float32([0, step]))) / (2 * step)
    assert abs(float(difference) - float(w[1])) > 2e-3  # as -.3576 for -.3512
    better = np.float32(np.finfo(np.float32).eps ** (1 / 3))
    assert (
        abs(float((f(x + np.float32([0, better])) - f(x - np.float32([0, better]))) / (2 * better)) - float(w[1]))
        < 1e-4
    )
    for dtype in ("float32", "float64"):
        one_layer = (x.astype(float)[None], np.eye(2), np.zeros(2), W, B)
        report = check(
            "feed_forward", linear, backward=linear_backward, adapter="numpy", dtype=dtype,
            options={"activation": "relu"}, probes=[Probe("a linear layer", one_layer), *GENERIC],
        )  # fmt: skip
        report.raise_if_failed()
        assert report.power["gradients"]["smallest_relative_error_seen"] < 1e-6


def random(z, axis=-1, temperature=1.0, rng=np.random.default_rng(0)):  # noqa: B008  one generator for all calls
    return softmax(z + 1e-3 * rng.standard_normal(z.shape), axis, temperature)


def twenty_four(q, k, v, mask=None, causal=False):
    """One rounding to bfloat16 at the end, of values near 24, where one unit in the last place is 0.125."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    return attention(q, k, v, mask, causal).astype(ml_dtypes.bfloat16)


def near_twenty_four():
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((3, 4)), rng.standard_normal((5, 4)), 24 + rng.standard_normal((5, 2))
    probe = Probe("24", arrays)
    report = check(
        "scaled_dot_product_attention", twenty_four, adapter="numpy", dtype="bfloat16", probes=[probe, *GENERIC]
    )
    report.raise_if_failed()
    alone = check("scaled_dot_product_attention", twenty_four, adapter="numpy", dtype="bfloat16", probes=[probe])
    found = alone.finding("values").evidence["worst"]
    assert 0.01 < found["error"] <= 0.0625 + 1e-9 < found["allowance"]  # beyond the usual tolerances of 1e-2 and less


def no_better_than_its_dtype(q, k, v, mask=None, causal=False):
    """Scores stored in the dtype: as far off as any implementation in it."""
    wide = np.float32
    s = scores(q.astype(wide), k.astype(wide)).astype(q.dtype)
    s = np.where(kept(mask, causal, q, k), s.astype(wide), -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p = (p / p.sum(-1, keepdims=True)).astype(q.dtype)
    return (p.astype(wide) @ v.astype(wide)).astype(q.dtype)


def default_verdict_is_against_the_exact_value():
    """An implementation may be as far from the truth as its dtype makes it, and no further; no tolerance is given."""
    for dtype, share in (("float16", 0.99), ("bfloat16", 0.9)):
        Judged("scaled_dot_product_attention", no_better_than_its_dtype, "pass", dtype=dtype).require()

        def smaller(q, k, v, mask=None, causal=False, share=share):
            return (no_better_than_its_dtype(q, k, v, mask, causal) * q.dtype.type(share)).astype(q.dtype)

        assert (
            check("scaled_dot_product_attention", smaller, adapter="numpy", dtype=dtype, probes=GENERIC).verdict
            == "fail"
        )


CASES = {
    "CK1": [
        Judged("softmax", not_a_number, "fail", says=("NaN at",)),
        Judged("softmax", nowhere_a_number, "fail", says=("NaN at",), probes=GENERIC),
    ],
    "CK2": [ratio_and_power_are_printed],
    "CK4": [differences_too_coarse],
    "CK6": [Judged("softmax", random, "inconclusive", says=("random, not wrong",))],
    "CK7": [near_twenty_four],
    "CK9": [default_verdict_is_against_the_exact_value],
}

"""Right RMS normalisations pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance

slow = pytest.mark.slow
EVERY_DTYPE = ["float64", *(pytest.param(dtype, marks=slow) for dtype in ("float32", "float16", "bfloat16"))]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def work(*arrays):
    """float16 in float32, since squares overflow there; the others as they are, so that every step is stored in the dtype."""
    return [each.astype(np.float32) if each.dtype == np.float16 else each for each in arrays]


def total(x, axis=-1):
    """A sum that accumulates in float32 at least, stored in the dtype of x: the default precision model."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def mean(x):
    return total(x) / x.dtype.type(x.shape[-1])


def over_rows(x):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(tuple(range(x.ndim - 1)), dtype=wide).astype(x.dtype)


def quotient(x, gain, eps=1e-5):
    w, scale = work(x, gain)
    return (w / np.sqrt(mean(w * w) + w.dtype.type(eps)) * scale).astype(x.dtype)


def reciprocal_root(x, gain, eps=1e-5):
    w, scale = work(x, gain)
    return (w * (1 / np.sqrt(mean(w * w) + w.dtype.type(eps))) * scale).astype(x.dtype)


def gain_over_root(x, gain, eps=1e-5):
    w, scale = work(x, gain)
    return (w * (scale / np.sqrt(total(w * w) * w.dtype.type(1 / x.shape[-1]) + w.dtype.type(eps)))).astype(x.dtype)


def cast_before_gain(x, gain, eps=1e-5):
    """As LLaMA: normalised in float32, cast, and then multiplied in the dtype (field case LN15)."""
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    x_hat = w * (1 / np.sqrt((w * w).mean(-1, keepdims=True) + w.dtype.type(eps)))
    return x_hat.astype(x.dtype) * gain


def cast_after_gain(x, gain, eps=1e-5):
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    x_hat = w * (1 / np.sqrt((w * w).mean(-1, keepdims=True) + w.dtype.type(eps)))
    return (x_hat * gain.astype(w.dtype)).astype(x.dtype)


def by_norm(x, gain, eps=1e-5):
    """sqrt(d) x / sqrt(|x|^2 + d eps)."""
    w, scale = work(x, gain)
    d = w.dtype.type(x.shape[-1])
    squares = np.einsum("...i,...i->...", *(2 * [w.astype(np.float64)]))[..., None].astype(w.dtype)
    return (np.sqrt(d) * w / np.sqrt(squares + d * w.dtype.type(eps)) * scale).astype(x.dtype)


def computed_in_float64(x, gain, eps=1e-5):
    return quotient(x.astype(np.float64), gain.astype(np.float64), eps).astype(x.dtype)


def closed_form(dy, x, gain, eps=1e-5):
    g, w, scale = work(dy, x, gain)
    inverse = 1 / np.sqrt(mean(w * w) + w.dtype.type(eps))
    x_hat, dx = w * inverse, g * scale
    dx = (dx - x_hat * mean(dx * x_hat)) * inverse
    return dx.astype(x.dtype), over_rows(g * x_hat).astype(x.dtype)


def by_cube(dy, x, gain, eps=1e-5):
    g, w, scale = work(dy, x, gain)
    inverse, dx = 1 / np.sqrt(mean(w * w) + w.dtype.type(eps)), g * scale
    dx = dx * inverse - w * (mean(dx * w) * inverse * inverse * inverse)
    dgain = g * (w * inverse)
    while dgain.ndim > 1:
        dgain = total(dgain, 0)[0]
    return dx.astype(x.dtype), dgain.astype(x.dtype)


def step_by_step(dy, x, gain, eps=1e-5):
    """What autograd makes of every step: through the quotient, the root and the mean."""
    g, w, scale = work(dy, x, gain)
    root, dx = np.sqrt(mean(w * w) + w.dtype.type(eps)), g * scale
    d_root = -total(dx * (w / root / root))
    passed = dx / root + (d_root / (root + root)) / w.dtype.type(x.shape[-1]) * (w + w)
    return passed.astype(x.dtype), over_rows(g * (w / root)).astype(x.dtype)


def by_jacobian(dy, x, gain, eps=1e-5):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    g, w, scale = (each.astype(wide) for each in (dy, x, gain))
    inverse, n = 1 / np.sqrt(mean(w * w) + w.dtype.type(eps)), x.shape[-1]
    x_hat = w * inverse
    jacobian = np.eye(n, dtype=wide) - x_hat[..., :, None] * x_hat[..., None, :] / w.dtype.type(n)
    dx = np.einsum("...ij,...j->...i", jacobian * inverse[..., None], g * scale)
    dgain = np.einsum("ri,ri->i", g.reshape(-1, n), x_hat.reshape(-1, n))
    return dx.astype(x.dtype), dgain.astype(x.dtype)


RIGHT = [quotient, reciprocal_root, gain_over_root, cast_before_gain, cast_after_gain, computed_in_float64]
RIGHT_BACKWARD = [closed_form, by_cube, step_by_step, by_jacobian]
SMALL = ("generic*", "[!4]*")  # without the longest rows, for which a Jacobian is large


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check("rms_norm", forward, adapter="numpy", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", RIGHT_BACKWARD)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_backward_passes(backward, dtype, seed):
    report = check("rms_norm", quotient, backward=backward, adapter="numpy", dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize(("forward", "backward"), [(quotient, closed_form), (gain_over_root, by_cube)])
def test_every_size_passes(forward, backward, dtype):
    rng = np.random.default_rng(7)
    probes = [
        Probe(f"generic {d}", (rng.standard_normal((2, 3, d)), rng.standard_normal(d)))
        for d in (1, 2, 3, 8, 17, 64, 257, 1024)
    ]
    check("rms_norm", forward, backward=backward, adapter="numpy", dtype=dtype, probes=probes).raise_if_failed()


# Field cases


def test_ln9_gain_left_out_of_the_gradient():
    def wrong(dy, x, gain, eps=1e-5):
        dx, _ = closed_form(dy, x, np.ones_like(gain), eps)
        return dx, closed_form(dy, x, gain, eps)[1]

    report = check("rms_norm", quotient, backward=wrong)
    assert report.mistakes == ("rms_norm.gradient_without_gain",)
    assert report.finding("values").verdict == "pass"
    hides = Probe("gain 1", (np.random.default_rng(0).standard_normal((3, 4)), np.ones(4)))
    check("rms_norm", quotient, backward=wrong, probes=[hides]).raise_if_failed()


def test_ln11_squares_in_float16():
    def wrong(x, gain, eps=1e-5):
        m = (x * x).mean(-1, keepdims=True, dtype=np.float32)
        return (x / np.sqrt(m + np.float32(eps))).astype(x.dtype) * gain

    x = np.full((1, 4), 300.0, np.float16)
    assert (quotient(x, np.ones(4, np.float16)) == 1).all()
    with np.errstate(over="ignore"):
        assert (wrong(x, np.ones(4, np.float16)) == 0).all()
    report = check("rms_norm", wrong, adapter="numpy", dtype="float16")
    assert report.mistakes == ("rms_norm.squares_overflow",)
    assert "unstable at 'all 300'" in report.finding("values").message
    assert report.finding("scale law").verdict == "fail"


@slow
def test_ln13_one_and_two_added_to_gain():
    def plus(offset):
        return lambda x, gain, eps=1e-5: quotient(x, gain + offset, eps)

    report = check("rms_norm", plus(1))
    assert (report.verdict, report.mistakes) == ("variant", ("rms_norm.one_plus_gain",))
    assert "Pass it gain - 1" in report.finding("values").message
    assert check("rms_norm", plus(1), accept=("rms_norm.one_plus_gain",)).verdict == "pass"
    assert check("rms_norm", plus(2)).mistakes == ("rms_norm.one_added_twice",)
    assert "what is added to gain = -0.25 gives" in check("rms_norm", plus(-0.25)).finding("values").message


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_ln15_the_order_of_casts_is_rounding_only(dtype):
    rng = np.random.default_rng(1)
    probe = Probe("generic", (rng.standard_normal((16, 64)), rng.standard_normal(64)))
    ratios = [
        check("rms_norm", each, adapter="numpy", dtype=dtype, probes=[probe]).finding("values").evidence["worst"]
        for each in (cast_before_gain, cast_after_gain)
    ]
    assert ratios[0]["ratio"] != ratios[1]["ratio"]
    assert max(each["ratio"] for each in ratios) < 1


@pytest.mark.parametrize("eps", [1e-6, pytest.param(1e-8, marks=slow), pytest.param(1e-3, marks=slow)])
def test_another_eps_is_fitted_and_printed(eps):
    message = check("rms_norm", lambda x, gain: quotient(x, gain, eps)).finding("values").message
    assert float(message.split("eps = ")[1].split(" ")[0]) == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("float32", marks=slow), pytest.param("bfloat16", marks=slow)]
)
def test_the_norm_form_passes_though_it_has_more_roundings(dtype):
    check("rms_norm", by_norm, adapter="numpy", dtype=dtype).raise_if_failed()


@pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("float32", marks=slow), pytest.param("bfloat16", marks=slow)]
)
def test_twice_the_bound_in_one_entry_is_seen(dtype):
    rng = np.random.default_rng(3)
    probe = Probe("planted", (rng.standard_normal((4, 7)), rng.standard_normal(7)))
    model = precision_of(dtype)

    def off(factor):
        def wrong(x, gain):
            given = (np.asarray(x, np.float64), np.asarray(gain, np.float64))
            y = computed_in_float64(x, gain).astype(np.float64)
            y[2, 3] += factor * allowance(contract_named("rms_norm").bound(model, *given, eps=1e-5))[2, 3]
            return y.astype(x.dtype)

        return check("rms_norm", wrong, adapter="numpy", dtype=dtype, probes=[probe]).verdict

    assert (off(0.0), off(2.0)) == ("pass", "fail")


def test_one_in_1e10_is_seen_in_float64():
    def wrong(x, gain, eps=1e-5):
        return quotient(x, gain, eps) * np.where(np.arange(x.shape[-1]) == 1, 1 + 1e-10, 1.0)

    assert check("rms_norm", wrong, probes=("generic (*draw 0",)).verdict == "fail"

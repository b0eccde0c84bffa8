"""Right gradients of layer normalisation pass in every arrangement; wrong ones fail, and are told what is wrong."""

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


def forward(x, gain, bias, eps=1e-5):
    x_hat, _ = normalised(*work(x), eps)
    return (x_hat * work(gain)[0] + work(bias)[0]).astype(x.dtype)


def normalised(x, eps):
    c = x - mean(x)
    inverse = 1 / np.sqrt(mean(c * c) + x.dtype.type(eps))
    return c * inverse, inverse


def returned(dx, dgain, dbias, like):
    return tuple(each.astype(like.dtype) for each in (dx, dgain, dbias))


def closed_form(dy, x, gain, bias, eps=1e-5):
    g, w, scale = work(dy, x, gain)
    x_hat, inverse = normalised(w, eps)
    dx = g * scale
    dx = (dx - mean(dx) - x_hat * mean(dx * x_hat)) * inverse
    return returned(dx, over_rows(g * x_hat), over_rows(g), x)


def by_sums(dy, x, gain, bias, eps=1e-5):
    """(n g - sum g - x^ sum g x^) / (n r), and sums over one axis after another."""
    g, w, scale = work(dy, x, gain)
    x_hat, inverse = normalised(w, eps)
    n, dx = w.dtype.type(x.shape[-1]), g * scale
    dx = (n * dx - total(dx) - x_hat * total(dx * x_hat)) * (inverse / n)
    dgain, dbias = g * x_hat, g
    while dgain.ndim > 1:
        dgain, dbias = total(dgain, 0)[0], total(dbias, 0)[0]
    return returned(dx, dgain, dbias, x)


def by_coefficients(dy, x, gain, bias, eps=1e-5):
    """As PyTorch's kernels: a g + b x + c, with the sums of g and g x."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    g, w, scale = (each.astype(wide) for each in (dy, x, gain))
    m = w.mean(-1, keepdims=True)
    a = 1 / np.sqrt(((w - m) ** 2).mean(-1, keepdims=True) + w.dtype.type(eps))
    share, dx = w.dtype.type(1 / x.shape[-1]), g * scale
    ds, db = (dx * w).sum(-1, keepdims=True), dx.sum(-1, keepdims=True)
    b = (db * m - ds) * a * a * a * share
    c = -b * m - db * a * share
    return returned(a * dx + b * w + c, over_rows(g * (a * w - a * m)), over_rows(g), x)


def by_jacobian(dy, x, gain, bias, eps=1e-5):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    g, w, scale = (each.astype(wide) for each in (dy, x, gain))
    x_hat, inverse = normalised(w, eps)
    n = x.shape[-1]
    jacobian = np.eye(n, dtype=wide) - w.dtype.type(1 / n) - x_hat[..., :, None] * x_hat[..., None, :] / w.dtype.type(n)
    dx = np.einsum("...ij,...j->...i", jacobian * inverse[..., None], g * scale)
    rows = (-1, n)
    return returned(dx, np.einsum("ri,ri->i", g.reshape(rows), x_hat.reshape(rows)), over_rows(g), x)


def step_by_step(dy, x, gain, bias, eps=1e-5):
    """What autograd makes of every step: through the quotient, the root, the variance and the mean."""
    g, w, scale = work(dy, x, gain)
    n = w.dtype.type(x.shape[-1])
    c = w - mean(w)
    root = np.sqrt(mean(c * c) + w.dtype.type(eps))
    x_hat, d_hat = c / root, g * scale
    dc = d_hat / root
    d_root = -total(d_hat * (x_hat / root))
    dc = dc + (d_root / (root + root)) / n * (c + c)
    return returned(dc - mean(dc), over_rows(g * x_hat), over_rows(g), x)


RIGHT = [closed_form, by_sums, by_coefficients, by_jacobian, step_by_step]
SMALL = ("generic*", "[!4]*")  # without the longest rows, for which a Jacobian is large


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_backward_passes(backward, dtype, seed):
    report = check("layer_norm", forward, backward=backward, adapter="numpy", dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", RIGHT)
def test_every_size_passes(backward, dtype):
    rng = np.random.default_rng(6)
    probes = [
        Probe(f"generic {d}", (rng.standard_normal((2, 3, d)), rng.standard_normal(d), rng.standard_normal(d)))
        for d in (1, 2, 3, 8, 17, 64, 257, *((1024,) if backward is not by_jacobian else ()))
    ]
    check("layer_norm", forward, backward=backward, adapter="numpy", dtype=dtype, probes=probes).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_a_long_probe_passes_in_time(dtype):
    rng = np.random.default_rng(0)
    long = Probe("64 x 4096", (rng.standard_normal((64, 4096)), rng.standard_normal(4096), rng.standard_normal(4096)))
    wide = long if dtype == "bfloat16" else Probe("64 x 512", tuple(each[..., :512] for each in long.inputs))
    report = check("layer_norm", forward, backward=closed_form, adapter="numpy", dtype=dtype, probes=[wide])
    report.raise_if_failed()
    # sums of n terms are bounded in any order, and NumPy's are pairwise
    assert 1e-4 < report.finding("values").evidence["worst"]["ratio"] < 1


@slow
def test_ln7_a_mean_too_many_or_missing():
    x, g = np.array([[1.0, 2.0, 4.0]]), np.array([[1.0, 0.0, 0.0]])
    ones, zeros = np.ones(3), np.zeros(3)

    def wrong(means, shares):
        def backward(dy, x, gain, bias, eps=1e-5):
            x_hat, inverse = normalised(x, eps)
            dx = dy * gain
            dx = (dx - means * mean(dx) - shares * x_hat * mean(dx * x_hat)) * inverse
            return dx, over_rows(dy * x_hat), over_rows(dy)

        return backward

    right = contract_named("layer_norm").layer(x, ones, zeros, eps=1e-5)[1](g)[0]
    assert right[0] == pytest.approx([0.22908, -0.34362, 0.11454], abs=1e-5)
    for means, shares, values, mistake, broken in [
        (2, 1, [-0.03818, -0.61088, -0.15272], "gradient_mean_twice", "gradient sums to 0"),
        (0, 1, [0.49634, -0.07636, 0.38180], "gradient_without_mean", "gradient sums to 0"),
        (1, 0, [0.53452, -0.26726, -0.26726], "gradient_without_x_hat", "Euler's identity"),
    ]:
        assert wrong(means, shares)(g, x, ones, zeros)[0][0] == pytest.approx(values, abs=1e-5)
        report = check("layer_norm", forward, backward=wrong(means, shares), probes=("generic*draw 0", "[Eg]*"))
        assert report.mistakes == (f"layer_norm.{mistake}",)
        assert report.finding(broken).verdict == "fail"


@pytest.mark.parametrize(
    ("count", "mistake"),
    [
        (lambda x: x.shape[1], "layer_norm.gradient_count_of_second_axis"),
        (lambda x: x[0].size, "layer_norm.gradient_count_behind_first_axis"),
    ],
)
def test_ln8_a_count_that_is_right_for_two_axes_only(count, mistake):
    def wrong(dy, x, gain, bias, eps=1e-5):
        x_hat, inverse = normalised(x, eps)
        dx, n = dy * gain, count(x)
        dx = (dx - total(dx) / n - x_hat * total(dx * x_hat) / n) * inverse
        return dx, over_rows(dy * x_hat), over_rows(dy)

    check("layer_norm", forward, backward=wrong, probes=("generic (7, 11)*",)).raise_if_failed()
    assert check("layer_norm", forward, backward=wrong, probes=("generic*",)).mistakes == (mistake,)
    rng = np.random.default_rng(0)
    cube = Probe("(2, 2, 2)", (rng.standard_normal((2, 2, 2)), np.ones(2), np.zeros(2)))
    hidden = mistake.endswith("second_axis")  # where 2 = 2 hides it
    assert check("layer_norm", forward, backward=wrong, probes=[cube]).verdict == ("pass" if hidden else "fail")


def test_parameters_summed_over_the_first_axis_only():
    def wrong(dy, x, gain, bias, eps=1e-5):
        dx, _, _ = closed_form(dy, x, gain, bias, eps)
        return dx, (dy * normalised(x, eps)[0]).sum(0), dy.sum(0)

    report = check("layer_norm", forward, backward=wrong, probes=("generic (3, 5, 4)*",))
    assert report.verdict == "error"
    assert "backward returned shape (5, 4), needed (4,)" in report.finding("calls").message


@pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("float32", marks=slow), pytest.param("bfloat16", marks=slow)]
)
@pytest.mark.parametrize("which", range(4))
def test_twice_the_bound_in_one_entry_is_seen(which, dtype):
    """The bound is one of the worst case, so half of it, for the planted error, is not enough to be sure."""
    rng = np.random.default_rng(3)
    inputs = (rng.standard_normal((4, 7)), rng.standard_normal(7), rng.standard_normal(7))
    contract, model = contract_named("layer_norm"), precision_of(dtype)
    kind = "gradients" if which else "values"

    def off(factor):
        def planted(values, at, *inputs, dy=None):
            given = [np.asarray(each, np.float64) for each in inputs]
            bound = (
                contract.bound(model, *given, eps=1e-5)
                if dy is None
                else contract.gradient_bounds(model, np.asarray(dy, np.float64), *given, eps=1e-5)[which - 1]
            )
            wrong = np.array(values, np.float64)
            wrong[at] += factor * allowance(bound)[at]
            return wrong

        def wrong_forward(x, gain, bias):
            y = forward(x, gain, bias)
            return y if which else planted(y, (2, 3), x, gain, bias).astype(x.dtype)

        def wrong_backward(dy, x, gain, bias):
            gradients = list(closed_form(dy, x, gain, bias))
            if which:
                at = (2, 3) if which == 1 else (3,)
                gradients[which - 1] = planted(gradients[which - 1], at, x, gain, bias, dy=dy).astype(x.dtype)
            return tuple(gradients)

        options = {"adapter": "numpy", "dtype": dtype, "probes": [Probe("planted", inputs)]}
        return check("layer_norm", wrong_forward, backward=wrong_backward, **options).finding(kind).verdict

    assert (off(0.0), off(2.0)) == ("pass", "fail")


@pytest.mark.parametrize("which", range(4))
def test_one_in_1e10_is_seen_in_float64(which):
    def wrong_forward(x, gain, bias, eps=1e-5):
        y = forward(x, gain, bias, eps)
        return y if which else y * np.where(np.arange(y.shape[-1]) == 1, 1 + 1e-10, 1.0)

    def wrong_backward(dy, x, gain, bias, eps=1e-5):
        gradients = list(closed_form(dy, x, gain, bias, eps))
        if which:
            gradients[which - 1].reshape(-1)[1] *= 1 + 1e-10
        return tuple(gradients)

    report = check("layer_norm", wrong_forward, backward=wrong_backward, probes=("generic (*draw 0",))
    assert report.finding("gradients" if which else "values").verdict == "fail"
    assert report.finding("values" if which else "gradients").verdict == "pass"

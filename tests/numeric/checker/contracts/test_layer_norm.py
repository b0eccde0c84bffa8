"""Right layer normalisations pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, check

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


def two_passes(x, gain, bias, eps=1e-5):
    w, gain, bias = work(x, gain, bias)
    c = w - mean(w)
    return (c / np.sqrt(mean(c * c) + w.dtype.type(eps)) * gain + bias).astype(x.dtype)


def reciprocal_root(x, gain, bias, eps=1e-5):
    w, gain, bias = work(x, gain, bias)
    one, d = w.dtype.type(1), w.dtype.type(1 / x.shape[-1])
    c = w - total(w) * d
    inverse = one / np.sqrt(total(c * c) * d + w.dtype.type(eps))
    return (c * (inverse * gain) + bias).astype(x.dtype)


def fused_scale_and_shift(x, gain, bias, eps=1e-5):
    w, gain, bias = work(x, gain, bias)
    m = mean(w)
    scale = gain / np.sqrt(mean((w - m) * (w - m)) + w.dtype.type(eps))
    return (w * scale + (bias - m * scale)).astype(x.dtype)


def welford(x, gain, bias, eps=1e-5):
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    m, squares = np.zeros_like(w[..., :1]), np.zeros_like(w[..., :1])
    for k in range(x.shape[-1]):
        step = w[..., k : k + 1] - m
        m = m + step / w.dtype.type(k + 1)
        squares = squares + step * (w[..., k : k + 1] - m)
    inverse = 1 / np.sqrt(squares / w.dtype.type(x.shape[-1]) + w.dtype.type(eps))
    return ((w - m) * inverse * gain.astype(w.dtype) + bias.astype(w.dtype)).astype(x.dtype)


def tiled(x, gain, bias, eps=1e-5):
    """Counts, means and squares of tiles of five, merged as by Chan, Golub and LeVeque."""
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    count, m, squares = 0, np.zeros_like(w[..., :1]), np.zeros_like(w[..., :1])
    for start in range(0, x.shape[-1], 5):
        tile = w[..., start : start + 5]
        n, own = tile.shape[-1], tile.mean(-1, keepdims=True)
        step = own - m
        squares = (
            squares + ((tile - own) ** 2).sum(-1, keepdims=True) + step * step * w.dtype.type(count * n / (count + n))
        )
        m = m + step * w.dtype.type(n / (count + n))
        count += n
    root = np.sqrt(squares / w.dtype.type(count) + w.dtype.type(eps))
    return ((w - m) / root * gain.astype(w.dtype) + bias.astype(w.dtype)).astype(x.dtype)


def by_einsum(x, gain, bias, eps=1e-5):
    w = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    ones = np.full(x.shape[-1], 1 / x.shape[-1], w.dtype)
    c = w - np.einsum("...i,i->...", w, ones)[..., None]
    v = np.einsum("...i,...i,i->...", c, c, ones)[..., None]
    return (c / np.sqrt(v + w.dtype.type(eps)) * gain.astype(w.dtype) + bias.astype(w.dtype)).astype(x.dtype)


def computed_in_float64(x, gain, bias, eps=1e-5):
    return two_passes(*(each.astype(np.float64) for each in (x, gain, bias)), eps).astype(x.dtype)


def one_pass(x, gain, bias, eps=1e-5):
    w, gain, bias = (each.astype(np.float32) if each.dtype.itemsize == 2 else each for each in (x, gain, bias))
    m = mean(w)
    v = np.maximum(mean(w * w) - m * m, w.dtype.type(0))
    return ((w - m) / np.sqrt(v + w.dtype.type(eps)) * gain + bias).astype(x.dtype)


RIGHT = [
    two_passes,
    reciprocal_root,
    fused_scale_and_shift,
    welford,
    tiled,
    by_einsum,
    computed_in_float64,
]


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check("layer_norm", forward, adapter="numpy", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", [two_passes, fused_scale_and_shift, one_pass])
def test_every_size_passes(forward, dtype):
    rng = np.random.default_rng(5)
    sizes = [1, 2, 3, 8, 17, 64, 257, 1024]
    probes = [
        Probe(f"generic {d}", (rng.standard_normal((3, d)), rng.standard_normal(d), rng.standard_normal(d)))
        for d in sizes
    ]
    check("layer_norm", forward, adapter="numpy", dtype=dtype, probes=probes).raise_if_failed()


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_one_pass_passes_where_it_keeps_its_digits_and_is_named_where_it_does_not(dtype):
    check("layer_norm", one_pass, adapter="numpy", dtype=dtype, probes=("generic (*",)).raise_if_failed()
    if dtype in ("float64", "float32"):
        report = check("layer_norm", one_pass, adapter="numpy", dtype=dtype)
        assert report.mistakes[0] == "layer_norm.one_pass_variance"
        assert "right formula, unstable at 'large offset'" in report.finding("values").message
        assert "LN(x + c) = LN(x) fails" in report.finding("shift invariance").message


# Field cases

PLAIN = {d: (np.ones(d), np.zeros(d)) for d in (2, 3, 4, 5)}


def test_ln1_unbiased_variance():
    def wrong(x, gain, bias, eps=1e-5):
        c = x - x.mean(-1, keepdims=True)
        return c / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gain + bias

    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert wrong(x, *PLAIN[4])[0, :2] == pytest.approx([-1.16189, -0.38730], abs=1e-4)
    right = check("layer_norm", two_passes, probes=[Probe("LN1", (x, *PLAIN[4]))])
    assert right.verdict == "pass"
    report = check("layer_norm", wrong, probes=[Probe("LN1", (x, *PLAIN[4])), "variance"])
    assert report.mistakes[0] == "layer_norm.unbiased_variance"
    assert report.finding("variance").verdict == "fail"
    assert check("layer_norm", wrong).mistakes == ("layer_norm.unbiased_variance",)


def test_ln2_eps_outside_the_root():
    def wrong(x, gain, bias, eps=1e-5):
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps) * gain + bias

    x = np.array([[0.0, 1e-3]])
    assert wrong(x, *PLAIN[2])[0] == pytest.approx([-0.98039, 0.98039], abs=1e-5)
    report = check("layer_norm", wrong, probes=[Probe("LN2", (x, *PLAIN[2]))])
    assert report.mistakes[0] == "layer_norm.eps_outside_root"
    assert report.finding("values").evidence["worst"]["exact"] == pytest.approx(-0.15617, abs=1e-5)
    report = check("layer_norm", wrong)
    assert report.mistakes == ("layer_norm.eps_outside_root",)
    assert report.finding("scale law").verdict == "fail"


def test_ln5_cancellation_in_float32():
    x = np.array([[40000.0, 40001.0, 40002.0, 40003.0]])
    probe = Probe("LN5", (x, *PLAIN[4]))
    check("layer_norm", two_passes, dtype="float32", probes=[probe]).raise_if_failed()
    report = check("layer_norm", one_pass, dtype="float32", probes=[probe, "generic (*"])
    assert report.mistakes == ("layer_norm.one_pass_variance",)
    assert abs(report.finding("values").evidence["worst"]["exact"]) == pytest.approx(1.34164, abs=1e-4)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_ln14_a_constant_row_gives_the_bias_and_not_nan(dtype):
    def without_eps(x, gain, bias, eps=1e-5):
        w = x.astype(np.float64)
        c = w - w.mean(-1, keepdims=True)
        return (c / np.sqrt((c * c).mean(-1, keepdims=True)) * gain.astype(np.float64) + bias).astype(x.dtype)

    constant = ("constant rows", "generic (7, 11)*draw 0")  # in float16 nothing bounds the first, but NaN fails
    check("layer_norm", two_passes, adapter="numpy", dtype=dtype, probes=constant).raise_if_failed()
    report = check("layer_norm", without_eps, adapter="numpy", dtype=dtype, probes=constant)
    assert report.verdict == "fail"
    assert "NaN at 'constant rows'" in report.finding("values").message


@pytest.mark.parametrize(
    ("eps", "dtype"),
    [(1e-6, "float64"), *(pytest.param(*each, marks=slow) for each in [(1e-12, "float64"), (3e-4, "float32")])],
)
def test_ln14_another_eps_is_fitted_and_printed(eps, dtype):
    def wrong(x, gain, bias):
        return two_passes(x, gain, bias, eps)

    message = check("layer_norm", wrong, adapter="numpy", dtype=dtype).finding("values").message
    told = float(message.split("eps = ")[1].split(" ")[0])
    assert told == pytest.approx(eps, rel=1e-6 if dtype == "float64" else 1e-3)


@slow
def test_another_scale_and_another_gain_are_fitted():
    def scaled(x, gain, bias, eps=1e-5):
        return two_passes(x, gain * 0.9, bias, eps)

    def half_added(x, gain, bias, eps=1e-5):
        return two_passes(x, gain + 0.5, bias, eps)

    assert "scale of x^ = 0.9 gives" in check("layer_norm", scaled).finding("values").message
    assert "what is added to gain = 0.5 gives" in check("layer_norm", half_added).finding("values").message


@slow
def test_gain_stored_less_one_is_a_variant_and_may_be_accepted():
    def zero_centred(x, gain, bias, eps=1e-5):
        return two_passes(x, 1 + gain, bias, eps)

    report = check("layer_norm", zero_centred)
    assert (report.verdict, report.mistakes) == ("variant", ("layer_norm.one_plus_gain",))
    assert "Pass it gain - 1" in report.finding("values").message
    assert check("layer_norm", zero_centred, accept=("layer_norm.one_plus_gain",)).verdict == "pass"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_sum_in_16_bits_is_named(dtype):
    def narrow(x, gain, bias, eps=1e-5):
        def short(a):
            return np.add.accumulate(a, -1)[..., -1:] / a.dtype.type(a.shape[-1])

        c = x - short(x)
        return c / np.sqrt(short(c * c) + x.dtype.type(eps)) * gain + bias

    report = check("layer_norm", narrow, adapter="numpy", dtype=dtype)
    assert report.mistakes == ("layer_norm.narrow_sums",)


def test_squares_in_float16_are_named():
    def squares(x, gain, bias, eps=1e-5):
        c = x - x.mean(-1, keepdims=True)
        v = (c * c).mean(-1, keepdims=True, dtype=np.float32)
        return ((c / np.sqrt(v + np.float32(eps))) * gain + bias).astype(x.dtype)

    report = check("layer_norm", squares, adapter="numpy", dtype="float16")
    assert report.mistakes == ("layer_norm.squares_overflow",)

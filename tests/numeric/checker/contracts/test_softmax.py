"""Right softmaxes pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import math

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import check

# all properties, and all probes but the second and third draw of generic ones, "4 x 4096" and "4096 x 3"
SMALL = ("*draw 0", "[!46g]*", "gap*", "gradient*")
slow = pytest.mark.slow
EVERY_DTYPE = ["float64", pytest.param("float32", marks=slow), pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, pytest.param(1, marks=slow), pytest.param(2, marks=slow)]
DTYPES = ["float32", pytest.param("float64", marks=slow)]


def total(x, axis):
    """A sum that accumulates in float32 at least, stored in the dtype of x: the default precision model."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def shift_last(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    p = np.exp(y - y.max(axis, keepdims=True))
    return p / total(p, axis)


def shift_first(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / total(p, axis)


def by_reciprocals(z, axis=-1, temperature=1.0):
    one = z.dtype.type(1)
    y = z * (one / z.dtype.type(temperature))
    p = np.exp(y - y.max(axis, keepdims=True))
    return p * (one / total(p, axis))


def through_logarithm(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    x = y - y.max(axis, keepdims=True)
    return np.exp(x - np.log(total(np.exp(x), axis)))


def base_two(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    x = (y - y.max(axis, keepdims=True)) * z.dtype.type(1 / math.log(2))
    p = np.exp2(x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x).astype(z.dtype)
    return p / total(p, axis)


def summed_backwards(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    p = np.exp(y - y.max(axis, keepdims=True))
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    running = np.flip(p, axis).astype(wide).cumsum(axis)
    return p / np.take(running, [-1], axis).astype(z.dtype)


def online(z, axis=-1, temperature=1.0):
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    x = np.moveaxis(z / z.dtype.type(temperature), axis, -1).astype(wide)
    peak, sums = np.full(x.shape[:-1], -np.inf, wide), np.zeros(x.shape[:-1], wide)
    for j in range(x.shape[-1]):
        new = np.maximum(peak, x[..., j])
        sums = sums * np.exp(peak - new) + np.exp(x[..., j] - new)
        peak = new
    return np.moveaxis(np.exp(x - peak[..., None]) / sums[..., None], -1, axis).astype(z.dtype)


def tiled(z, axis=-1, temperature=1.0):
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    x = np.moveaxis(z / z.dtype.type(temperature), axis, -1).astype(wide)
    tiles = [x[..., start : start + 3] for start in range(0, x.shape[-1], 3)]
    peaks = [tile.max(-1, keepdims=True) for tile in tiles]
    sums = [np.exp(tile - peak).sum(-1, keepdims=True) for tile, peak in zip(tiles, peaks, strict=True)]
    peak = np.max(peaks, axis=0)
    merged = sum(each * np.exp(own - peak) for each, own in zip(sums, peaks, strict=True))
    return np.moveaxis(np.exp(x - peak) / merged, -1, axis).astype(z.dtype)


def computed_in_float64(z, axis=-1, temperature=1.0):
    return shift_last(z.astype(np.float64), axis, temperature).astype(z.dtype)


RIGHT = [
    shift_last,
    shift_first,
    by_reciprocals,
    through_logarithm,
    base_two,
    summed_backwards,
    online,
    tiled,
    computed_in_float64,
]


def unshifted(z, axis=-1, temperature=1.0):
    p = np.exp(z / z.dtype.type(temperature))
    return p / total(p, axis)


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check("softmax", forward, dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_unshifted_passes_as_long_as_it_stays_in_range(dtype):
    check("softmax", unshifted, dtype=dtype, probes=("generic*",)).raise_if_failed()


def without_axis(z, temperature=1.0):
    return shift_last(z, -1, temperature)


# Planted bugs: name, forward, backward, the check that must fail, words of its message


def along_the_wrong_axis(z, axis=-1, temperature=1.0):
    return shift_last(z, 0 if axis == -1 else -1, temperature)


def over_everything(z, axis=-1, temperature=1.0):
    p = np.exp(z / temperature - (z / temperature).max())
    return p / p.sum()


def shifted_by_maximum_with_zero(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = np.exp(y - np.maximum(0, y.max(axis, keepdims=True)))
    return p / p.sum(axis, keepdims=True)


def shifted_by_maximum_of_all(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = np.exp(y - y.max())
    return p / p.sum(axis, keepdims=True)


def multiplies_by_temperature(z, axis=-1, temperature=1.0):
    return shift_last(z * z.dtype.type(temperature), axis)


def ignores_temperature(z, axis=-1, temperature=1.0):
    return shift_last(z, axis)


def ignores_axis(z, axis=-1, temperature=1.0):
    return shift_last(z, -1, temperature)


def with_epsilon(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = np.exp(y - y.max(axis, keepdims=True))
    return p / (p.sum(axis, keepdims=True) + z.dtype.type(1e-4))


def slightly_off(z, axis=-1, temperature=1.0):
    return shift_last(z, axis, temperature) * z.dtype.type(1 + 1e-10 if z.dtype == np.float64 else 1 + 1e-5)


def base_ten(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = 10 ** (y - y.max(axis, keepdims=True))
    return p / p.sum(axis, keepdims=True)


def sigmoid(z, axis=-1, temperature=1.0):
    return 1 / (1 + np.exp(-z / z.dtype.type(temperature)))


WRONG = [
    (along_the_wrong_axis, "slices sum to 1", "slices do not sum to 1"),  # field case SM1
    (over_everything, "slices are independent", "a slice changes when other slices are taken away"),
    (unshifted, "shift invariance", "softmax(z + c) = softmax(z) fails"),  # field case SM5
    (shifted_by_maximum_with_zero, "values", "NaN at 'both -10000'"),  # field case SM3
    (shifted_by_maximum_of_all, "values", "NaN at 'slices far apart'"),
    (multiplies_by_temperature, "values", "temperature="),
    (ignores_temperature, "values", "temperature="),
    (ignores_axis, "values", "axis=0"),
    (with_epsilon, "slices sum to 1", "slices do not sum to 1"),
    (slightly_off, "values", "probes fail"),
    (base_ten, "values", "probes fail"),
    (sigmoid, "slices sum to 1", "slices do not sum to 1"),
]


@pytest.mark.parametrize(("forward", "broken", "words"), WRONG, ids=lambda each: getattr(each, "__name__", None))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_forward_fails(forward, broken, words, dtype, seed):
    report = check("softmax", forward, dtype=dtype, seed=seed, probes=SMALL)
    assert report.verdict == "fail"
    assert report.finding("values").verdict == "fail"
    assert report.finding(broken).verdict == "fail"
    assert words in report.finding(broken).message


def test_an_implementation_without_an_axis_is_probed_without_it():
    report = check("softmax", without_axis, probes=SMALL)
    report.raise_if_failed()
    assert report.finding("option axis").verdict == "not run"
    assert report.finding("option axis").message == "axis=0: it takes no keyword axis"


def test_fixed_options_are_not_probed_and_may_be_built_in():
    def always_over_rows(z):
        return shift_last(z, 0, 0.25)

    report = check("softmax", always_over_rows, options={"axis": 0, "temperature": 0.25}, probes=SMALL)
    report.raise_if_failed()
    assert not [finding for finding in report.findings if finding.check.startswith("option")]
    assert check("softmax", always_over_rows, options={"axis": 0, "temperature": 0.3}, probes=SMALL).verdict == "fail"


def test_axis_in_the_middle():
    check("softmax", shift_last, options={"axis": 1}, probes=SMALL).raise_if_failed()
    check("softmax", shift_last, options={"axis": 3}, probes=SMALL).raise_if_failed()

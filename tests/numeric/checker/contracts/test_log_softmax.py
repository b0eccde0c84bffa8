"""Right and wrong logarithms of softmax, forward and backward."""

import numpy as np
import pytest

from numeric.checker import check

# all properties, and all probes but the second and third draw of generic ones, "4 x 4096" and "4096 x 3"
SMALL = ("*draw 0", "[!46g]*", "gap*", "gradient*")
slow = pytest.mark.slow
EVERY_DTYPE = [*(pytest.param(each, marks=slow) for each in ("float64", "float32", "float16")), "bfloat16"]
SEEDS = [0, pytest.param(1, marks=slow), pytest.param(2, marks=slow)]
DTYPES = ["float32", pytest.param("float64", marks=slow)]


def total(x, axis):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def shifted(z, axis, temperature):
    y = z / z.dtype.type(temperature)
    return y - y.max(axis, keepdims=True)


def right(z, axis=-1, temperature=1.0):
    x = shifted(z, axis, temperature)
    return x - np.log(total(np.exp(x), axis))


def shift_first(z, axis=-1, temperature=1.0):
    x = (z - z.max(axis, keepdims=True)) / z.dtype.type(temperature)
    return x - np.log(total(np.exp(x), axis))


def logarithm_of_softmax(z, axis=-1, temperature=1.0):
    p = np.exp(shifted(z, axis, temperature))
    return np.log(p / total(p, axis))


def with_log1p(z, axis=-1, temperature=1.0):
    x = shifted(z, axis, temperature)
    return x - np.log1p(total(np.exp(x), axis) - z.dtype.type(1))


def softmax_of(z, axis, temperature):
    p = np.exp(shifted(z, axis, temperature))
    return p / total(p, axis)


def backward_from_weights(dy, z, axis=-1, temperature=1.0):
    return (dy - softmax_of(z, axis, temperature) * total(dy, axis)) / z.dtype.type(temperature)


def backward_from_output(dy, z, axis=-1, temperature=1.0):
    return (dy - np.exp(right(z, axis, temperature)) * total(dy, axis)) / z.dtype.type(temperature)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", [backward_from_weights, backward_from_output])
@pytest.mark.parametrize("forward", [right, shift_first])
def test_right_ones_pass(forward, backward, dtype, seed):
    report = check("log_softmax", forward, backward=backward, dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


@pytest.mark.parametrize("forward", [with_log1p, logarithm_of_softmax])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_right_ones_pass_where_they_stay_in_range(forward, dtype):
    check("log_softmax", forward, dtype=dtype, probes=("generic*",)).raise_if_failed()


def maximum_and_logarithm_together(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    peak = y.max(axis, keepdims=True)
    return y - (peak + np.log(np.exp(y - peak).sum(axis, keepdims=True)))


def along_the_wrong_axis(z, axis=-1, temperature=1.0):
    return right(z, 0 if axis == -1 else -1, temperature)


def logarithm_to_base_two(z, axis=-1, temperature=1.0):
    x = shifted(z, axis, temperature)
    return x - np.log2(np.exp(x).sum(axis, keepdims=True))


def not_normalised(z, axis=-1, temperature=1.0):
    return shifted(z, axis, temperature)


def temperature_on_the_first_term_only(z, axis=-1, temperature=1.0):
    x = z - z.max(axis, keepdims=True)
    return x / z.dtype.type(temperature) - np.log(np.exp(x).sum(axis, keepdims=True))


WRONG = [
    (maximum_and_logarithm_together, "values", "probe 'equal and huge'"),  # field case CE6
    (along_the_wrong_axis, "exponentials sum to 1", "the exponentials of a slice do not sum to 1"),
    (logarithm_of_softmax, "values", "found -inf"),
    (logarithm_to_base_two, "exponentials sum to 1", "the exponentials of a slice do not sum to 1"),
    (not_normalised, "exponentials sum to 1", "the exponentials of a slice do not sum to 1"),
    (temperature_on_the_first_term_only, "values", "temperature="),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("forward", "broken", "words"), WRONG, ids=lambda each: getattr(each, "__name__", None))
def test_a_wrong_forward_fails(forward, broken, words, dtype, seed):
    report = check("log_softmax", forward, dtype=dtype, seed=seed, probes=SMALL)
    assert report.verdict == "fail"
    assert report.finding(broken).verdict == "fail"
    assert words in report.finding(broken).message


def identity(dy, z, axis=-1, temperature=1.0):
    return dy / z.dtype.type(temperature)


def softmax_backward(dy, z, axis=-1, temperature=1.0):
    s = softmax_of(z, axis, temperature)
    return s * (dy - total(s * dy, axis)) / z.dtype.type(temperature)


def mean_in_place_of_sum(dy, z, axis=-1, temperature=1.0):
    return (dy - softmax_of(z, axis, temperature) * dy.mean(axis, keepdims=True)) / z.dtype.type(temperature)


WRONG_BACKWARD = [
    (identity, "gradient sums to 0"),
    (softmax_backward, "gradients"),
    (mean_in_place_of_sum, "gradient sums to 0"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("backward", "broken"), WRONG_BACKWARD, ids=lambda each: getattr(each, "__name__", None))
def test_a_wrong_backward_fails(backward, broken, dtype, seed):
    report = check("log_softmax", right, backward=backward, dtype=dtype, seed=seed, probes=SMALL)
    assert report.verdict == "fail"
    assert report.finding("gradients").verdict == "fail"
    assert report.finding(broken).verdict == "fail"

"""Right gradients of softmax pass in every arrangement; wrong ones fail, and the property they break is named."""

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


def inner_product_taken_off(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return s * (dy - total(s * dy, axis)) / z.dtype.type(temperature)


def products_apart(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return (s * dy - s * total(s * dy, axis)) / z.dtype.type(temperature)


def jacobian_as_matrix(dy, z, axis=-1, temperature=1.0):
    s, g = (np.moveaxis(each, axis, -1) for each in (shift_last(z, axis, temperature), dy))
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    jacobian = np.eye(s.shape[-1], dtype=s.dtype) * s[..., None] - s[..., :, None] * s[..., None, :]
    product = (jacobian.astype(wide) @ g.astype(wide)[..., None])[..., 0].astype(z.dtype)
    return np.moveaxis(product / z.dtype.type(temperature), -1, axis)


RIGHT_BACKWARD = [inner_product_taken_off, products_apart, jacobian_as_matrix]


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", RIGHT_BACKWARD)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_backward_passes(backward, dtype, seed):
    report = check("softmax", shift_last, backward=backward, dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0 < report.finding("gradients").evidence["worst"]["ratio"] < 1


def no_inner_product(dy, z, axis=-1, temperature=1.0):
    return dy * shift_last(z, axis, temperature) / z.dtype.type(temperature)


def identity(dy, z, axis=-1, temperature=1.0):
    return dy.copy()


def diagonal_only(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return dy * s * (1 - s) / z.dtype.type(temperature)


def no_temperature(dy, z, axis=-1, temperature=1.0):
    return inner_product_taken_off(dy, z, axis, temperature) * z.dtype.type(temperature)


def inner_product_over_the_wrong_axis(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return s * (dy - (s * dy).sum(0 if axis == -1 else -1, keepdims=True)) / z.dtype.type(temperature)


def inner_product_added(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return s * (dy + (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def logits_in_place_of_weights(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return s * (dy - (z * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def mean_in_place_of_inner_product(dy, z, axis=-1, temperature=1.0):
    s = shift_last(z, axis, temperature)
    return s * (dy - dy.mean(axis, keepdims=True)) / z.dtype.type(temperature)


def negated(dy, z, axis=-1, temperature=1.0):
    return -inner_product_taken_off(dy, z, axis, temperature)


WRONG_BACKWARD = [
    (no_inner_product, "gradient sums to 0", "gradient does not sum to 0"),
    (no_inner_product, "constant cotangent", "J 1 = 0 fails"),
    (identity, "gradient sums to 0", "gradient does not sum to 0"),  # field case SM9
    (diagonal_only, "constant cotangent", "J 1 = 0 fails"),  # field case SM8
    (no_temperature, "gradients", "temperature="),
    (inner_product_over_the_wrong_axis, "gradient sums to 0", "gradient does not sum to 0"),
    (inner_product_added, "constant cotangent", "J 1 = 0 fails"),
    (logits_in_place_of_weights, "Jacobian is symmetric", "the Jacobian is not symmetric"),  # field case SM11
    (mean_in_place_of_inner_product, "Jacobian is symmetric", "the Jacobian is not symmetric"),
    (negated, "gradients", "probes fail"),
]


@pytest.mark.parametrize(
    ("backward", "broken", "words"), WRONG_BACKWARD, ids=lambda each: getattr(each, "__name__", None)
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_backward_fails(backward, broken, words, dtype, seed):
    report = check("softmax", shift_last, backward=backward, dtype=dtype, seed=seed, probes=SMALL)
    assert report.verdict == "fail"
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").verdict == "fail"
    assert report.finding(broken).verdict == "fail"
    assert words in report.finding(broken).message


def test_axis_in_the_middle():
    check("softmax", shift_last, backward=products_apart, options={"axis": 1}, probes=SMALL).raise_if_failed()

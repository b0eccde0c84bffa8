"""How wide the bound of softmax is, what widens it, and what does not."""

import numpy as np
import pytest

from numeric.checker import Precision, Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.contracts._softmax_orders import denominator, exponentials, running_maxima, shifted_logits
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance

EVERY_DTYPE = ["float64", "float32", "float16", "bfloat16"]


def total(x, axis):
    """A sum that accumulates in float32 at least, stored in the dtype of x: the default precision model."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def shift_last(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    p = np.exp(y - y.max(axis, keepdims=True))
    return p / total(p, axis)


def test_a_bfloat16_sum_of_4096_terms_is_a_mistake_and_not_a_tolerance():
    def accumulates_in_bfloat16(z):
        p = np.exp(z - z.max(-1, keepdims=True))
        return p / np.take(np.add.accumulate(p, -1), [-1], -1)

    long = Probe("long", (np.random.default_rng(0).standard_normal((2, 4096)),))
    assert check("softmax", accumulates_in_bfloat16, dtype="bfloat16", probes=[long]).verdict == "fail"
    short = ("generic*draw 0",)
    check(
        "softmax", accumulates_in_bfloat16, dtype="bfloat16", precision="bfloat16/bfloat16", probes=short
    ).raise_if_failed()


def test_lower_precision_inside_is_found_and_can_be_stated():
    def in_float32(z, axis=-1, temperature=1.0):
        return shift_last(z.astype(np.float32), axis, temperature).astype(z.dtype)

    assert check("softmax", in_float32, probes=("generic*",)).verdict == "fail"
    # at logits that float32 holds, so that it is the intermediates that lose the digits, and not the inputs
    quarters = Probe("quarters", (np.random.default_rng(0).integers(-9, 10, (4, 7)) / 4,))
    assert check("softmax", in_float32, probes=[quarters]).verdict == "fail"
    check("softmax", in_float32, precision="float32", probes=[quarters]).raise_if_failed()


OPTIONS = {"axis": -1, "temperature": 1.0}


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_the_bound_is_a_few_units_for_moderate_logits(dtype):
    precision: Precision = precision_of(dtype)
    z = np.random.default_rng(3).integers(-8, 9, (4, 9)) / 4
    bound = contract_named("softmax").bound(precision, z, **OPTIONS)
    relative = allowance(bound) / bound.value / precision.returned.unit
    assert 4 < np.median(relative) < (100 if precision.returned.bits >= 24 else 25)


def test_a_common_offset_does_not_widen_the_bound():
    model, z = precision_of("float32"), np.random.default_rng(0).integers(-8, 9, (2, 7)) / 4
    softmax = contract_named("softmax")
    near, far = (softmax.bound(model, z + offset, **OPTIONS).worst for offset in (0, 2**14))
    assert far == pytest.approx(near)


def test_dividing_before_the_shift_does_widen_it():
    model, z = precision_of("float32"), np.array([[1000.0, 1001.0]])
    first, last = (x.worst for x in shifted_logits(model, z, -1, 3.0))
    assert (first > 100 * last).all()  # a rounding of 333 against one of 1/3
    halved = shifted_logits(model, z, -1, 0.5)
    assert (halved[0].worst == halved[1].worst).all()  # a power of two divides exactly


def test_running_maxima_are_counted_from_the_worse_end():
    x = np.array([[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0], [5.0, 5.0, 5.0, 5.0], [1.0, 4.0, 2.0, 3.0]])
    assert running_maxima(x, -1).ravel().tolist() == [3, 3, 0, 1]


def test_the_largest_weight_is_exactly_one():
    [x, _] = shifted_logits(precision_of("bfloat16"), np.array([[3.0, 1.0, 3.0]]), -1, 1.0)
    assert exponentials(x).worst[0, [0, 2]].tolist() == [0.0, 0.0]
    assert denominator(x, exponentials(x), -1).worst.item() > 0

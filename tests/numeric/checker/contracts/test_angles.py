"""Errors of frequencies, met in real arithmetic, against their bounds."""

import numpy as np
import pytest

from numeric.arithmetic import largest_error, precision
from numeric.checker.contracts._angles import angle_bounds
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance, any_of
from numeric.layers.positional_encoding import angles

WAYS = {
    "exp": lambda i, d, p, base: p * np.exp(-i * (np.log(base) / d)),
    "negative power": lambda i, d, p, base: p * base ** (-(i / d)),
    "reciprocal": lambda i, d, p, base: p * (1 / base ** (i / d)),
    "quotient": lambda i, d, p, base: p / base ** (i / d),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("base", [10000.0, 500.0, 1e6])
def test_no_angle_exceeds_its_bound(way, dtype, base):
    d, positions = 64, np.array([1, 17, 300, 4999, 100_003])
    i, p = np.arange(0, d, 2, dtype=dtype), positions.astype(dtype)[:, None]
    computed = WAYS[way](i, dtype(d), p, dtype(base))
    assert computed.dtype == dtype
    bounds = angle_bounds(precision_of(np.dtype(dtype).name), positions, d, base)
    with precision(150):
        error = largest_error(computed.astype(np.float64), angles(positions, d, base, dtype=object))
    own = allowance(bounds[list(WAYS).index(way)])
    assert (error <= own).all()
    assert (error / own).max() > 0.03
    assert (error <= allowance(any_of(bounds))).all()


def test_the_error_grows_with_the_angle_and_with_the_exponent():
    model = precision_of("float32")
    bound = angle_bounds(model, np.array([10, 1000]), 64, 10000.0)[0]
    assert bound.worst[1] == pytest.approx(100 * bound.worst[0])
    relative = bound.worst[0] / bound.value[0] / model.wide.unit
    exponent = np.arange(0, 64, 2) / 64 * np.log(10000)
    assert relative[1:] == pytest.approx(9 + 10 * exponent[1:], rel=1e-3)  # 8 (1 + a) + 2 a, and 1 for the product
    assert relative[0] == pytest.approx(1)  # exp 0 is exact


def test_angles_are_wide_in_16_bits():
    bound = angle_bounds(precision_of("bfloat16"), np.array([257]), 4, 10000.0)[0]
    assert bound.worst[0, 1] < 1e-4

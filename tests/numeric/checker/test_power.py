"""How small an error in one entry is seen: 1e-10 of it in float64, and twice the worst-case bound in the other dtypes.

benchmarks/checker_beside_gradcheck.py bisects for the smallest one. Dropout is judged by what it draws, and is left out; so are
whole layers and models, whose worst case grows with all that they are made of.
"""

import math

import pytest

from benchmarks.planted import Planted, smallest
from numeric.checker.contracts import contract_names

slow = pytest.mark.slow
SMALL = 1e-10
LEFT_OUT = ("dropout", "encoder_layer", "decoder_layer", "transformer")
BY_DEFAULT = {
    ("softmax", "float64"),
    ("rms_norm", "float32"),
    ("rotary", "bfloat16"),
    ("swiglu", "float16"),
    ("feed_forward", "bfloat16"),
}


def every(dtypes):
    for name in contract_names():
        if name not in LEFT_OUT:
            for dtype in dtypes:
                yield pytest.param(name, dtype, marks=() if (name, dtype) in BY_DEFAULT else slow)


@pytest.mark.parametrize(("name", "dtype"), list(every(["float64"])))
def test_a_part_in_ten_billion_is_seen_in_float64(name, dtype):
    planted = Planted(name, dtype)
    for array in range(-1, planted.gradients):
        assert planted.detected(array, lambda value, allowed: SMALL * value), array
        assert not planted.detected(array, lambda value, allowed: 0.0), array


@pytest.mark.parametrize(("name", "dtype"), list(every(["float32", "float16", "bfloat16"])))
def test_twice_the_worst_case_is_seen(name, dtype):
    """And what rounding to the dtype may take off the planted error, or the next number but one where nothing is allowed."""
    planted = Planted(name, dtype)
    unit = planted.unit
    for array in range(-1, planted.gradients):
        assert planted.detected(array, lambda v, allowed: max(2 * allowed + unit * abs(v), 3 * unit * abs(v))), array
        assert not planted.detected(array, lambda value, allowed: 0.0), array


def test_bisection_finds_the_threshold():
    assert smallest(lambda error: error > 1e-7) == pytest.approx(1e-7, rel=0.02)
    assert smallest(lambda error: False) == math.inf
    assert smallest(lambda error: error >= 0.4, 2.0**-6, 2.0**6) == pytest.approx(0.4, rel=0.02)

from fractions import Fraction

import numpy as np
import pytest

from numeric.arithmetic import precision
from numeric.gradients.case import Case, inner, point_of
from numeric.gradients.differences import STEPS
from numeric.gradients.run import all_cases


def case(backward, shapes=None):
    return Case("layer", "variant", shapes or {"x": (2,), "w": (3,)}, lambda *x: (x[0], None), backward)


@pytest.mark.parametrize("each", all_cases(), ids=lambda each: each.name)
def test_the_points_of_differences_are_exact(each):
    inputs, along, _ = point_of(each)
    for step in STEPS:
        for x, v in zip(inputs, along, strict=True):
            moved = [Fraction(a) + Fraction(step) * Fraction(b) for a, b in zip(x.ravel(), v.ravel(), strict=True)]
            assert [Fraction(float(found)) for found in (x + step * v).ravel()] == moved


def test_a_point_depends_on_the_seed_alone():
    each = all_cases()[0]
    first, again, other = point_of(each, 1), point_of(each, 1), point_of(each, 2)
    assert np.array_equal(first.inputs[0], again.inputs[0]) and np.array_equal(first.cotangent, again.cotangent)
    assert not np.array_equal(first.inputs[0], other.inputs[0])


def test_directions_are_dense():
    for each in all_cases():
        _, along, cotangent = point_of(each)
        assert all((v != 0).all() for v in along) and (cotangent != 0).all()


def test_gradients_are_flattened_and_none_is_left_out():
    found = case(lambda dy, cache: (np.ones(2), [None, (np.ones(3), None)])).gradients(np.ones(2), None)
    assert [each.shape for each in found] == [(2,), (3,)]


def test_gradients_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"layer.variant: backward gives shapes \[\(2,\)\], needed \[\(2,\), \(3,\)\]"):
        case(lambda dy, cache: np.ones(2)).gradients(np.ones(2), None)
    with pytest.raises(TypeError, match="backward gives a float, needed arrays in tuples or lists"):
        case(lambda dy, cache: (np.ones(2), 1.0)).gradients(np.ones(2), None)


def test_the_inner_product_is_exact():
    left, right = [np.array([1.0, 2.0**-80])], [np.array([1.0, 1.0])]
    with precision(160):
        assert inner(left, right) - 1 == 2.0**-80
    assert inner([], []) == 0

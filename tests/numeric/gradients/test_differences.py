"""Differences: the floor holds what a cubic is known to be off, and is not much above it; kinks lower the step or
are told."""

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, to_balls
from numeric.gradients.case import Case, Point, point_of
from numeric.gradients.differences import STEPS, _quotient, _truncation, by_differences
from numeric.gradients.report import Verdict
from numeric.layers import activations

CUBE = Case("layer", "cube", {"x": (3,)}, lambda x: (x * x * x, x), lambda dy, x: dy * 3 * x * x)
RELU = Case(
    "activations",
    "relu",
    {"x": (1,)},
    lambda x: activations.forward("relu", x),
    lambda dy, c: activations.backward(dy, c),
)


def differences(case, point, factor=1.0):
    cache = case.forward(*point.inputs)[1]
    found = [factor * each for each in case.gradients(point.cotangent, cache)]
    with precision(160):
        exact = case.gradients(to_balls(point.cotangent), case.forward(*map(to_balls, point.inputs))[1])
        return by_differences(case, point, found, [arb(factor) * each for each in exact])


@pytest.mark.parametrize("step", [2.0**-7, 2.0**-17])
def test_the_truncation_is_that_of_a_cubic(step):
    """p(t) = sum dy (x + t v)^3 has the third derivative 6 sum dy v^3, so D_h is off by h^2 sum dy v^3 exactly."""
    (x,), (v,), dy = point = point_of(CUBE)
    with precision(160):
        truncation = _truncation(CUBE, point, step)
        known = abs(arb(step) ** 2 * (to_balls(dy) * to_balls(v) ** 3).sum())
        quotient, rounding = _quotient(CUBE, point, step)
        slope = (3 * to_balls(dy) * to_balls(v) * to_balls(x) ** 2).sum()
        assert known <= truncation.upper() and truncation <= known * arb("1.000001") + arb("1e-40")
        assert abs(quotient - slope) <= truncation + rounding
        if step > 2.0**-10:
            assert abs(quotient - slope) > truncation / 2, "truncation is what there is to see"


def test_the_rounding_is_what_floats_are_off():
    point = point_of(CUBE)
    with precision(160):
        _, rounding = _quotient(CUBE, point, 2.0**-17)
        bound = 3 * 3 * 2.0**-53 * 2 * float(sum(abs(point.cotangent) * (abs(point.inputs[0]) + 1) ** 3)) / 2.0**-16
        assert 0 < rounding < bound


def test_a_right_gradient_is_within_the_floor_and_a_wrong_one_is_not():
    point = point_of(CUBE)
    right = differences(CUBE, point)
    assert right.findings == () and 0 < right.ratio <= 1 and right.floor < 1e-9
    for factor in (-1.0, 2.0, 1 + 1e-8):
        (finding,) = differences(CUBE, point, factor).findings
        assert finding.verdict is Verdict.DISAGREES and "times the floor apart" in finding.message


def test_a_kink_nearby_lowers_the_step():
    near = Point([np.array([3 * 2.0**-20])], [np.array([1.0])], np.array([1.0]))
    result = differences(RELU, near)
    assert result.findings == () and result.step == 2.0**-19
    assert STEPS[0] > 3 * 2.0**-20, "the first step crosses the kink"


def test_a_kink_that_no_step_avoids_is_undecided():
    at = Point([np.array([0.0])], [np.array([1.0])], np.array([1.0]))
    (finding,) = differences(RELU, at).findings
    assert finding.verdict is Verdict.UNDECIDED
    assert f"difference: with h = {STEPS[-1]}: comparison of" in finding.message


def test_a_divisor_around_zero_is_undecided():
    case = Case("layer", "inverse", {"x": (1,)}, lambda x: (1 / x, x), lambda dy, x: -dy / (x * x))
    near = Point([np.array([2.0**-40])], [np.array([1.0])], np.array([1.0]))
    (finding,) = differences(case, near).findings
    assert finding.verdict is Verdict.UNDECIDED


def test_a_floor_too_high_tells_nothing():
    def noisy(x):
        return (x + 1e9 - 1e9 if x.dtype == float else x), x

    case = Case("layer", "noisy", {"x": (3,)}, noisy, lambda dy, x: dy)
    (finding,) = differences(case, point_of(case)).findings
    assert finding.verdict is Verdict.UNDECIDED and "difference: the floor is" in finding.message

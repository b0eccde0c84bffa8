"""Complex steps: within their bound for a right gradient; mistakes of forward, of backward and of float64 alone are
told."""

import numpy as np
import pytest

from numeric.arithmetic import is_balls, precision
from numeric.gradients.case import Case, point_of
from numeric.gradients.complex_step import by_complex_step
from numeric.gradients.exact import exactly
from numeric.gradients.report import Verdict
from numeric.layers import softmax


def forward(z):
    return softmax.forward(z)


def steps(forward=forward, backward=softmax.backward, truth=0):
    case = Case("softmax", "rows", {"z": (3, 4)}, forward, backward)
    point = point_of(case)
    output, cache = forward(*point.inputs)
    found = case.gradients(point.cotangent, cache)
    with precision(160):
        exact = exactly(Case("softmax", "rows", {"z": (3, 4)}, softmax.forward, softmax.backward), point)
        return by_complex_step(case, point, output, found, exact.slope + truth)


def in_float64(change):
    """softmax.forward that is changed where it computes in floats."""

    def forward(z):
        s, cache = softmax.forward(z)
        return (s, cache) if is_balls(z) else (change(s), cache)

    return forward


def test_a_right_gradient_is_within_a_narrow_bound():
    result = steps()
    assert result.findings == () and 0 < result.ratio <= 1 and result.bound < 1e-12


def test_a_wrong_gradient_is_seen():
    (finding,) = steps(backward=lambda dy, cache: softmax.backward(dy, cache) * (1 + 2.0**-40)).findings
    assert finding.verdict is Verdict.DISAGREES and "times the bound apart" in finding.message


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda s: s * (1 + 1e-13), "forward in float64"),
        (lambda s: s.conj() if s.dtype == complex else s, "complex step"),
        (lambda s: s.real.astype(s.dtype) if s.dtype == complex else s, "complex step"),
        (lambda s: s * np.nan, "forward in float64"),
    ],
)
def test_a_mistake_of_floats_alone_is_seen(change, what):
    first, *_ = steps(in_float64(change)).findings
    assert first.verdict is Verdict.DISAGREES
    assert first.message.startswith(f"rounding: {what} is ") and "needed a number in [" in first.message


def test_a_gradient_that_rounds_too_much_is_seen():
    def backward(dy, cache):
        dz = softmax.backward(dy, cache)
        return dz if is_balls(dz) else dz.astype(np.float32).astype(float)

    messages = [finding.message for finding in steps(backward=backward).findings]
    assert messages[0].startswith("rounding: d z in float64 is")


def test_a_true_derivative_outside_the_bounds_is_seen():
    (finding,) = steps(truth=1).findings
    assert finding.verdict is Verdict.DISAGREES and "its bounds" in finding.message and "miss" in finding.message


def test_a_bound_that_is_no_use_is_told():
    def cancelling(z):
        return (z * 2.0**60 - z * (2.0**60 - 2.0**8) if is_balls(z) else z * 2.0**8), z

    case = Case("layer", "cancelling", {"z": (3,)}, cancelling, lambda dy, z: dy * 2.0**8)
    point = point_of(case)
    with precision(160):
        slope = exactly(case, point).slope
        result = by_complex_step(case, point, cancelling(*point.inputs)[0], [point.cotangent * 2.0**8], slope)
    (finding,) = result.findings
    assert finding.verdict is Verdict.UNDECIDED and finding.message.startswith("complex step: its bound is")

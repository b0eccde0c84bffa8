"""The exact way: on a cubic whose derivative is known, and on gradients that are wrong in one entry by little."""

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, to_balls
from numeric.gradients.case import Case, point_of
from numeric.gradients.exact import exactly
from numeric.gradients.report import Verdict

SHAPES = {"x": (2, 3), "w": (3,)}


def cubic(x, w):
    """y = x^3 w."""
    return x * x * x * w, (x, w)


def gradients(dy, cache):
    x, w = cache
    return dy * 3 * x * x * w, (dy * x * x * x).sum(0)


def found(backward, entries):
    case = Case("layer", "cubic", SHAPES, cubic, backward, entries)
    with precision(160):
        return exactly(case, point_of(case))


@pytest.mark.parametrize("entries", [True, False])
def test_a_right_gradient_has_no_findings(entries):
    result = found(gradients, entries)
    assert result.findings == () and result.widest < 1e-40
    case = Case("layer", "cubic", SHAPES, cubic, gradients)
    (x, w), (v, u), dy = point_of(case)
    expected = (to_balls(dy) * (to_balls(3 * v * x * x) * to_balls(w) + to_balls(x * x * x) * to_balls(u))).sum()
    with precision(160):
        assert abs(result.slope - expected) < 1e-12


@pytest.mark.parametrize("entries", [True, False])
@pytest.mark.parametrize("size", [1.0, 1e-12])
@pytest.mark.parametrize("index", [(0, 0), (1, 2)])
def test_one_wrong_entry_is_seen_and_placed(entries, size, index):
    def backward(dy, cache):
        dx, dw = gradients(dy, cache)
        dx[index] = dx[index] + arb(size)
        return dx, dw

    (finding,) = found(backward, entries).findings
    assert finding.verdict is Verdict.DISAGREES
    assert finding.message.startswith(f"exact: d x{list(index) if entries else ''}: forward's derivative is ")


def test_a_wide_ball_is_undecided():
    def backward(dy, cache):
        dx, dw = gradients(dy, cache)
        return dx + arb(0, 1e-15), dw

    findings = found(backward, True).findings
    assert len(findings) == 6 and {each.verdict for each in findings} == {Verdict.UNDECIDED}
    assert "too wide a ball" in findings[0].message


def test_a_gradient_that_is_not_finite_is_undecided():
    findings = found(lambda dy, cache: (dy * arb("nan"), gradients(dy, cache)[1]), True).findings
    assert {each.verdict for each in findings} == {Verdict.UNDECIDED}


def test_every_entry_is_compared():
    findings = found(lambda dy, cache: [-each for each in gradients(dy, cache)], True).findings
    assert [each.message.split(":")[1] for each in findings] == [
        *(f" d x[{i}, {j}]" for i in range(2) for j in range(3)),
        *(f" d w[{i}]" for i in range(3)),
    ]
    assert np.prod(SHAPES["x"]) + np.prod(SHAPES["w"]) == len(findings)

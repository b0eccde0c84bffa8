"""The vanishing Jacobian: below its bound at every drawn scale, in balls; the bound is the theorem's; the tie stays."""

import math

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import to_floats
from numeric.figures import softmax_saturation as figure
from numeric.figures.catalogue import Words
from numeric.layers import softmax
from proofs.evaluate import Point, evaluate
from proofs.notation import function, i, index, j, literal, n, number, r, table, z
from proofs.theorems import softmax_saturation, softmax_ties

from .reading_svg import of_kind, points
from .theorem_sides import sides

SCALES = np.arange(0, 8 * figure.LARGEST_SCALE + 1) / 8
SIZE = len(figure.STRICT)


def assert_below(entries, bounds):
    """Decided: `<=` of balls holds only where it holds for all that they may be."""
    assert len(entries) == len(bounds) == len(SCALES)
    assert all(entry <= bound for entry, bound in zip(entries, bounds, strict=True))


def test_a_strict_maximum_keeps_its_bound():
    assert_below(figure.largest_entries(figure.STRICT, SCALES), figure.bounds(figure.STRICT, SCALES))


def test_a_tie_does_not():
    with pytest.raises(AssertionError):
        assert_below(figure.largest_entries(figure.TIED, SCALES), figure.bounds(figure.STRICT, SCALES))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda b: 3 * (b * -2).exp(),
        lambda b: 3 * (b * -1 - 2).exp(),
        lambda b: (b * -1).exp() / 2,
        lambda b: -3 * (b * -1).exp(),
        lambda b: arb("nan"),
    ],
    ids=["twice the gap", "shifted", "a sixth", "wrong sign", "no bound"],
)
def test_a_wrong_bound_is_seen(wrong):
    bounds = [wrong(arb(float(b))) for b in SCALES]
    with pytest.raises(AssertionError):
        assert_below(figure.largest_entries(figure.STRICT, SCALES), bounds)


@pytest.mark.parametrize(
    "wrong",
    [lambda J, s: 8 * J, lambda J, s: J + s[..., :, None] * s[..., None, :], lambda J, s: J / s[..., None]],
    ids=["times eight", "no outer product", "of log-softmax"],
)
def test_a_wrong_jacobian_is_seen(monkeypatch, wrong):
    right = softmax.jacobian
    monkeypatch.setattr(softmax, "jacobian", lambda cache: wrong(right(cache), cache.s))
    with pytest.raises(AssertionError):
        test_a_strict_maximum_keeps_its_bound()


def logits(values):
    k = index("k", len(values))
    return function(k, table([number(int(each)) for each in values], k))


def assert_bound_of_the_theorem(bounds):
    for scale in (5, 0, 16):
        at = {
            n: number(SIZE), z: logits(figure.STRICT), softmax_saturation.b: number(scale),
            softmax_saturation.gap: number(1), r: literal(0, SIZE), i: literal(0, SIZE), j: literal(0, SIZE),
        }  # fmt: skip
        entry, bound = sides(softmax_saturation.strict_maximum_jacobian, at)
        (found,) = bounds(figure.STRICT, np.array([float(scale)]))
        (largest,) = figure.largest_entries(figure.STRICT, np.array([float(scale)]))
        assert abs(found / arb(str(bound)) - 1) < 1e-20
        # entry (0, 0) is the largest one, since a diagonal entry is the largest of its row
        assert abs(largest / arb(str(entry)) - 1) < 1e-20


def test_the_bound_is_that_of_the_theorem():
    assert figure.gap(figure.STRICT) == 1 and figure.gap(figure.TIED) == 0
    assert_bound_of_the_theorem(figure.bounds)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda logits, scales: figure.bounds(logits, -scales),
        lambda logits, scales: figure.bounds((*logits, -5.0), scales),
        lambda logits, scales: figure.bounds(logits, 2 * scales),
    ],
    ids=["wrong sign", "n for n - 1", "half the scale"],
)
def test_another_bound_is_seen(wrong):
    with pytest.raises(AssertionError):
        assert_bound_of_the_theorem(wrong)


class Tied(Point):
    """The logits of the figure as the theorems about ties have them: which of them are tied."""

    def size(self, term):
        return SIZE

    def index(self, term):
        return 0

    def map(self, symbol, arguments):
        assert symbol is softmax_ties.tied
        return int(figure.TIED[int(arguments[0])] == max(figure.TIED))


def test_the_tie_goes_to_the_limit_of_the_theorem():
    statement = softmax_ties.tie_does_not_vanish.theorem.statement
    assert all(evaluate(hypothesis, Tied(0)) for hypothesis in statement.hypotheses)
    limit = evaluate(statement.conclusion.args[2], Tied(0))
    assert limit == 0.25 == evaluate(softmax_ties.tied_limit_is_positive.statement.conclusion.args[1], Tied(0))
    entries = figure.largest_entries(figure.TIED, SCALES)
    for entry, b in zip(entries, SCALES, strict=True):
        # s = 1/(2 + x), x = e^(-2b) + e^(-3b) <= 2 e^(-2b): s (1 - s) = 1/4 - (1/2 - s)^2 and 1/2 - s <= x/4
        assert abs(entry - float(limit)) <= arb(-4 * float(b)).exp() / 4


def test_what_is_drawn_is_what_is_computed():
    drawing = figure.draw(Words("en"), 0)
    (strict,), (tied,) = (of_kind(drawing, "path", kind, "thick") for kind in ("one", "two"))
    (bound,) = of_kind(drawing, "path", "ink", "dashed")
    numbers = {
        "strict": (strict, figure.largest_entries(figure.STRICT, SCALES)),
        "tied": (tied, figure.largest_entries(figure.TIED, SCALES)),
        "bound": (bound, figure.bounds(figure.STRICT, SCALES)),
    }
    for path, values in numbers.values():
        assert len(points(path)) == len(SCALES)
        for (x, y), b, value in zip(points(path), SCALES, to_floats(values), strict=True):
            # written to a tenth; the places, below 400, are computed in float64
            assert x == pytest.approx(38 + 312 * b / 16, abs=0.05 + 1e-9)
            assert y == pytest.approx(240 - 190 * (math.log10(value) + 7) / 8, abs=0.05 + 1e-9)
    for (_, below), (_, above) in zip(points(strict), points(bound), strict=True):
        assert below > above + 5  # the y axis of SVG points down

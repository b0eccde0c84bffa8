"""Dot products from three positions and the sum of cosines: one curve, in balls; and marks that lie on it."""

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import radius, to_balls, to_floats
from numeric.figures import position_similarity as figure
from numeric.figures.catalogue import Words
from numeric.layers import positional_encoding
from proofs.notation import M, function, number, value_of
from proofs.theorems import position_similarity as theorems
from proofs.theorems.positional_encoding import frequency, m, p, q, w

from .reading_svg import centre, of_kind, points
from .theorem_sides import sides

PAIRS = figure.D_MODEL // 2
OFFSETS = np.arange(-figure.FURTHEST, figure.FURTHEST + 1)


def assert_one_curve():
    curve = figure.sums_of_cosines(OFFSETS)
    for start, _, _ in figure.STARTS:
        found = figure.similarities(start, OFFSETS)
        assert all(a.overlaps(b) for a, b in zip(found, curve, strict=True))
        assert max(radius(found).max(), radius(curve).max()) < 1e-20


def test_similarity_depends_on_the_offset_only():
    assert_one_curve()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: lambda positions, d, dtype: right(np.abs(positions * positions), d, dtype=dtype),
        lambda right: lambda positions, d, dtype: right(positions, d, dtype=dtype) + to_balls(1),
        lambda right: lambda positions, d, dtype: right(positions, d, dtype=dtype)[:, ::-1],
    ],
    ids=["squared positions", "shifted up", "sines for cosines"],
)
def test_a_wrong_encoding_is_seen(monkeypatch, wrong):
    monkeypatch.setattr(positional_encoding, "encode", wrong(positional_encoding.encode))
    with pytest.raises(AssertionError):
        assert_one_curve()


@pytest.mark.parametrize("offset", [-50, -7, 0, 3, 50])
def test_the_curve_is_that_of_the_theorem(offset):
    at = {M: number(PAIRS), w: function(m, frequency(number(10000), number(PAIRS), value_of(m))), p: number(1000)}
    left, right = sides(theorems.similarity_depends_on_offset, {**at, q: number(1000 + offset)})
    found = figure.sums_of_cosines(np.array([offset]))[0]
    assert abs(found - arb(str(right))) < 1e-20 and abs(found - arb(str(left))) < 1e-20


def test_the_peak_is_the_number_of_pairs_and_both_sides_are_alike():
    curve = figure.sums_of_cosines(OFFSETS)
    assert curve[figure.FURTHEST].contains(PAIRS)
    assert all(a.overlaps(b) for a, b in zip(curve, curve[::-1], strict=True))
    assert all(each < PAIRS for each in np.delete(curve, figure.FURTHEST))


def test_every_start_has_marks_of_its_own_on_both_sides():
    marked = [set(figure.offsets_of(place).tolist()) for place in range(len(figure.STARTS))]
    assert sum(map(len, marked)) == len(set.union(*marked))
    assert all(min(each) <= -40 and max(each) >= 40 for each in marked)


def test_marks_lie_on_the_drawn_curve():
    drawing = figure.draw(Words("en"), 0)
    (curve,) = [each for each in of_kind(drawing, "path", "faint") if len(points(each)) > 100]
    places = dict(points(curve))
    marks = [
        *of_kind(drawing, "circle", "one", "full")[:-1],
        *of_kind(drawing, "rect", "two", "full")[:-1],
        *of_kind(drawing, "path", "ink", "full")[:-1],
    ]
    assert len(marks) == sum(len(figure.offsets_of(place)) for place in range(3))
    for mark in marks:
        x, y = centre(mark)
        near = min(places, key=lambda place: abs(place - x))
        # each of the two places, the corner of the mark and its half size is written to a tenth
        assert abs(near - x) <= 0.15 and abs(places[near] - y) <= 0.15
    highest = min(places.values())
    assert highest == pytest.approx(72, abs=0.05)
    exact = to_floats(figure.sums_of_cosines(np.array([0, 10])))
    assert exact[0] == PAIRS and exact[1] < PAIRS

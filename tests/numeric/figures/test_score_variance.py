"""Sampled variances against the proved ones, within what a sample of this size may deviate; and scores that are not scaled right."""

import math
from functools import cache

import numpy as np
import pytest

from numeric.figures import score_variance as figure
from numeric.figures.catalogue import Words
from numeric.layers import attention
from proofs.notation import number
from proofs.theorems import attention_scores
from proofs.theorems.attention import d_k

from .reading_svg import centre, of_kind
from .theorem_sides import right_side

ERRORS = 4  # standard errors; a sample exceeds them with a probability of at most 1/16 (Chebyshev), the seed is fixed


def standard_error(width):
    """An upper bound on the deviation of the unbiased variance of PAIRS scores, in units of their variance.

    The variance of that estimator is (mu_4 - s^4 (N - 3)/(N - 1))/N, and here s^2 = d_k, mu_4 <= 3 d_k^2 + 6 d_k: for normal
    entries it is just that, for signs 3 d_k^2 - 2 d_k.
    """
    return math.sqrt((2 + 6 / width + 2 / (figure.PAIRS - 1)) / figure.PAIRS)


@cache
def samples(entries):
    return figure.samples(entries, 0)


def assert_as_proved(sampled):
    for found in sampled:
        exact = figure.proved(found.d_k)
        for value, expected in ((found.plain, exact.plain), (found.scaled, exact.scaled)):
            assert abs(value / expected - 1) <= ERRORS * standard_error(found.d_k)


@pytest.mark.parametrize("entries", [figure.normal, figure.signs], ids=["normal", "signs"])
def test_samples_lie_where_they_are_proved_to_be(entries):
    assert_as_proved(samples(entries))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(figure, "WIDTHS", (4, 64))


@pytest.mark.parametrize(
    "root", [lambda k: np.float64(1), lambda k: np.float64(k.shape[-1]), lambda k: -np.sqrt(2 * k.shape[-1])]
)
def test_another_scale_is_seen(few, monkeypatch, root):
    monkeypatch.setattr(attention, "root_of_width", root)
    with pytest.raises(AssertionError):
        assert_as_proved(figure.samples(figure.signs, 0))


@pytest.mark.parametrize(
    "entries",
    [lambda rng, shape: rng.random(shape), lambda rng, shape: 2 * rng.standard_normal(shape)],
    ids=["mean 1/2", "variance 4"],
)
def test_entries_that_do_not_meet_the_hypotheses_are_seen(few, entries):
    with pytest.raises(AssertionError):
        assert_as_proved(figure.samples(entries, 0))


@pytest.mark.parametrize("width", [1, 64, 1024])
def test_the_lines_are_those_of_the_theorems(width):
    exact = figure.proved(width)
    assert right_side(attention_scores.score_variance_is_d_k, {d_k: number(width)}) == exact.plain
    assert right_side(attention_scores.scaled_variance_is_one, {d_k: number(width)}) == exact.scaled


def test_marks_stand_at_the_samples(monkeypatch):
    monkeypatch.setattr(figure, "samples", lambda entries, seed: samples(entries))
    drawing = figure.draw(Words("en"), 0)
    dots, frames = of_kind(drawing, "circle", "one"), of_kind(drawing, "rect", "two")
    for marks, entries in ((dots, figure.normal), (frames, figure.signs)):
        expected = [value for each in samples(entries) for value in (each.plain, each.scaled)]
        assert len(marks) == len(expected) + 1  # and the one of the legend
        for mark, value in zip(marks, expected, strict=False):
            # a place is written to a tenth, the side of a frame exactly
            assert centre(mark)[1] == pytest.approx(236 - 164 * math.log(2 * value, 4000), abs=0.05 + 1e-9)

"""Errors are carried through linear maps by their matrices."""

import numpy as np
import pytest

from numeric.checker.contracts import _through
from numeric.checker.contracts._through import through
from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded

DOUBLE = precision_of("float64")


def exact(array):
    return Rounded.exact(array, DOUBLE)


def less_means(x, axes):
    def formula(g):
        """Rows less their means, or less the means of all rows too."""
        centred = g - g.sum(-1).over(4)
        return (centred * x if axes == 1 else centred - centred.sum(-2).over(3),)

    return formula


@pytest.mark.parametrize("axes", [1, 2])
def test_errors_of_a_cotangent_are_carried_by_the_matrix(axes):
    """No perturbation within the error of g exceeds the bound, one comes near it; the formula by itself gives more."""
    draw = np.random.default_rng(0)
    formula = less_means(exact(draw.normal(size=(2, 3, 4))), axes)
    g, e = draw.normal(size=(2, 3, 4)), draw.uniform(0, 1e-3, size=(2, 3, 4))
    (carried,) = through(formula, Rounded(g, e, e**2, DOUBLE), axes)
    (direct,) = formula(Rounded(g, e, e**2, DOUBLE))
    truth = formula(exact(g))[0].value
    largest = np.zeros(g.shape)
    for _ in range(1000):
        moved = g + e * draw.choice([-1, 1], size=g.shape)
        largest = np.maximum(largest, np.abs(formula(exact(moved))[0].value - truth))
    assert (largest <= carried.worst).all()
    assert (carried.worst <= (1.001 if axes == 1 else 2) * largest).all()
    assert (carried.worst < direct.worst).all()
    assert np.array_equal(carried.value, truth)


def test_without_errors_it_is_the_formula():
    formula = less_means(exact(np.ones((2, 3, 4))), 1)
    g = exact(np.random.default_rng(0).normal(size=(2, 3, 4)))
    (carried,), (direct,) = through(formula, g), formula(g)
    assert np.array_equal(carried.worst, direct.worst)


def test_where_it_would_take_long_the_plain_analysis_does(monkeypatch):
    draw = np.random.default_rng(0)
    formula = less_means(exact(draw.normal(size=(2, 3, 4))), 1)
    g = Rounded(draw.normal(size=(2, 3, 4)), np.full((2, 3, 4), 1e-3), np.full((2, 3, 4), 1e-6), DOUBLE)
    (direct,) = formula(g)
    assert (through(formula, g)[0].worst < direct.worst).all()
    monkeypatch.setattr(_through, "CHEAP", 4)
    assert np.array_equal(through(formula, g)[0].worst, direct.worst)


def test_what_has_no_bound_has_none_afterwards():
    formula = less_means(exact(np.ones((2, 3, 4))), 1)
    e = np.zeros((2, 3, 4))
    e[1, 2, 0] = np.inf
    (carried,) = through(formula, Rounded(np.ones((2, 3, 4)), e, e, DOUBLE))
    assert np.isinf(carried.worst[1, 2]).all()
    assert np.isfinite(carried.worst[0]).all()

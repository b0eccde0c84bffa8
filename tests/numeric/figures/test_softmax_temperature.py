"""Jacobians at four temperatures: what the theorems say of each, in balls, and cells that show the entries."""

import re

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import radius, to_floats
from numeric.figures import softmax_temperature as figure
from numeric.figures.catalogue import Words
from numeric.figures.drawing import LEVELS
from numeric.layers import softmax
from proofs.notation import function, i, index, j, literal, n, number, rational, table, z
from proofs.theorems import softmax_jacobian as theorems

from .reading_svg import of_kind
from .theorem_sides import sides

TEMPERATURES = [temperature for temperature, _ in figure.TEMPERATURES]
SIZE = len(figure.LOGITS)


def assert_as_proved(temperature):
    """Symmetric, rows that sum to 0, no entry above s_i (1 - s_i); J_ij = s_i (delta_ij - s_j)."""
    s, J = figure.panel(temperature)
    assert s.sum().contains(1) and radius(J).max() < 1e-20
    for row in range(SIZE):
        assert J[row].sum().contains(0)
        for column in range(SIZE):
            assert J[row, column].overlaps(J[column, row])
            assert J[row, column].overlaps(s[row] * (int(row == column) - s[column]))
            assert not abs(J[row, column]) > s[row] * (1 - s[row])
            assert abs(J[row, column]) < arb(figure.LARGEST)


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_each_jacobian_is_as_proved(temperature):
    assert_as_proved(temperature)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda J, s: -J,
        lambda J, s: J + s[:, None] * s[None, :],
        lambda J, s: np.abs(J),
        lambda J, s: 2 * J,
        lambda J, s: J / s[:, None],
    ],
    ids=["wrong sign", "no outer product", "no sign", "twice", "of log-softmax"],
)
def test_a_wrong_jacobian_is_seen(monkeypatch, wrong):
    right = softmax.jacobian
    monkeypatch.setattr(softmax, "jacobian", lambda cache: wrong(right(cache), cache.s))
    with pytest.raises(AssertionError):
        assert_as_proved(1.0)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 5), (3, 2)])
def test_an_entry_is_that_of_the_theorem(row, column):
    k = index("k", SIZE)
    quarters = [rational(int(4 * each), 4) for each in figure.LOGITS]
    at = {n: number(SIZE), z: function(k, table(quarters, k)), i: literal(row, SIZE), j: literal(column, SIZE)}
    left, right = sides(theorems.jacobian, at)
    found = figure.panel(1.0).jacobian[row, column]
    # the left side is a numerical derivative, of 25 digits
    assert abs(found - arb(str(right))) < 1e-20 and abs(found - arb(str(left))) < 1e-20


def test_the_colder_the_nearer_to_zero():
    hottest, coldest = (figure.panel(each) for each in (max(TEMPERATURES), min(TEMPERATURES)))
    uniform = arb(1) / SIZE * (1 - arb(1) / SIZE)
    assert abs(np.abs(hottest.jacobian).max() - uniform) < 0.03
    assert np.abs(coldest.jacobian).max() < 1e-3 < np.abs(figure.panel(0.25).jacobian).max()


def test_cells_and_bars_show_the_numbers():
    drawing = figure.draw(Words("en"), 0)
    maps = [each for each in of_kind(drawing, "g", "cells") if "scale(13 13)" in each.get("transform")]
    bars = of_kind(drawing, "rect", "faint", "full")
    for place, temperature in enumerate(TEMPERATURES):
        weights, jacobian = (to_floats(each) for each in figure.panel(temperature))
        shown = np.zeros((SIZE, SIZE))
        for path in maps[place]:
            sign = 1 if "two" in path.get("class") else -1
            for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d")):
                shown[int(y), int(x) : int(x) + int(length)] += sign * float(path.get("stroke-opacity"))
        # half a level, and a strength is written with two digits
        assert np.abs(shown - jacobian / figure.LARGEST).max() <= 0.5 / LEVELS + 0.005
        heights = [float(each.get("height")) / 42 for each in bars[SIZE * place : SIZE * (place + 1)]]
        assert np.abs(np.array(heights) - weights).max() <= 0.051 / 42

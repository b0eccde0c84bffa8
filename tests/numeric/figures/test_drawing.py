"""Elements of a drawing: numbers, cells, labels."""

import re

import numpy as np
import pytest

from numeric.figures.drawing import LEVELS, Box, Drawing

from .reading_svg import elements, of_kind


def made(draw):
    drawing = Drawing(100)
    draw(drawing)
    return drawing


def test_numbers_are_written_to_a_tenth_without_what_is_not_needed():
    (path,) = made(lambda d: d.curve([(0, 1.04), (-0.04, 2.25), (3.96, 1e2)], "one")).parts
    assert path == '<path class="one" d="M0 1L0 2.2L4 100"/>'


@pytest.mark.parametrize("shape", ["circle", "square", "triangle", "frame"])
def test_marks_have_their_middle_where_they_are_put(shape):
    drawing = made(lambda d: d.mark(shape, (50, 60), "one full", "a < b"))
    (mark,) = elements(drawing)
    assert mark.find("title").text == "a < b"
    numbers = [float(each) for each in re.findall(r"-?\d+\.?\d*", drawing.parts[0].split("<title>")[0])]
    expected = {
        "circle": [50, 60, 2.8],
        "square": [47.5, 57.5, 5, 5],
        "frame": [45.5, 55.5, 9, 9],
        "triangle": [46.8, 62.6, 6.4, -3.2, -5.6],
    }
    assert numbers == expected[shape]


def test_a_sector_runs_clockwise_with_the_second_axis_up():
    (sector,) = made(lambda d: d.sector((50, 50), 10, ((0, 1), (1, 0)), False, "one")).parts
    assert 'd="M50 50L50 40A10 10 0 0 1 60 50Z"' in sector
    (sector,) = made(lambda d: d.sector((50, 50), 10, ((0, 1), (-1, 0)), True, "one")).parts
    assert 'd="M50 50L50 40A10 10 0 1 1 40 50Z"' in sector


def test_cells_are_strong_where_numbers_are_large_and_merge_along_rows():
    values = np.array([[1, 1, 0, -2, 0.5], [0.01, -1, -1, 0, 3]])
    drawing = made(lambda d: d.cells((10, 20), (2, 4), values, 2))
    (group,) = of_kind(drawing, "g", "cells")
    assert group.get("transform") == "translate(10 22) scale(2 4)"
    found = {(each.get("class"), each.get("stroke-opacity")): each.get("d") for each in group}
    assert found == {
        ("cells one", "1"): "M3 0h1",
        ("cells one", "0.5"): "M1 1h2",
        ("cells two", "0.25"): "M4 0h1",
        ("cells two", "0.5"): "M0 0h2",
        ("cells two", "1"): "M4 1h1",
    }


def test_the_scale_of_cells_has_every_strength_once_and_ends_where_it_should():
    drawing = made(lambda d: d.scale_of_cells(350, 50, ("−1", "1")))
    (group,) = of_kind(drawing, "g", "cells")
    assert sum(len(re.findall("M", each.get("d"))) for each in group) == 2 * LEVELS
    left, right = drawing.labels
    assert right.right == pytest.approx(350) and left.right < right.left


@pytest.mark.parametrize(
    ("other", "meet"), [((5, 5, 15, 15), True), ((10, 0, 20, 10), False), ((0, -9, 10, 0), False), ((2, 2, 3, 3), True)]
)
def test_boxes_that_meet(other, meet):
    one, two = Box("a", 0, 0, 10, 10), Box("b", *other)
    assert one.overlaps(two) is two.overlaps(one) is meet


@pytest.mark.parametrize(("anchor", "left"), [("start", 50), ("middle", 32), ("end", 14)])
def test_a_label_covers_what_its_anchor_says(anchor, left):
    (box,) = made(lambda d: d.label(50, 60, "가나다", anchor=anchor)).labels
    assert (box.left, box.right) == (left, left + 36)  # three letters of 12 units
    assert box.top < 60 < box.bottom

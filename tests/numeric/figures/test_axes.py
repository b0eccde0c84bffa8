"""Scales and ticks."""

import pytest

from numeric.figures.axes import Scale, axes, powers_of_ten
from numeric.figures.drawing import Drawing

from .reading_svg import of_kind, points


@pytest.mark.parametrize(
    ("scale", "places"),
    [
        (Scale(0, 10, 100, 200), {0: 100, 5: 150, 10: 200, -1: 90}),
        (Scale(0, 10, 200, 100), {0: 200, 2.5: 175}),
        (Scale(0.01, 100, 0, 80, logarithmic=True), {0.01: 0, 1: 40, 10: 60, 1000: 100}),
    ],
)
def test_where_numbers_stand(scale, places):
    assert {value: scale.at(value) for value in places} == pytest.approx(places)


def test_powers_of_ten():
    assert powers_of_ten((-6, -1, 0, 1, 2)) == [
        (1e-6, "10^[−6]"),
        (0.1, "0.1"),
        (1.0, "1"),
        (10.0, "10"),
        (100.0, "10^[2]"),
    ]


def test_each_tick_has_its_line_and_its_label():
    drawing = Drawing(200)
    x, y = Scale(0, 1, 30, 330), Scale(0, 2, 150, 50)
    axes(drawing, x, y, [(0.0, "0"), (1.0, "one")], [(0.0, "0"), (1.0, "1"), (2.0, "2")], ("along", "upward"))
    assert [points(each) for each in of_kind(drawing, "path", "grid")] == [
        [(30, height), (330, height)] for height in (150, 100, 50)
    ]
    assert [points(each) for each in of_kind(drawing, "path", "axis")][1:] == [
        [(place, 150), (place, 154)] for place in (30, 330)
    ]
    assert [each.text for each in drawing.labels] == ["0", "1", "2", "0", "one", "along", "upward"]

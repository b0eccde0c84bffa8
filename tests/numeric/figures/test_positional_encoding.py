"""The map and the clocks: what is drawn is PE, T^(k) takes each pair from t to t + k, and a wrong rotation is seen."""

import re

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import matmul, radius, to_floats
from numeric.figures import positional_encoding as figure
from numeric.figures.catalogue import Words
from numeric.figures.drawing import LEVELS
from numeric.layers import positional_encoding
from proofs.notation import M, literal, number
from proofs.theorems import positional_encoding as theorems

from .reading_svg import centre, of_kind, points
from .theorem_sides import sides

HALF_A_TENTH = 0.05 + 1e-9  # what writing a place to a tenth may move it; the places are below 400, in float64


def assert_turned_as_proved(turns):
    """T^(k) PE(t) and PE(t + k) are one point, to what the balls leave open."""
    for turn in turns:
        assert all(a.overlaps(b) for a, b in zip(turn.turned, turn.after, strict=True))
        assert max(radius(turn.turned).max(), radius(turn.after).max()) < 1e-20
        assert not all(a.overlaps(b) for a, b in zip(turn.before, turn.after, strict=True))


def test_the_rotation_takes_each_pair_from_t_to_t_plus_k():
    assert_turned_as_proved(figure.turns())


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: lambda k, d, dtype: right(k, d, dtype=dtype).T,
        lambda right: lambda k, d, dtype: right(k + 1, d, dtype=dtype),
        lambda right: lambda k, d, dtype: -right(k, d, dtype=dtype),
        lambda right: lambda k, d, dtype: np.roll(right(k, d, dtype=dtype), 2, (0, 1)),
    ],
    ids=["the other way", "a step further", "wrong sign", "frequencies of other pairs"],
)
def test_a_wrong_rotation_is_seen(monkeypatch, wrong):
    monkeypatch.setattr(positional_encoding, "rotation", wrong(positional_encoding.rotation))
    with pytest.raises(AssertionError):
        assert_turned_as_proved(figure.turns())


def test_an_angle_is_that_of_the_turn():
    for turn in figure.turns():
        (a, b), (c, d) = turn.before, turn.after
        assert turn.angle.cos().overlaps(a * c + b * d)
        assert turn.angle.sin().overlaps(c * b - a * d)


@pytest.mark.parametrize("position", [0, 1, 57, 99])
def test_encodings_are_those_of_the_theorems(position):
    found = figure.encodings()[position]
    pairs = figure.D_MODEL // 2
    for m in range(pairs):
        at = {
            theorems.base: number(10000),
            M: number(pairs),
            theorems.m: literal(m, pairs),
            theorems.p: number(position),
        }
        for column, claim in ((2 * m, theorems.even_columns_are_sines), (2 * m + 1, theorems.odd_columns_are_cosines)):
            _, exact = sides(claim, at)
            # to 50 digits; the ball is wider than that
            assert abs(found[column] - arb(str(exact))) < 1e-20


def test_the_map_shows_each_entry_at_its_strength():
    drawing = figure.draw(Words("en"), 0)
    shown = np.zeros((figure.D_MODEL, figure.POSITIONS))
    (cells,) = [each for each in of_kind(drawing, "g", "cells") if "scale(3.2 8)" in each.get("transform")]
    for path in cells:
        sign = 1 if "two" in path.get("class") else -1
        for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d")):
            shown[int(y), int(x) : int(x) + int(length)] += sign * float(path.get("stroke-opacity"))
    # half a level by rounding to levels, and what is lost of a strength written with two digits
    assert np.abs(shown - to_floats(figure.encodings()).T).max() <= 0.5 / LEVELS + 0.005
    assert set(np.unique(np.abs(shown))) == {float(f"{k / LEVELS:.2g}") for k in range(LEVELS + 1)}


def test_the_dot_of_t_plus_k_stands_at_the_end_of_the_sector():
    drawing = figure.draw(Words("en"), 0)
    dots, sectors = of_kind(drawing, "circle", "one", "full"), of_kind(drawing, "path", "wash")
    assert len(dots) == len(sectors) == len(figure.PAIRS)
    for dot, sector, turn in zip(dots, sectors, figure.turns(), strict=True):
        x, y = centre(dot)
        end = tuple(map(float, sector.get("d").removesuffix("Z").split()[-2:]))
        assert abs(x - end[0]) <= 2 * HALF_A_TENTH and abs(y - end[1]) <= 2 * HALF_A_TENTH
        middle = points(sector)[0]
        large = sector.get("d").split("A")[1].split()[3]
        assert large == str(int(float(turn.angle) > np.pi))
        sine, cosine = to_floats(turn.after)
        assert (x, y) == pytest.approx((middle[0] + 32 * sine, middle[1] - 32 * cosine), abs=HALF_A_TENTH)


def test_matmul_of_the_whole_matrix_is_the_turn_of_each_pair():
    whole = matmul(
        positional_encoding.rotation(figure.OFFSET, figure.D_MODEL, dtype=object),
        figure.encodings()[figure.AT][:, None],
    )[:, 0]
    for turn in figure.turns():
        pair = whole[2 * turn.pair : 2 * turn.pair + 2]
        assert all(a.overlaps(b) for a, b in zip(pair, turn.turned, strict=True))

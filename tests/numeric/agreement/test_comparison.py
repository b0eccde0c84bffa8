"""What counts as agreement, and what does not."""

import pytest
from flint import arb

from numeric.agreement.comparison import (
    SCALES,
    Value,
    Verdict,
    consistent,
    in_balls,
    in_float64,
    radius,
    ratio,
    shrinking,
    worst_ratio,
)
from numeric.arithmetic import precision

TINY = 1e-30
with precision(200):
    BEYOND = 1 + arb(2) ** -90  # further from 1 than a tiny ball reaches


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def values(*balls):
    return [Value(f"way: {k}" if k else "", ball) for k, ball in enumerate(balls)]


def verdicts(findings):
    return [finding.verdict for finding in findings]


def around(middle, by=TINY):
    return arb(middle, by)


@pytest.mark.parametrize(
    ("relation", "left", "right", "verdict"),
    [
        ("eq", around(1), around(1), None),
        ("eq", arb(1), arb(1), None),
        ("eq", around(1), BEYOND, Verdict.DISAGREES),
        ("le", around(1), around(2), None),
        ("le", around(1), around(1), None),
        ("le", around(2), around(1), Verdict.DISAGREES),
        ("le", BEYOND, around(1), Verdict.DISAGREES),
        ("lt", around(1), around(2), None),
        ("lt", around(1), around(1), Verdict.UNDECIDED),
        ("lt", arb(1), arb(1), Verdict.DISAGREES),
        ("lt", around(2), around(1), Verdict.DISAGREES),
        ("ne", around(1), around(2), None),
        ("ne", around(1), around(1), Verdict.UNDECIDED),
    ],
)
def test_relations_in_balls(relation, left, right, verdict):
    assert verdicts(in_balls(relation, (values(left), values(right)))) == ([verdict] if verdict else [])


def test_every_left_reading_meets_every_right_one():
    sides = values(arb(1), arb(2)), values(arb(1), arb(3))
    [first, second, third] = in_balls("eq", sides)
    assert first.message == "left = right fails: left 1.0000000, right 3.0000000 (way: 1)"
    assert second.message == "left = right fails: left 2.0000000 (way: 1), right 1.0000000"
    assert third.message == "left = right fails: left 2.0000000 (way: 1), right 3.0000000 (way: 1)"


def test_wide_balls_and_readings_that_differ_are_found():
    wide, other, nothing = arb(1, 1e-20), arb(2), arb("nan")
    assert verdicts(consistent((values(arb(1)), values(around(1))))) == []
    assert verdicts(consistent((values(wide), values(arb(1))))) == [Verdict.UNDECIDED]
    assert verdicts(consistent((values(nothing), values(arb(1))))) == [Verdict.UNDECIDED]
    [finding] = consistent((values(arb(1)), values(arb(1), other)))
    assert finding.message == "two readings of one side differ: 2.0000000 (way: 1), 1.0000000"


@pytest.mark.parametrize(
    ("relation", "left", "right", "verdict"),
    [
        ("eq", around(1, 1e-15), around(1, 1e-15), []),
        (
            "eq",
            around(1 + 1e-12, 1e-15),
            around(1, 1e-15),
            [Verdict.DISAGREES] * 2,
        ),  # of its ball, and of the right side
        ("le", around(1, 1e-15), around(1, 1e-15), []),
        ("lt", around(1, 1e-15), around(1, 1e-15), []),  # too close to tell
        ("lt", around(1, 1e-15), around(1 - 1e-12, 1e-15), [Verdict.DISAGREES] * 2),
        ("ne", around(1, 1e-15), around(1, 1e-15), []),
        ("tends", around(1 + 1e-12, 1e-15), around(1, 1e-15), [Verdict.DISAGREES]),
        ("eq", around(1, 1e-5), around(1, 1e-15), [Verdict.UNDECIDED]),  # such a bound would let float32 pass
        ("eq", arb("nan"), around(1, 1e-15), [Verdict.UNDECIDED]),
    ],
)
def test_relations_in_float64(relation, left, right, verdict):
    exact = values(arb(1)), values(arb(1))
    found = verdicts(in_float64(relation, (values(left), values(right)), exact))
    assert [each for each in found if each != Verdict.DISAGREES or verdict != [Verdict.UNDECIDED]] == verdict


def test_the_ratio_is_in_units_of_both_radii():
    assert ratio(arb(1), arb(1)) == 0
    assert ratio(arb(1, 0.25), arb(2, 0.25)) == pytest.approx(2, rel=1e-6)
    assert ratio(arb(1), arb(2)) == float("inf")
    sides, exact = (values(arb(1, 0.25)), values(arb(2, 0.25))), (values(arb(1)), values(arb(2)))
    assert worst_ratio("eq", sides, exact) == pytest.approx(2, rel=1e-6)
    assert worst_ratio("le", sides, exact) == 0


def test_the_radius_of_nothing_is_infinite():
    assert radius(arb("nan")) == float("inf")
    assert radius(arb(2)) == 0


@pytest.mark.parametrize(
    ("distances", "found"),
    [
        ([0.1 ** (2 * k) for k in range(5)], []),
        ([0.5, 0.25, arb("1e-30"), arb("1e-30"), arb("1e-29")], []),  # below the tolerance it may do as it likes
        ([0.5, 0.4, 0.3, 0.2, 0.1], ["is still"]),
        ([0.1, 0.2, 0.01, 1e-3, 1e-4], ["at scale 1000, and was"]),
        ([1, 1, 1, 1, 1], ["at scale 1000, and was"] + ["and was"] * 3 + ["is still"]),
        ([arb(1), arb(0.1, 1e-10), arb(0.01), arb(1e-3), arb(1e-4)], ["too wide a ball at scale 1000"]),
    ],
)
def test_limits(distances, found):
    findings = list(shrinking([arb(x) for x in distances]))
    assert len(findings) == len(found)
    assert all(text in finding.message for finding, text in zip(findings, found, strict=True))
    assert len(SCALES) == 5

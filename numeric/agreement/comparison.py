"""When a statement holds in balls, and when float64 agrees with it.

balls     a = b    the balls overlap          a <= b   b - a is certainly >= 0, or holds 0
          a < b    b - a is certainly > 0     a != b   the balls do not meet
          limit    the distance certainly shrinks from scale to scale, by 100 in all, unless it is below 1e-20
          and every ball is narrower than 1e-20, so that what should be equal differs by less than 2e-20
float64   the same, as far as the rounding bounds can tell, and every side holds what it is in balls;
          a bound wider than 2^-20 (1 + |value|) tells nothing, since float32 would stay within it
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from flint import arb

TOLERANCE = arb("1e-20")
VOID = arb(2) ** -20
SEEDS = 4  # points for each theorem: the sizes 5, 2, 4, 3, and indices that are distinct and that are equal
SCALES = tuple(10**k for k in range(2, 7))  # b e^(-bg) falls from each to the next for every g >= 1/128


class Verdict(StrEnum):
    AGREES = "agrees"
    UNDECIDED = "undecided"
    DISAGREES = "disagrees"


class Value(NamedTuple):
    """A side of a statement as one reading gives it."""

    reading: str
    ball: arb

    def __str__(self) -> str:
        return f"{self.ball.str(8)}{f' ({self.reading})' if self.reading else ''}"


class Finding(NamedTuple):
    verdict: Verdict
    message: str


_FAILS = {
    "eq": "left = right fails", "ne": "left != right fails", "le": "left <= right fails", "lt": "left < right fails",
}  # fmt: skip
Sides = tuple[list[Value], list[Value]]


def radius(ball: arb) -> float:
    return float(ball.rad()) if ball.is_finite() else float("inf")


def _narrow(ball: arb) -> bool:
    return ball.is_finite() and 2 * ball.rad() < TOLERANCE


def ratio(left: arb, right: arb) -> float:
    """|left - right| in units of what the radii allow."""
    apart, allowed = abs(left.mid() - right.mid()), left.rad() + right.rad()
    if apart == 0:
        return 0.0
    return float(apart / allowed) if allowed > 0 and (apart / allowed).is_finite() else float("inf")


def consistent(sides: Sides) -> Iterator[Finding]:
    """What speaks against the readings of a side as enclosures of one number."""
    for side in sides:
        for value in side:
            if not _narrow(value.ball):
                yield Finding(Verdict.UNDECIDED, f"too wide a ball: {value}")
            elif not value.ball.overlaps(side[0].ball):
                yield Finding(Verdict.DISAGREES, f"two readings of one side differ: {value}, {side[0]}")


def in_balls(relation: str, sides: Sides) -> Iterator[Finding]:
    """What speaks against the relation, for every reading of the left side with every reading of the right."""
    for left in sides[0]:
        for right in sides[1]:
            verdict = _relation(relation, left.ball, right.ball)
            if verdict is not Verdict.AGREES:
                yield Finding(verdict, f"{_FAILS[relation]}: left {left}, right {right}")


def in_float64(relation: str, found: Sides, exact: Sides) -> Iterator[Finding]:
    """What speaks against the float64 layer, given the sides in balls."""
    for side, balls in zip(found, exact, strict=True):
        for value in side:
            if not (value.ball.is_finite() and value.ball.rad() <= VOID * (1 + abs(value.ball.mid()))):
                yield Finding(Verdict.UNDECIDED, f"float64: too wide a rounding bound: {value}")
            elif not value.ball.overlaps(balls[0].ball):
                yield Finding(Verdict.DISAGREES, f"float64: {value}, but in balls {balls[0]}")
    for left in found[0]:
        for right in found[1]:
            apart = relation == "eq" and not left.ball.overlaps(right.ball)
            if apart or (relation in ("le", "lt") and right.ball < left.ball):
                yield Finding(Verdict.DISAGREES, f"float64: {_FAILS[relation]}: left {left}, right {right}")


def worst_ratio(relation: str, found: Sides, exact: Sides) -> float:
    """The largest difference in units of its bound: of each side from the balls, and where the sides should be equal, of the two."""
    pairs = [(value.ball, balls[0].ball) for side, balls in zip(found, exact, strict=True) for value in side]
    if relation == "eq":
        pairs += [(left.ball, right.ball) for left in found[0] for right in found[1]]
    return max(ratio(*pair) for pair in pairs)


def _relation(relation: str, left: arb, right: arb) -> Verdict:
    difference = right - left
    if relation == "eq":
        return Verdict.AGREES if left.overlaps(right) else Verdict.DISAGREES
    if relation == "ne":
        return Verdict.UNDECIDED if left.overlaps(right) else Verdict.AGREES
    if difference < 0 or (relation == "lt" and difference <= 0):
        return Verdict.DISAGREES
    if relation == "le":
        return Verdict.AGREES
    return Verdict.AGREES if difference > 0 else Verdict.UNDECIDED


def shrinking(distances: Sequence[arb]) -> Iterator[Finding]:
    """What speaks against these distances going to 0."""
    for scale, ball in zip(SCALES, distances, strict=True):
        if not _narrow(ball):
            yield Finding(Verdict.UNDECIDED, f"too wide a ball at scale {scale}: {ball.str(8)}")
    for scale, before, after in zip(SCALES[1:], distances[:-1], distances[1:], strict=True):
        if not (after < before or after < TOLERANCE):
            grown = f"the distance to the limit is {after.str(8)} at scale {scale}, and was {before.str(8)} before"
            yield Finding(Verdict.DISAGREES, grown)
    if not (distances[-1] < TOLERANCE or 100 * distances[-1] < distances[0]):
        yield Finding(
            Verdict.DISAGREES, f"the distance to the limit is still {distances[-1].str(8)} at scale {SCALES[-1]}"
        )

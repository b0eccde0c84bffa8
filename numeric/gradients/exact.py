"""Way a: derivatives of forward along lines, enclosed by jets, against what backward gives in balls.

For every entry j of the inputs, with the unit vector e_j,      <dy, Df(x)[e_j]> = backward(dy)_j

Where the gradient is too long for that, for every array one direction v in place of e_j, zero elsewhere and dense
there:

    <dy, Df(x)[v]> = <backward(dy), v>

If a gradient is wrong by e, even in one entry j, both sides differ by <e, v>. The entries of v are drawn
independently, each of the 2^21 + 1 multiples of 2^-20 in [-1, 1] with probability 2^-21 at most. Whatever the other
entries are, an interval of w to either side of 0 holds <e, v> for no more than 2^21 w / |e_j| + 1 of the values of
v_j, so with probability w / |e_j| + 2^-21: with w = 2e-20, what the balls cannot tell, a mistake of |e_j| > 1e-13
stays unseen once in a million draws. The same holds for dy, in which both sides are linear.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..agreement.comparison import TOLERANCE, Finding, Verdict, radius
from ..arithmetic import to_balls
from ..derivatives import coefficient, line
from ..jets import order
from .case import Case, Point, inner


class Exact(NamedTuple):
    """In balls: `slope` is <dy, Df(x)[v]> along the whole direction of the point, `gradients` what backward gives."""

    slope: arb
    gradients: list[np.ndarray]
    widest: float
    findings: tuple[Finding, ...]


def exactly(case: Case, point: Point) -> Exact:
    """Forward and backward in balls of the precision that is set. Raises UndecidedComparison, as the layer does."""
    balls = [to_balls(array) for array in point.inputs]
    cotangent = to_balls(point.cotangent)
    gradients = case.gradients(cotangent, case.forward(*balls)[1])
    findings: list[Finding] = []
    widest = 0.0
    for where, direction, backwards in _comparisons(case, point, gradients):
        forwards = _slope(case, balls, direction, cotangent)
        widest = max(widest, radius(forwards), radius(backwards))
        findings += _compared(where, forwards, backwards)
    slope = _slope(case, balls, point.along, cotangent)
    return Exact(slope, gradients, max(widest, radius(slope)), tuple(findings))


def _comparisons(case: Case, point: Point, gradients: list[np.ndarray]) -> Iterator[tuple[str, list[Any], arb]]:
    """A place, a direction with None for arrays that stay, and the derivative that backward claims."""
    for k, (name, v) in enumerate(zip(case.shapes, point.along, strict=True)):
        if not case.entries:
            yield f"d {name}", _only(k, v, len(gradients)), inner([gradients[k]], [v])
            continue
        for index in np.ndindex(v.shape):
            unit = np.zeros(v.shape)
            unit[index] = 1.0
            yield f"d {name}{list(index)}", _only(k, unit, len(gradients)), gradients[k].item(index)


def _only(k: int, v: np.ndarray, count: int) -> list[Any]:
    return [v if j == k else None for j in range(count)]


def _slope(case: Case, balls: list[np.ndarray], along: list[Any], cotangent: np.ndarray) -> arb:
    """<dy, Df(x)[v]>."""
    with order(1):
        y = case.forward(*map(_moved, balls, along))[0]
        return inner([cotangent], [coefficient(y, 1)])


def _moved(x: np.ndarray, v: np.ndarray | None) -> np.ndarray:
    """x + t v, where an entry that stays is a ball still: arithmetic with those is faster."""
    if v is None:
        return x
    moved = x.copy()
    moves = v != 0
    moved[moves] = line(x[moves], v[moves])
    return moved


def _compared(where: str, forwards: arb, backwards: arb) -> Iterator[Finding]:
    sides = f"forward's derivative is {forwards.str(8)}, backward gives {backwards.str(8)}"
    if any(radius(ball) >= TOLERANCE for ball in (forwards, backwards)):
        yield Finding(Verdict.UNDECIDED, f"exact: {where}: too wide a ball: {sides}")
    elif not forwards.overlaps(backwards):
        yield Finding(Verdict.DISAGREES, f"exact: {where}: {sides}")

"""Way b: central differences of float64 against backward in float64, within a floor that is enclosed and not guessed.

Along x + t v, with p(t) = <dy, f(x + t v)>, and fl for what float64 makes of it:

    D_h = (fl p(h) - fl p(-h)) / 2h
    |D_h - <fl g, v>| <= h^2/6 max |p'''|               truncation: jets of order 3 at x + [-h, h] v
                       + (|fl p(h) - p(h)| + |fl p(-h) - p(-h)|) / 2h           rounding of forward
                       + |<fl g - g, v>|                                        rounding of backward

where g is backward in balls. The truncation is Taylor's theorem; both roundings are what float64 is really off from
the balls, so the bound holds whatever they are, whenever g is the gradient. That float64 is not off by more than it
may is way c's concern. The points are exact in float64, the inner products and the quotient are taken in balls.

The first step is 2^-17, near the cube root of the unit roundoff, where truncation and rounding are alike for
derivatives of size 1. Where the balls of [-h, h] are undecided (a kink of relu, a divisor around 0), or so wide that
truncation outweighs rounding, h is divided by 4, down to 2^-29; of the steps that were tried the one with the lowest
floor counts. A floor near the derivative's own size tells nothing: it must stay below 2^-20 of sum |g v|.
"""

import math
from typing import NamedTuple

import numpy as np
from flint import arb

from ..agreement.comparison import VOID, Finding, Verdict
from ..arithmetic import UndecidedComparison, to_balls
from ..derivatives import derivative
from .case import Case, Point, inner

STEPS = tuple(2.0**-k for k in (17, 19, 21, 23, 25, 27, 29))


class Difference(NamedTuple):
    """`ratio` is the error in units of the floor; `floor` in units of sum |g v|."""

    step: float
    ratio: float
    floor: float
    findings: tuple[Finding, ...]


class _Quotient(NamedTuple):
    step: float
    quotient: arb
    floor: arb


def by_differences(case: Case, point: Point, gradients: list[np.ndarray], exact: list[np.ndarray]) -> Difference:
    """`gradients` are those of float64, `exact` the same in balls."""
    slope, size = inner(gradients, point.along), size_of(gradients, point.along)
    of_backward = abs(slope - inner(exact, point.along)).upper()
    best: _Quotient | None = None
    trouble = ""
    for step in STEPS:
        try:
            truncation = _truncation(case, point, step)
        except (UndecidedComparison, ValueError) as problem:  # the latter from a divisor that may be 0
            trouble = f"with h = {step}: {problem}"
            continue
        quotient, rounding = _quotient(case, point, step)
        floor = (truncation + rounding + of_backward).upper()
        if not floor.is_finite():
            trouble = f"with h = {step}: forward has values that are not finite"
        elif best is None or floor < best.floor:
            best = _Quotient(step, quotient, floor)
        if truncation <= rounding + of_backward:
            break
    if best is None or not best.floor <= VOID * size:
        trouble = trouble if best is None else f"the floor is {best.floor.str(3)}, sum |g v| {size.str(3)}"
        return Difference(STEPS[-1], math.inf, math.inf, (Finding(Verdict.UNDECIDED, f"difference: {trouble}"),))
    return _judged(best, slope, size)


def size_of(gradients: list[np.ndarray], along: list[np.ndarray]) -> arb:
    """sum |g v|: what a derivative is made of, that may itself cancel."""
    return inner(map(abs, gradients), map(abs, along))


def _judged(found: _Quotient, slope: arb, size: arb) -> Difference:
    error = abs(found.quotient - slope)
    ratio = 0.0 if error.upper() == 0 else float(error.upper() / found.floor)
    relative = float(found.floor / size) if size > 0 else 0.0
    if error.lower() <= found.floor:
        return Difference(found.step, ratio, relative, ())
    sides = f"it is {found.quotient.str(12)}, backward gives {slope.str(12)}"
    message = f"difference: with h = {found.step} {sides}: {ratio:.3g} times the floor apart"
    return Difference(found.step, ratio, relative, (Finding(Verdict.DISAGREES, message),))


def _truncation(case: Case, point: Point, step: float) -> arb:
    around = arb(0, step)
    tube = [to_balls(x) + to_balls(v) * around for x, v in zip(point.inputs, point.along, strict=True)]
    (third,) = derivative(lambda *arrays: case.forward(*arrays)[0], tube, point.along, times=3)
    return abs(inner([point.cotangent], [third])).upper() * arb(step) ** 2 / 6


def _quotient(case: Case, point: Point, step: float) -> tuple[arb, arb]:
    """D_h and what rounding may have done to it."""
    ends, off = [], arb(0)
    for h in (step, -step):
        at = [x + h * v for x, v in zip(point.inputs, point.along, strict=True)]
        found = inner([point.cotangent], [case.forward(*at)[0]])
        off += abs(found - inner([point.cotangent], [case.forward(*map(to_balls, at))[0]]))
        ends.append(found)
    return (ends[0] - ends[1]) / (2 * arb(step)), off / (2 * arb(step))

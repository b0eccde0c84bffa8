"""Way c: complex steps against backward in float64, within the bounds of a running error analysis.

For an analytic f and h = 2^-600, Im f(x + i h v) / h = Df(x)[v] - h^2/6 D^3 f(x)[v, v, v] + ..., of which the second
term is below 1e-300: no difference is taken, and nothing cancels (W. Squire and G. Trapp, SIAM Rev. 40, 1998; J. R.
R. A. Martins, P. Sturdza, J. J. Alonso, ACM Trans. Math. Softw. 29, 2003). relu is analytic on either side of its
kink, which such a step does not cross.

What rounding does is enclosed before anything is rounded (computed.py): Y holds f(x) and fl f(x), S holds Df(x)[v]
and the complex step, G holds g and fl g. So

    fl f(x) in Y      Im fl f(x + i h v) / h in S      fl g in G      entry by entry, and
    |<dy, step> - <fl g, v>| <= 2 rad <dy, S> + 2 rad <G, v>

since the true derivative is in <dy, S>, and in <G, v> if backward is right. The true one, from way a, must be in <dy,
S> too.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..agreement.comparison import VOID, Finding, Verdict
from ..arithmetic import complex_steps, encloses
from ..derivatives import coefficient
from .case import Case, Point, inner
from .computed import STEP, as_computed
from .differences import size_of


class ComplexStep(NamedTuple):
    """`ratio` is the error in units of its bound; `bound` in units of sum |g v|."""

    ratio: float
    bound: float
    findings: tuple[Finding, ...]


def by_complex_step(
    case: Case, point: Point, output: np.ndarray, gradients: list[np.ndarray], truth: arb
) -> ComplexStep:
    """`output` and `gradients` are those of float64, `truth` is a ball around the derivative along the direction."""
    x, v, dy = point
    steps = _steps(case, point)
    moved = case.forward(*map(as_computed, x, v))[0]
    still, cache = case.forward(*map(as_computed, x))
    enclosed = [coefficient(each, 0) for each in case.gradients(as_computed(dy), cache)]
    slopes = coefficient(moved, 1)
    findings = [
        *_outside("forward in float64", output, coefficient(still, 0)),
        *_outside("complex step", steps, slopes),
        *(
            finding
            for name, found, balls in zip(case.shapes, gradients, enclosed, strict=True)
            for finding in _outside(f"d {name} in float64", found, balls)
        ),
    ]
    forwards, backwards = inner([dy], [slopes]), inner(enclosed, v)
    if not forwards.overlaps(truth):
        findings.append(Finding(Verdict.DISAGREES, f"complex step: its bounds {forwards.str(12)} miss {truth.str(12)}"))
    bound, size = (2 * (forwards.rad() + backwards.rad())).upper(), size_of(gradients, v)
    step, slope = inner([dy], [steps]), inner(gradients, v)
    error = abs(step - slope)
    ratio = 0.0 if error.upper() == 0 else float(error.upper() / bound)
    if not (bound.is_finite() and bound <= VOID * size):
        findings.append(
            Finding(Verdict.UNDECIDED, f"complex step: its bound is {bound.str(3)}, sum |g v| {size.str(3)}")
        )
    elif error.lower() > bound:
        sides = f"it is {step.str(17)}, backward gives {slope.str(17)}"
        findings.append(Finding(Verdict.DISAGREES, f"complex step: {sides}: {ratio:.3g} times the bound apart"))
    return ComplexStep(ratio, float(bound / size) if size > 0 else 0.0, tuple(findings))


def _steps(case: Case, point: Point) -> np.ndarray:
    """Im f(x + i h v) / h."""
    with complex_steps():
        moved = case.forward(*(x + 1j * (STEP * v) for x, v in zip(point.inputs, point.along, strict=True)))[0]
    return np.asarray(moved.imag / STEP)


def _outside(what: str, found: np.ndarray, balls: np.ndarray) -> list[Finding]:
    """A finding where a number is not in its ball."""
    finite = np.asarray(np.isfinite(found))
    inside = np.zeros(found.shape, np.bool_)
    inside[finite] = encloses(balls[finite], found[finite])
    if inside.all():
        return []
    index = tuple(int(i) for i in np.argwhere(~inside)[0])
    message = f"rounding: {what} is {found[index]!r} at index {index}, needed a number in {balls[index].str(17)}"
    return [Finding(Verdict.DISAGREES, message)]

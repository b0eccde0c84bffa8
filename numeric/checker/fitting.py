"""What is fitted where no known mistake explains what was found: constants of the contract, a factor, an offset, an order."""

from collections.abc import Iterator, Sequence

import numpy as np
import scipy  # which loads its parts when they are first used

from ..arithmetic import to_balls
from .contract import Contract
from .formats import Format
from .mistake import Fit, Of
from .naming import NEARNESS, of_formula, sampled, values_of
from .record import Record

GRID = 25  # places at which the search for a constant starts
STEPS = 6  # of Gauss-Newton, which ends it
LONGEST = 2000  # numbers along an axis that are compared pair by pair


def explanations(contract: Contract, of: Of, records: Sequence[Record], form: Format) -> Iterator[str]:
    """Sentences, each true at every probe that was compared."""
    sample = sampled(records)
    failed = [each for each in sample if each.failed]
    if not failed:
        return
    # where the constant matters most, its error matters least; a structured probe may have lost digits besides
    telling = max(failed, key=lambda record: (record.generic, _departure(record)))
    for fit in contract.fits:
        theta = _fitted(contract, fit, telling) if fit.of == of else None
        if theta is not None and of_formula(contract, fit.formula, sample, form, (to_balls(theta)[()],)) is not None:
            yield f"it is what {fit.constant} = {theta:.10g} gives, where {fit.right} is right [{fit.theorem}]"
    for simple in (_nothing, _factor, _offset, _cotangent, _order):
        told = [simple(record, form) for record in failed]
        one_number = all(each.size == 1 for record in failed for each in record.found)  # which any factor would explain
        if all(told) and (len(set(told)) == 1 or not one_number):
            one = str(told[0])
            yield one if len(set(told)) == 1 else f"{one} at '{failed[0].probe}', and likewise at the others"


def _departure(record: Record) -> float:
    """The largest error in units of what is allowed, as far as it is a number."""
    largest = 0.0
    for found, exact, allowed in _arrays(record):
        with np.errstate(all="ignore"):
            ratio = np.abs(found - exact) / allowed
        largest = max(largest, float(ratio[np.isfinite(ratio)].max(initial=0.0)))
    return largest


def _fitted(contract: Contract, fit: Fit, record: Record) -> float | None:
    """The constant that comes nearest at one probe."""

    def natural(place: float) -> float:
        return float(np.exp(place)) if fit.logarithmic else place

    def values(theta: float) -> np.ndarray | None:
        arrays = values_of(contract, fit.formula, record, (to_balls(theta)[()],))
        return None if arrays is None else np.concatenate([each.ravel() for each in arrays])

    found = np.concatenate([each.ravel() for each in record.found])

    def loss(place: float) -> float:
        wrong = values(natural(place))
        with np.errstate(all="ignore"):
            return np.inf if wrong is None else float(np.nan_to_num((found - wrong) ** 2, nan=np.inf).sum())

    low, high = (float(np.log(each)) if fit.logarithmic else each for each in fit.between)
    places = np.linspace(low, high, GRID)
    losses = [loss(float(place)) for place in places]
    best = int(np.argmin(losses))
    if not np.isfinite(losses[best]):
        return None
    bounds = float(places[max(best - 1, 0)]), float(places[min(best + 1, GRID - 1)])
    theta = natural(float(scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded").x))
    for _ in range(STEPS):  # a minimum of squares is flat; the residual itself is not
        step = 1e-6 * (abs(theta) or 1.0)
        here, there = values(theta), values(theta + step)
        if here is None or there is None:
            return None
        slope = (there - here) / step
        if not np.isfinite(slope).all() or not slope @ slope > 0:  # the square may underflow
            return None
        theta += float(slope @ (found - here) / (slope @ slope))
    return theta


# Each of these says something of one failed probe, or nothing


def _arrays(record: Record) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """found, exact, allowed of the arrays that failed; infinities and NaN are nothing to fit."""
    for found, exact, allowed in zip(record.found, record.exact, record.allowed, strict=True):
        with np.errstate(invalid="ignore"):
            if not (np.abs(found - exact.high) <= allowed).all():
                yield found, exact.high, allowed


def _nothing(record: Record, form: Format) -> str:
    kinds = set()
    for found, exact, _ in _arrays(record):
        kind = "NaN throughout" if np.isnan(found).all() else ""
        if exact.any() and not found.any():
            kind = "zero throughout"
        kinds.add(kind)
    return f"it is {kinds.pop()}" if len(kinds) == 1 and "" not in kinds else ""


def _factor(record: Record, form: Format) -> str:
    factors = []
    for found, exact, allowed in _arrays(record):
        with np.errstate(over="ignore"):
            square = float((exact * exact).sum())
        if not np.isfinite(found).all() or not 0 < square < np.inf:
            return ""
        factor = float((found * exact).sum()) / square
        if not _near(found, factor * exact, allowed * max(1.0, abs(factor)), form) or factor == 0:
            return ""
        factors.append(factor)
    if not factors or max(factors) - min(factors) > 1e-3 * max(map(abs, factors)):
        return ""
    return (
        "it is the right one with the other sign"
        if abs(factors[0] + 1) < 1e-6
        else f"it is {factors[0]:.6g} times the right one"
    )


def _offset(record: Record, form: Format) -> str:
    for found, exact, allowed in _arrays(record):
        if found.size < 2 or not np.isfinite(found).all():
            return ""
        offset = float((found - exact).mean())
        if not _near(found, exact + offset, allowed + form.unit * abs(offset), form):
            return ""
        return f"it is the right one plus {offset:.6g}"
    return ""


def _cotangent(record: Record, form: Format) -> str:
    if record.dy is None or [each.shape for each in record.found] != [record.dy.shape]:
        return ""
    return "it is the cotangent dy, unchanged" if np.array_equal(record.found[0], record.dy) else ""


def _order(record: Record, form: Format) -> str:
    """The right numbers in another order along one axis."""
    for found, exact, allowed in _arrays(record):
        for axis in range(found.ndim):
            if found.shape[axis] > 1 and found.shape[axis] ** 2 * found.size <= LONGEST * LONGEST:
                order = _permutation(found, exact, allowed, axis, form)
                if order is not None:
                    return f"its axis {axis - found.ndim} is in another order: {order}"
        rank = np.argsort(exact, axis=None)
        same = _near(np.sort(found, axis=None), exact.ravel()[rank], allowed.ravel()[rank], form)
        return "it has the right numbers in other places" if same and found.size > 2 else ""
    return ""


def _permutation(
    found: np.ndarray, exact: np.ndarray, allowed: np.ndarray, axis: int, form: Format
) -> list[int] | None:
    f, e, a = (np.moveaxis(each, axis, 0).reshape(found.shape[axis], -1) for each in (found, exact, allowed))
    with np.errstate(invalid="ignore"):
        fits = (np.abs(f[:, None] - e) <= NEARNESS * (a + form.unit * np.abs(e))).all(-1)
    order = [int(row.argmax()) for row in fits]
    return order if fits.any(1).all() and sorted(order) == list(range(len(order))) else None


def _near(found: np.ndarray, wrong: np.ndarray, allowed: np.ndarray, form: Format) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((np.abs(found - wrong) <= NEARNESS * (allowed + form.unit * np.abs(wrong))).all())

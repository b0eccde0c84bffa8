"""Is what was found another convention, as surely as a pass is right? Then accepting it may turn a failure into a pass.

A convention has the right formula's steps on other numbers, in other places, or one more of them, so that each of its numbers errs
by no more than the right bound has, somewhere in the array, for numbers of that size (`naming.rounding_of`, once and not NEARNESS
times), or else by what running error analysis of its formula gives (`erring`). What is accepted lies within that of the
convention's exact numbers at every entry of every probe, as a pass does of the right ones; a right implementation with a small
error does not, since somewhere the two are further apart.
"""

from collections.abc import Sequence

import numpy as np

from ..arithmetic import precision, radius, to_balls, to_floats
from .bench import Workbench
from .comparison import Worst
from .contract import Contract
from .enclosure import FIRST_BITS, PRECISIONS, Exact, deviation
from .erring import errors, exactly
from .formats import Format, Precision
from .mistake import Formula
from .naming import balls_of, rounding_of
from .record import Record
from .rounding import SLACK

Enclosed = tuple[Exact, np.ndarray]  # what the formula gives, and how far from it rounding reaches
NOWHERE = Worst(0.0, "", (), 0.0, 0.0, 0.0, 0.0)


def departure(bench: Workbench, formula: Formula, records: Sequence[Record]) -> str:
    """Where what was found is furthest beyond rounding from the formula, in words; empty where it is nowhere."""
    contract, form, furthest = bench.contract, bench.format, NOWHERE
    for record in records:
        enclosed = _enclosed(contract, formula, record, form)
        if enclosed is None:
            return f"'{record.probe}', where what it gives is not known well enough"
        here = _furthest(record, enclosed, form)
        if here.ratio > SLACK:
            itself = _bounded(contract, formula, record, bench.precision)
            enclosed = [(exact, np.maximum(reach, own)) for (exact, reach), own in zip(enclosed, itself, strict=True)]
            here = _furthest(record, enclosed, form)
        furthest = max(furthest, here, key=lambda one: one.ratio)
    return str(furthest) if furthest.ratio > SLACK else ""


def _enclosed(contract: Contract, formula: Formula, record: Record, form: Format) -> list[Enclosed] | None:
    for bits in PRECISIONS:
        with precision(bits):
            arrays = balls_of(contract, formula, record)
            if arrays is None:
                continue
            pairs = []
            for number, balls in enumerate(arrays):
                exact, truth = _split(balls), record.exact[number]
                if record.without_reference:
                    missing = record.without_reference[number]
                    exact = Exact(*(np.where(missing, *both) for both in zip(truth, exact, strict=True)))
                pairs.append((exact, rounding_of(exact.high, truth.high, record.allowed[number], form)))
            if all(exact.serves(reach) for exact, reach in pairs):
                return pairs
    return None


def _bounded(contract: Contract, formula: Formula, record: Record, model: Precision) -> list[np.ndarray]:
    """How far rounding reaches in the formula as it is written, computed in the wide format and rounded once."""
    with precision(FIRST_BITS):
        numbers = balls_of(contract, formula, record, as_numbers=lambda floats: exactly(floats, model.wide))
    return (
        [np.zeros(each.shape) for each in record.found]
        if numbers is None
        else [errors(each, model) for each in numbers]
    )


def _split(balls: np.ndarray) -> Exact:
    high = to_floats(balls)
    rest = to_balls(balls - to_balls(high))
    return Exact(high, to_floats(rest), radius(rest))


def _furthest(record: Record, enclosed: Sequence[Enclosed], form: Format) -> Worst:
    pairs = zip(record.found, enclosed, strict=True)
    return max((_worst(record.probe, found, *each, form) for found, each in pairs), key=lambda one: one.ratio)


def _worst(probe: str, found: np.ndarray, exact: Exact, reach: np.ndarray, form: Format) -> Worst:
    if not found.size:
        return NOWHERE
    error = deviation(found, exact, reach, form)
    with np.errstate(all="ignore"):
        ratio = np.where(error == 0, 0.0, error / reach)
    ratio = np.where(np.isnan(ratio) | np.isinf(error), np.inf, ratio)
    place = np.unravel_index(int(ratio.argmax()), ratio.shape)
    found_there, exact_there, error_there, reach_there = (
        float(each[place]) for each in (found, exact.high, error, reach)
    )
    index = tuple(int(i) for i in place)
    return Worst(float(ratio[place]), probe, index, found_there, exact_there, error_there, reach_there)

"""Is what was found another convention, as surely as a pass is right? Then accepting it may turn a failure into a pass.

A convention has the right formula's steps on other numbers, in other places, or one more of them, so that each of its numbers errs
by no more than the right bound has, somewhere in the array, for numbers of that size (`naming.rounding_of`, once and not NEARNESS
times), or than a bound of its own: one that it states, or else running error analysis of its formula (`erring`). What is accepted
lies within that of the convention's exact numbers at every entry of every probe, as a pass does of the right ones, and a right
implementation with a small error is none of it, since nowhere is it much nearer to the convention than to the truth (`naming`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arithmetic import precision, radius, to_balls, to_floats
from .bench import Workbench
from .comparison import Worst
from .contract import Contract
from .enclosure import FIRST_BITS, PRECISIONS, Exact, deviation
from .erring import errors, exactly
from .formats import Format
from .mistake import Formula, Variant
from .naming import balls_of, rounding_of
from .record import Record
from .reverse import gradients_of
from .rounding import SLACK, allowance

Enclosed = tuple[Exact, np.ndarray]  # what the formula gives, and how far from it rounding reaches
NOWHERE = Worst(0.0, "", (), 0.0, 0.0, 0.0, 0.0)


def departure(bench: Workbench, variant: Variant, records: Sequence[Record]) -> str:
    """Where what was found is furthest beyond rounding from the variant, in words; empty where it is nowhere."""
    furthest = NOWHERE
    for record in (_where_it_has_one(variant, each) for each in records):
        formula = _formula(bench.contract, variant, record)
        enclosed = _enclosed(bench.contract, formula, record, bench.format)
        if enclosed is None:
            return f"'{record.probe}', where what it gives is not known well enough"
        here = _furthest(record, enclosed, bench.format)
        if here.ratio > SLACK:
            own = _own_bounds(bench, variant, record) or _bounded(bench, formula, record)
            enclosed = [(exact, np.maximum(reach, more)) for (exact, reach), more in zip(enclosed, own, strict=True)]
            here = _furthest(record, enclosed, bench.format)
        furthest = max(furthest, here, key=lambda one: one.ratio)
    return str(furthest) if furthest.ratio > SLACK else ""


def _where_it_has_one(variant: Variant, record: Record) -> Record:
    """The record with the reference's numbers where the variant itself has no reference."""
    missing = variant.without_reference(*record.inputs, **record.options) if variant.without_reference else ()
    if not missing:
        return record
    of_these = missing[:1] if record.dy is None else missing[1:]
    before = record.without_reference or tuple(np.zeros(each.shape, np.bool_) for each in record.found)
    both = tuple(np.logical_or(one, other) for one, other in zip(before, of_these, strict=True))
    found = tuple(np.where(m, e.high, f) for m, e, f in zip(both, record.exact, record.found, strict=True))
    return replace(record, found=found, without_reference=both)


def _formula(contract: Contract, variant: Variant, record: Record) -> Formula:
    """Of output or gradients, as the record."""
    follows = record.dy is not None and variant.of == "values"
    return gradients_of(contract, variant.formula) if follows else variant.formula


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


def _own_bounds(bench: Workbench, variant: Variant, record: Record) -> list[np.ndarray] | None:
    """Those that it states, and 0 where there is none."""
    of, before = (variant.bound, ()) if record.dy is None else (variant.gradient_bounds, (record.dy,))
    if of is None:
        return None
    with np.errstate(all="ignore"):
        found = of(bench.precision, *before, *record.inputs, **record.options)
        reach = [allowance(each) for each in (found if isinstance(found, tuple) else (found,))]
    return [np.where(np.isfinite(each), each, 0.0) for each in reach]


def _bounded(bench: Workbench, formula: Formula, record: Record) -> list[np.ndarray]:
    """How far rounding reaches in the formula as it is written, computed in the wide format and rounded once.

    That adds up what the steps of a deep formula would share. It is taken as much smaller as the right bound is than the same
    analysis of the right formula, at the median.
    """

    def right(*inputs: Any, **options: Any) -> np.ndarray:
        return bench.contract.layer(*inputs, **options)[0]

    own = _errors(bench, formula, record)
    of_right = _errors(bench, right if record.dy is None else gradients_of(bench.contract, right), record)
    return [each * _share(*pair) for each, *pair in zip(own, record.allowed, of_right, strict=True)]


def _errors(bench: Workbench, formula: Formula, record: Record) -> list[np.ndarray]:
    model = bench.precision
    with precision(FIRST_BITS):
        numbers = balls_of(bench.contract, formula, record, as_numbers=lambda floats: exactly(floats, model.wide))
    if numbers is None:
        return [np.zeros(each.shape) for each in record.found]
    return [errors(each, model) for each in numbers]


def _share(allowed: np.ndarray, of_right: np.ndarray) -> float:
    known = (of_right > 0) & np.isfinite(allowed)
    return min(1.0, float(np.median(allowed[known] / of_right[known]))) if known.any() else 1.0


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

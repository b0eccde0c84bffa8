"""Which known mistake an implementation makes: the one whose formula gives what was found, at every probe.

The verdict is reached before a name is looked for, so what is allowed here decides nothing but the name. A wrong formula's
rounding is not bounded anew; it is taken to be that of the right one, grown with its numbers, and NEARNESS times that is what a
match may be off by at a generic probe. At a structured one, where a wrong formula may lose digits that the right one keeps, half
of the digits must agree. That this separates all that is known from each other, the kill matrix shows.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import precision, to_balls, to_floats
from .adapters.numpy import DTYPES
from .contract import Contract
from .enclosure import FIRST_BITS, deviation
from .formats import Format
from .mistake import Formula, Instability, Known, Of
from .record import Record

NEARNESS = 16.0
SAMPLED = 14  # probes at which a formula is compared, in balls
LARGEST = 4000  # numbers at such a probe


class Match(NamedTuple):
    """`distance` is the largest difference from the formula, in what is allowed for it."""

    known: Known
    distance: float


def matches(contract: Contract, of: Of, records: Sequence[Record], form: Format) -> list[Match]:
    """The mistakes that explain what was found, the nearest first; none where nothing failed."""
    if not any(record.failed for record in records):
        return []
    sample = sampled(records)
    found = []
    for known in contract.mistakes:
        if known.of == of:
            distance = (
                _unstable(known, records, form)
                if isinstance(known, Instability)
                else of_formula(contract, known.formula, sample, form)
            )
            if distance is not None and distance <= 1:
                found.append(Match(known, distance))
    nearest = min((match.distance for match in found), default=0.0)
    within = max(2 * nearest, 1 / NEARNESS)  # what is as near as rounding can tell
    return sorted((match for match in found if match.distance <= within), key=lambda match: match.distance)


def sampled(records: Sequence[Record]) -> list[Record]:
    """Small ones: two that failed, one for each setting of the options, and then one for each kind of probe."""
    small = sorted((each for each in records if each.entries <= LARGEST), key=lambda each: each.entries)
    chosen = {id(each): each for each in [each for each in small if each.failed][:2]}
    for kind in (_setting, _kind):
        first = {kind(record): record for record in reversed(small)}
        for record in first.values():
            if len(chosen) < SAMPLED:
                chosen[id(record)] = record
    return list(chosen.values())


def _setting(record: Record) -> str:
    words = {name: "array" if isinstance(value, np.ndarray) else value for name, value in record.options.items()}
    return repr(sorted(words.items()))


def _kind(record: Record) -> str:
    return record.probe.partition(",")[0]


def of_formula(
    contract: Contract, formula: Formula, sample: Sequence[Record], form: Format, theta: tuple[Any, ...] = ()
) -> float | None:
    """The largest distance from a formula over the sample, or None where it cannot be what was found: it raises,
    gives other shapes, is off by more than is allowed, or does not differ from the truth at any probe that failed.

    Where what was found overflowed, or is NaN, nothing is compared: a wrong formula may be an unstable one besides.
    """
    largest, explains = 0.0, False
    for record in sample:
        wrong = values_of(contract, formula, record, theta)
        if wrong is None:
            return None
        if not all(np.isfinite(each).all() for each in record.found):
            continue
        for found, numbers, exact, allowed in zip(record.found, wrong, record.exact, record.allowed, strict=True):
            distance = _distance(found, numbers, exact.high, allowed, form)
            if not record.generic:
                distance *= min(1.0, NEARNESS * form.unit**0.5)
            if distance > 1:
                return None
            largest = max(largest, distance)
            explains = explains or (record.failed and bool((np.abs(numbers - exact.high) > allowed).any()))
    return largest if explains else None


def values_of(
    contract: Contract, formula: Formula, record: Record, theta: tuple[Any, ...] = ()
) -> list[np.ndarray] | None:
    """What the formula gives, enclosed and then in float64; None where it has no value there."""
    inputs = contract.in_balls(record.inputs)
    before = theta if record.dy is None else (*theta, to_balls(record.dy))
    try:
        with precision(FIRST_BITS), np.errstate(all="ignore"):
            result = formula(*before, *inputs, **record.options)
            arrays = [np.asarray(each, dtype=object) for each in (result if isinstance(result, tuple) else (result,))]
            numbers = [to_floats(to_balls(each)) for each in arrays]
    except (ArithmeticError, ValueError, IndexError, TypeError, AttributeError):
        return None
    shapes = [each.shape for each in record.found]
    return numbers if [each.shape for each in numbers] == shapes else None


def _distance(found: np.ndarray, wrong: np.ndarray, truth: np.ndarray, allowed: np.ndarray, form: Format) -> float:
    with np.errstate(all="ignore"):
        distance = np.abs(found - wrong) / grown(wrong, truth, allowed, form)
    same = (found == wrong) | (np.isnan(found) & np.isnan(wrong))
    return float(np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance)).max(initial=0.0))


def grown(wrong: np.ndarray, truth: np.ndarray, allowed: np.ndarray, form: Format) -> np.ndarray:
    """How far a wrong formula's numbers may be off by rounding: see the module."""
    with np.errstate(all="ignore"):
        size = np.abs(wrong) / np.abs(truth)
        scaled = allowed * np.maximum(1.0, np.where(np.isfinite(size), size, 1.0))
        return np.asarray(NEARNESS * (scaled + form.unit * (np.abs(wrong) + np.abs(wrong).max(initial=0.0))))


def _unstable(known: Instability, records: Iterable[Record], form: Format) -> float | None:
    """0 where the emulation fails at just the probes that failed, else None."""
    for record in records:
        fails = _emulation_fails(known, record, form)
        if fails is None or fails != record.failed:
            return None
    return 0.0


def _emulation_fails(known: Instability, record: Record, form: Format) -> bool | None:
    target = DTYPES[form.name]
    arrays = [
        each.astype(target) if isinstance(each, np.ndarray) and each.dtype.kind == "f" else each
        for each in record.arguments()
    ]
    try:
        with np.errstate(all="ignore"):
            result = known.emulated(*arrays, **record.options)
    except (ArithmeticError, ValueError, IndexError, TypeError):
        return None
    results = result if isinstance(result, tuple) else (result,)
    return any(
        bool((deviation(np.asarray(each, dtype=np.float64), exact, allowed, form) > allowed).any())
        for each, exact, allowed in zip(results, record.exact, record.allowed, strict=True)
    )

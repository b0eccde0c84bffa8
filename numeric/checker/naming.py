"""Which known mistake an implementation makes: the one whose formula gives what was found, at every probe.

The verdict is reached before a name is looked for, so what is allowed here decides nothing but the name; what makes a variant of
a failure is in `conforming`. A wrong formula's rounding is not bounded anew; it is taken to be that of the right one, grown with
its numbers, and NEARNESS times that is what a match may be off by at a generic probe. At a structured one, where a wrong formula
may lose digits that the right one keeps, half of the digits must agree. In 16 bits that alone may be wider than what parts a wrong
formula from the right one: so what was found must besides be NEARER to it than to the truth, all entries together at which one of
the two departs from the truth. That this separates all that is known from each other, the kill matrix shows.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import precision, to_balls, to_floats
from .contract import Contract
from .enclosure import FIRST_BITS, NEGLIGIBLE
from .formats import Format
from .mistake import Formula, Instability, Known, Of
from .record import Record
from .rounding import SLACK
from .unstable import from_unstable

NEARNESS = 16.0
NEARER = 0.5  # of the distance to the truth: no further than this from the formula that explains it
GROWN = 64.0  # units roundoff of a wrong formula's number: to no more is the right one's bound grown for it
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
                from_unstable(known, contract, records, form)
                if isinstance(known, Instability)
                else of_formula(contract, known.formula, sample, form)
            )
            if distance is not None and distance <= 1:
                found.append(Match(known, distance))
    exact = [match for match in found if not isinstance(match.known, Instability)]
    found = exact or found  # where a wrong formula gives just these numbers, it is no right one
    nearest = min((match.distance for match in found), default=0.0)
    within = max(2 * nearest, 1 / NEARNESS)  # what is as near as rounding can tell
    return sorted((match for match in found if match.distance <= within), key=lambda match: match.distance)


def sampled(records: Sequence[Record]) -> list[Record]:
    """Small ones: two that failed, one for each setting of the options, and then one for each kind of probe."""
    small = sorted((each for each in records if each.entries <= LARGEST), key=lambda each: each.entries)
    chosen = {id(each): each for each in [each for each in small if each.failed][:2]}
    for of in (_setting, lambda record: record.kind):
        first = {of(record): record for record in reversed(small)}
        for record in first.values():
            if len(chosen) < SAMPLED:
                chosen[id(record)] = record
    return list(chosen.values())


def _setting(record: Record) -> str:
    words = {name: "array" if isinstance(value, np.ndarray) else value for name, value in record.options.items()}
    return repr(sorted(words.items()))


def of_formula(
    contract: Contract, formula: Formula, sample: Sequence[Record], form: Format, theta: tuple[Any, ...] = ()
) -> float | None:
    """The largest distance from a formula over the sample, or None where it cannot be what was found: it raises, gives other
    shapes, is off by more than is allowed, gives an array as it should be that failed, or what was found is not much nearer to it
    than to the truth, at a generic probe or at all that failed.

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
            arrays = (found, numbers, exact.high, allowed)
            if distance > 1 or (record.generic and _nearer(*arrays, form, 2, 3) is False):
                return None
            if _right_though_it_failed(*arrays):
                return None
            largest = max(largest, distance)
            explains = explains or (record.failed and _nearer(*arrays, form, 1, 1) is True)
    return largest if explains else None


def _nearer(
    found: np.ndarray,
    wrong: np.ndarray,
    truth: np.ndarray,
    allowed: np.ndarray,
    form: Format,
    found_off: float,
    wrong_off: float,
) -> bool | None:
    """Is what was found no further from the formula than half of its way to the truth, all entries together that tell?

    Those do at which one of the two is off by more than so many allowances; None where none does. An implementation of the formula
    that errs by an allowance is so near wherever it is off by 2, or the formula by 3.
    """
    with np.errstate(all="ignore"):
        telling = (np.abs(found - truth) > found_off * allowed) | (np.abs(wrong - truth) > wrong_off * allowed)
        if not telling.any():
            return None
        reach = rounding_of(wrong, truth, allowed, form)[telling]
        far, near = (float((np.abs(found - each)[telling] / reach).sum()) for each in (truth, wrong))
    return near <= NEARER * far


def _right_though_it_failed(found: np.ndarray, numbers: np.ndarray, truth: np.ndarray, allowed: np.ndarray) -> bool:
    """Is an array wrong that the formula gives as it should be? In 16 bits NEARNESS alone would overlook it."""
    same = bool((np.abs(numbers - truth) <= NEGLIGIBLE * allowed).all())
    return same and bool((np.abs(found - truth) > SLACK * allowed).any())


def values_of(
    contract: Contract, formula: Formula, record: Record, theta: tuple[Any, ...] = ()
) -> list[np.ndarray] | None:
    """What the formula gives, enclosed and then in float64; None where it has no value there."""
    with precision(FIRST_BITS):
        balls = balls_of(contract, formula, record, theta)
        return None if balls is None else record.judged([to_floats(each) for each in balls])


def balls_of(
    contract: Contract,
    formula: Formula,
    record: Record,
    theta: tuple[Any, ...] = (),
    as_numbers: Callable[[np.ndarray], np.ndarray] = to_balls,
) -> list[np.ndarray] | None:
    """What the formula gives, enclosed at the precision that is set; None where it has no value there, or one of other shapes.

    Floats become balls, unless `as_numbers` makes of them what stands for balls.
    """
    pairs = zip(record.inputs, contract.inputs, strict=True)
    inputs = [as_numbers(value) if each.floating else value for value, each in pairs]
    before = theta if record.dy is None else (*theta, as_numbers(record.dy))
    try:
        with np.errstate(all="ignore"):
            result = formula(*before, *inputs, **record.options)
            arrays = [np.asarray(each, dtype=object) for each in (result if isinstance(result, tuple) else (result,))]
            balls = [to_balls(each) for each in arrays]
    except (ArithmeticError, ValueError, IndexError, TypeError, AttributeError):
        return None
    return balls if [each.shape for each in balls] == [each.shape for each in record.found] else None


def _distance(found: np.ndarray, wrong: np.ndarray, truth: np.ndarray, allowed: np.ndarray, form: Format) -> float:
    with np.errstate(all="ignore"):
        distance = np.abs(found - wrong) / grown(wrong, truth, allowed, form)
    same = (found == wrong) | (np.isnan(found) & np.isnan(wrong))
    return float(np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance)).max(initial=0.0))


def grown(wrong: np.ndarray, truth: np.ndarray, allowed: np.ndarray, form: Format) -> np.ndarray:
    """How far off a match may be: see the module."""
    return NEARNESS * rounding_of(wrong, truth, allowed, form)


def rounding_of(wrong: np.ndarray, truth: np.ndarray, allowed: np.ndarray, form: Format) -> np.ndarray:
    """How far another formula's numbers may be off by rounding: see the module."""
    size = np.abs(wrong)
    with np.errstate(all="ignore"):
        # where the truth all but vanishes, its bound says nothing of a relative error
        scaled = np.fmax(allowed, np.fmin(allowed * (size / np.abs(truth)), GROWN * form.unit * size))
        # a wrong formula may have in one place what belongs to another, with the rounding that goes with it
        elsewhere = np.where(np.isfinite(allowed), allowed, 0.0).max(initial=0.0)
        return np.asarray(scaled + elsewhere + form.unit * (size + size.max(initial=0.0)))

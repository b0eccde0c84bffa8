"""What is told of a result within the bound that an accurate formula could not have given.

A bound may admit right formulas that lose digits, such as x (1 + erf(x / sqrt 2)) / 2 where x is negative. Beyond what
accurate formulas may return there are two cases. The numbers are those of another convention, as near as an accurate
evaluation of it comes: then it is the convention that is found, though the bound in a coarse format has room for both.
Or they are not: it passes, with a note on its accuracy.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .contract import Contract
from .enclosure import deviation
from .following import as_the_output, follow
from .formats import Format
from .mistake import Instability, Mistake, Of, Variant
from .naming import LARGEST, values_of
from .record import Record
from .report import Finding
from .rounding import SLACK
from .unstable import emulated
from .verdict import Verdict

NEARER = 0.5  # of the distance to the right formula, where that to a wrong one decides
LOST = 8.0  # a result is told to have lost digits where it errs by as many times what an accurate one may: three bits
ALIKE = 0.5  # of the entries that lost digits there or here, so many must have lost them in both
ZEROS = 0.1  # of these entries, so many may be 0 in one of the two only


def with_accuracy(
    finding: Finding, contract: Contract, of: Of, records: Sequence[Record], form: Format, output: Mistake | None
) -> Finding:
    """The finding of values or gradients that are all within the bound.

    Of gradients, `output` is what the output was found to be.
    """
    loose = [record for record in records if record.accurate]
    judged = [_judged(record, form) for record in loose]
    largest = max((_ratios(record, form)[0].max(initial=0.0) for record in judged), default=0.0)
    if largest <= SLACK:
        return finding
    if output and follow(contract, output.formula, judged, form):
        return as_the_output(finding, output)
    known = _given_by(contract, of, judged) or _nearest(contract, of, loose)
    if known:
        verdict = Verdict.VARIANT if isinstance(known, Variant) else Verdict.FAIL
        says = f"{known.id}: it {known.says}. {getattr(known, 'converter', '')}".rstrip(". ")
        message = f"{says}.\n{_worst(judged, form)}"
        return replace(finding, verdict=verdict, mistake=known.id, theorem=known.theorem, message=message)
    if largest < LOST:
        return finding
    losses = [
        (alike, each)
        for each in contract.mistakes
        if isinstance(each, Instability)
        and each.of == of
        and form.name in each.admitted
        and (alike := _alike(each, judged, form)) >= ALIKE
    ]
    nearest = max(losses, key=lambda pair: pair[0], default=(0.0, None))[1]
    says = f"{nearest.id}: right formula that loses digits: it {nearest.says}" if nearest else "digits are lost"
    message = f"{finding.message}. Accuracy, not an error: {says}. {_worst(judged, form)}"
    return replace(finding, message=message, mistake=nearest.id if nearest else None)


def _judged(record: Record, form: Format) -> Record:
    """By what an accurate evaluation may return."""
    strict = replace(record, allowed=record.accurate)
    return replace(strict, failed=bool((_ratios(strict, form)[0] > SLACK).any()))


def _ratios(record: Record, form: Format, results: Sequence[np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Of all entries, errors in what an accurate evaluation may err by, and which are 0 though they should not be."""
    ratios, zeros = [], []
    for found, exact, allowed in zip(results or record.found, record.exact, record.allowed, strict=True):
        error = deviation(found, exact, allowed, form)
        with np.errstate(all="ignore"):
            ratios.append(np.where(error == 0, 0.0, error / allowed).ravel())
        zeros.append(((found == 0) & (exact.high != 0)).ravel())
    return np.concatenate(ratios), np.concatenate(zeros)


def _alike(known: Instability, records: Sequence[Record], form: Format) -> float:
    """Of the entries that lose digits in what was found or in the emulation, the share that does so in both."""
    both = either = zeros = 0
    for record in records:
        results = emulated(known, record, form)
        if results is None or [each.shape for each in results] != [each.shape for each in record.found]:
            return 0.0
        (here, zero_here), (there, zero_there) = _ratios(record, form), _ratios(record, form, results)
        lost_here, lost_there = here >= LOST, there >= LOST
        both += int((lost_here & lost_there).sum())
        either += int((lost_here | lost_there).sum())
        zeros += int(((zero_here != zero_there) & (lost_here | lost_there)).sum())
    return both / either if either and zeros <= ZEROS * either else 0.0


def _given_by(contract: Contract, of: Of, records: Sequence[Record]) -> Mistake | None:
    wrong = (each for each in contract.mistakes if isinstance(each, Mistake) and each.of == of)
    return next((each for each in wrong if _gives(contract, each, records)), None)


def _nearest(contract: Contract, of: Of, records: Sequence[Record]) -> Mistake | None:
    """The wrong formula that all entries together are much nearer to than to the right one.

    In units of what the bound allows. Rounding alone, which has nothing to do with a formula, brings none nearer.
    """
    small = [record for record in records if record.entries <= LARGEST]
    best, least = None, NEARER * _off(small, [[each.high for each in record.exact] for record in small])
    for known in contract.mistakes:
        if isinstance(known, Mistake) and known.of == of:
            values = [values_of(contract, known.formula, record) for record in small]
            if None not in values and (off := _off(small, [each for each in values if each is not None])) < least:
                best, least = known, off
    return best


def _off(records: Sequence[Record], values: Sequence[Sequence[np.ndarray]]) -> float:
    """The root of the mean square of what was found less these values, in allowances."""
    squares = [
        np.mean(((found - each) / np.maximum(allowed, 2.0**-500)) ** 2)
        for record, arrays in zip(records, values, strict=True)
        for found, each, allowed in zip(record.found, arrays, record.allowed, strict=True)
    ]
    return float(np.sqrt(np.mean(squares))) if squares else 0.0


def _gives(contract: Contract, known: Mistake, records: Sequence[Record]) -> bool:
    """Is every number that of the formula, within twice an accurate evaluation's rounding, grown with the number?"""
    explained = False
    for record in (record for record in records if record.entries <= LARGEST):
        wrong = values_of(contract, known.formula, record)
        if wrong is None:
            return False
        for found, numbers, exact, allowed in zip(record.found, wrong, record.exact, record.allowed, strict=True):
            with np.errstate(all="ignore"):
                size = np.abs(numbers) / np.abs(exact.high)
            reach = 2 * allowed * np.maximum(1.0, np.where(np.isfinite(size), size, 1.0))
            if not (np.abs(found - numbers) <= reach).all():
                return False
            explained |= bool((np.abs(numbers - exact.high) > 2 * allowed).any())
    return explained


def _worst(records: Sequence[Record], form: Format) -> str:
    """The entry that is furthest beyond what an accurate evaluation may return."""
    record = max(records, key=lambda each: _ratios(each, form)[0].max(initial=0.0))
    ratios = _ratios(record, form)[0]
    place = int(ratios.argmax())
    found, exact = (
        np.concatenate([np.ravel(each) for each in arrays])[place]
        for arrays in (record.found, [each.high for each in record.exact])
    )
    relative = abs(found - exact) / abs(exact) if exact else np.inf
    return (
        f"Probe '{record.probe}': found {found:.5g}, exact {exact:.5g}, a relative error of {relative:.2g}, "
        f"{ratios[place]:.2g} times what an accurate evaluation may err by"
    )

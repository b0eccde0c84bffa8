"""Is what was found a right formula that lost its digits? Its emulation in the dtype loses them at the same probes."""

from collections.abc import Iterable, Sequence

import numpy as np

from .adapters.numpy import DTYPES
from .contract import Contract
from .enclosure import deviation
from .formats import Format, Precision
from .mistake import Instability
from .record import Record
from .rounding import allowance

OCTAVES = 3.0  # an unstable formula's errors may be this many powers of two apart from those of its emulation


def from_unstable(known: Instability, contract: Contract, records: Sequence[Record], form: Format) -> float | None:
    """How far it is from the emulation; or, with `narrow_sums`, whether the bound for such sums has room for it."""
    distance = _from_emulation(known, records, form)
    if distance is None and known.narrow_sums and all(_within_narrow_sums(contract, each, form) for each in records):
        return 1.0
    return distance


def _within_narrow_sums(contract: Contract, record: Record, form: Format) -> bool:
    model = Precision(form, form, form)
    with np.errstate(all="ignore"):
        bounds = (
            (contract.bound(model, *record.inputs, **record.options),)
            if record.dy is None
            else contract.gradient_bounds(model, record.dy, *record.inputs, **record.options)
        )
        return all(
            (np.abs(found - exact.high) <= allowance(bound)).all()
            for found, exact, bound in zip(record.found, record.exact, bounds, strict=True)
        )


def _from_emulation(known: Instability, records: Iterable[Record], form: Format) -> float | None:
    """How far the errors found are from those of the emulation, in OCTAVES; None where others than those probes fail at which it
    fails.

    Two evaluations of an unstable formula need not err alike, but by as much: what is compared is the sizes of the errors, entry by
    entry, and the median over all of them is what counts.
    """
    octaves = [np.zeros(0)]
    for record in records:
        results = emulated(known, record, form)
        if results is None or [each.shape for each in results] != [each.shape for each in record.found]:
            return None
        results = record.judged(results)
        wrong = [
            (deviation(each, exact, allowed, form) > allowed) | np.isnan(each)  # where nothing is bounded, NaN fails
            for each, exact, allowed in zip(results, record.exact, record.allowed, strict=True)
        ]
        if any(each.any() for each in wrong) != record.failed:
            return None
        for each, mask, found, exact in zip(results, wrong, record.found, record.exact, strict=True):
            octaves.append(_octaves(found, each, exact.high)[mask])
    compared = np.concatenate(octaves)
    return float(np.median(compared)) / OCTAVES if compared.size else None


def _octaves(found: np.ndarray, other: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """|log2| of the ratio of two errors; 0 where both are NaN or infinite, as far as may be where only one is, and the other has no
    digit right."""
    with np.errstate(all="ignore"):
        apart = np.abs(np.log2(np.abs(found - truth) / np.abs(other - truth)))
    apart = np.where(np.isnan(apart), np.inf, apart)
    with np.errstate(invalid="ignore"):
        lost = ~np.isfinite(found) & ~(np.abs(other - truth) < np.abs(truth))
    same = (found == other) | (~np.isfinite(found) & ~np.isfinite(other))
    return np.where(same, 0.0, np.where(lost, OCTAVES, apart))


def emulated(known: Instability, record: Record, form: Format) -> list[np.ndarray] | None:
    """What an unstable formula gives in the dtype, as float64; None where it raises."""
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
    return [np.asarray(each).astype(target).astype(np.float64) for each in results]

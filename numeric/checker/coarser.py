"""Are the errors no larger than rounding in a coarser format gives? Then some step may be computed in it."""

from collections.abc import Sequence

import numpy as np

from .contract import Contract
from .enclosure import deviation
from .formats import FORMATS, Format, precision_of
from .mistake import Of
from .record import Record
from .rounding import allowance


def coarser(contract: Contract, of: Of, records: Sequence[Record], form: Format) -> str:
    """A sentence that names the finest such format; empty where there is none."""
    failed = [record for record in records if record.failed]
    for other in sorted(FORMATS.values(), key=lambda each: -each.bits):
        if other.bits < form.bits and all(_within(contract, of, record, form, other) for record in failed):
            return f"its errors are no larger than rounding to {other.name} gives: some step may be computed in it"
    return ""


def _within(contract: Contract, of: Of, record: Record, form: Format, other: Format) -> bool:
    precision = precision_of(form.name, other.name)
    with np.errstate(all="ignore"):
        bounds = (
            (contract.bound(precision, *record.inputs, **record.options),)
            if record.dy is None
            else contract.gradient_bounds(precision, record.dy, *record.inputs, **record.options)
        )
        return all(
            bool((np.isfinite(found) & (deviation(found, exact, allowance(bound), form) <= allowance(bound))).all())
            for found, exact, bound in zip(record.found, record.exact, bounds, strict=True)
        )

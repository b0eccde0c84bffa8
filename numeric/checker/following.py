"""Are wrong gradients those of the wrong formula that the output follows? Then there is one mistake, else there are two."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arithmetic import precision, to_balls, to_floats
from ..derivatives import derivative
from .contract import Contract
from .enclosure import FIRST_BITS
from .formats import Format
from .mistake import Formula, Mistake, Variant
from .naming import NEARNESS, grown, sampled
from .record import Record
from .report import Finding
from .verdict import Verdict

DIRECTIONS = 3


def as_the_output(finding: Finding, wrong: Mistake) -> Finding:
    """The finding of gradients that follow."""
    verdict = Verdict.VARIANT if isinstance(wrong, Variant) else Verdict.FAIL
    says = f"as the output: they are the gradients of {wrong.id}.\n"
    return replace(finding, verdict=verdict, message=says + finding.message, mistake=wrong.id)


def follow(contract: Contract, formula: Formula, records: Sequence[Record], form: Format) -> bool:
    """Does <dy, D formula(x)[v]> equal <gradients, v> for random directions v, at every probe that failed and was sampled?"""
    failed = [each for each in sampled(records) if each.failed]
    return bool(failed) and all(_follows(contract, formula, record, form) for record in failed)


def _follows(contract: Contract, formula: Formula, record: Record, form: Format) -> bool:
    assert record.dy is not None
    floating = [place for place, each in enumerate(contract.inputs) if each.floating]
    at = [record.inputs[place] for place in floating]

    def moved(*values: np.ndarray) -> Any:
        inputs = list(record.inputs)
        for place, value in zip(floating, values, strict=True):
            inputs[place] = value
        return formula(*inputs, **record.options)

    rng = np.random.default_rng(0)
    for _ in range(DIRECTIONS):
        along = [rng.standard_normal(np.shape(each)) for each in at]
        try:
            with precision(FIRST_BITS), np.errstate(all="ignore"):
                (moves,) = derivative(moved, [to_balls(each) for each in at], along)
                rate = float(to_floats(np.asarray(np.sum(to_balls(record.dy) * moves), dtype=object)))
        except (ArithmeticError, ValueError, IndexError, TypeError, AttributeError):
            return False
        reach, total = 0.0, 0.0
        for found, exact, allowed, v in zip(record.found, record.exact, record.allowed, along, strict=True):
            total += float((found * v).sum())
            reach += float((grown(found, exact.high, allowed, form) * np.abs(v)).sum())
        loosened = reach if record.generic else reach / min(1.0, NEARNESS * form.unit**0.5)
        if not abs(total - rate) <= loosened:
            return False
    return True

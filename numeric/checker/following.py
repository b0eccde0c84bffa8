"""Are wrong gradients those of the wrong formula that the output follows? Then there is one mistake, else there are two."""

from collections.abc import Sequence
from dataclasses import replace

from .contract import Contract
from .formats import Format
from .mistake import Formula, Known, Mistake, Variant
from .naming import of_formula, sampled
from .record import Record
from .report import Finding
from .reverse import gradients_of
from .verdict import Verdict


def as_the_output(finding: Finding, wrong: Mistake, apart: str = "") -> Finding:
    """The finding of gradients that follow; `apart` is where they are off by more than rounding."""
    verdict = Verdict.VARIANT if isinstance(wrong, Variant) and not apart else Verdict.FAIL
    says = f"as the output: they are the gradients of {wrong.id}{beyond(wrong, apart)}.\n"
    return replace(finding, verdict=verdict, message=says + finding.message, mistake=wrong.id)


def beyond(known: Known, apart: str) -> str:
    return f", but not within rounding.\nFrom {known.id} it is furthest at {apart}" if apart else ""


def follow(contract: Contract, formula: Formula, records: Sequence[Record], form: Format) -> bool:
    """Does the gradient of the formula explain what was found, at every probe that was sampled?"""
    return of_formula(contract, gradients_of(contract, formula), sampled(records), form) is not None

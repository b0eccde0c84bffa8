"""What is told of values or gradients that fail: the mistake by its name, or else what was fitted and where it differs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from .accuracy import with_accuracy
from .bench import Workbench
from .coarser import coarser
from .conforming import departure
from .contract import Contract
from .enclosure import Exact
from .fitting import explanations
from .following import as_the_output, beyond, follow
from .locating import located
from .mistake import Instability, Known, Mistake, Of, Variant
from .naming import matches
from .record import Record
from .report import ALSO, UNSTABLE, Finding
from .verdict import Verdict

FITS_TOLD = 2


def explained(
    finding: Finding,
    bench: Workbench,
    of: Of,
    records: Sequence[Record],
    accepted: Collection[str] = (),
    output: Finding | None = None,
    outputs: Sequence[Record] = (),
) -> Finding:
    """The finding with the reason in front of its message; to one that passes, what there is to say of its accuracy.

    Gradients are told apart by what the output was found to be. Of variants that do equally well, one is named that was accepted.
    """
    contract, form = bench.contract, bench.format
    known = next((each for each in contract.mistakes if output and each.id == output.mistake), None)
    wrong = known if isinstance(known, Mistake) else None
    if finding.verdict == Verdict.PASS:
        return with_accuracy(finding, contract, of, records, form, wrong)
    if finding.verdict != Verdict.FAIL:
        return finding
    for each in [wrong] if wrong else _as_well(bench, accepted, output, outputs):
        if follow(contract, each.formula, records, form):
            apart = departure(bench, each, records) if isinstance(each, Variant) else ""
            return as_the_output(finding, each, apart)
    if found := matches(contract, of, records, form):
        return _named(finding, bench, [match.known for match in found], records, accepted)
    fitted = islice(explanations(contract, of, records, form), FITS_TOLD)
    told = [*fitted, coarser(contract, of, records, form), where(contract, records)]
    reasons = "; ".join(each for each in told if each)
    besides = f", and not the gradients of {wrong.id} either" if wrong else ""
    return replace(finding, message=f"no known mistake{besides}.\n{_sentence(reasons)}{finding.message}")


def _as_well(
    bench: Workbench, accepted: Collection[str], output: Finding | None, records: Sequence[Record]
) -> Iterator[Mistake]:
    """The accepted variants that an output is which passes: in 16 bits they may differ from the right one by less than rounding."""
    for each in bench.contract.mistakes if output and output.verdict == Verdict.PASS else ():
        if each.id in accepted and isinstance(each, Variant) and each.of == "values":
            if not departure(bench, each, records):
                yield each


def _named(
    finding: Finding, bench: Workbench, found: Sequence[Known], records: Sequence[Record], accepted: Collection[str]
) -> Finding:
    """As a variant, where what was found is one as surely as it would pass; else as what is nearest."""
    variants = sorted((each for each in found if isinstance(each, Variant)), key=lambda each: each.id not in accepted)
    apart = {each.id: departure(bench, each, records) for each in variants}
    first = next((each for each in variants if not apart[each.id]), found[0])
    others = [each.id for each in found if each is not first]
    says = _told(first, records, apart.get(first.id, ""))
    if others:
        says += f". The same here: {', '.join(others)}"
    return replace(
        finding,
        verdict=Verdict.VARIANT if apart.get(first.id) == "" else Verdict.FAIL,
        message=f"{_sentence(says)}{finding.message}",
        theorem=first.theorem,
        mistake=first.id,
        evidence={
            **finding.evidence,
            ALSO: others,
            **({UNSTABLE: True} if isinstance(first, Instability) else {}),
        },
    )


def _told(known: Known, records: Sequence[Record], apart: str) -> str:
    if isinstance(known, Instability):
        probes = [record.probe for record in records if record.failed]
        more = f" and {len(probes) - 1} more" if len(probes) > 1 else ""
        return f"{known.id}: right formula, unstable at '{probes[0]}'{more}: it {known.says}"
    if isinstance(known, Variant) and not apart:
        return f"{known.id}: an accepted convention, not the one asked for: it {known.says}.\n{known.converter}"
    return f"{known.id}: it {known.says}{beyond(known, apart)}"


def where(contract: Contract, records: Sequence[Record]) -> str:
    """Which gradients, and which of their entries, at the smallest probe that failed."""
    every = [each for each in records if each.failed]
    if not every:
        return ""
    failed = min(every, key=lambda each: each.entries)
    names = ["the output"] if failed.dy is None else [f"d{each.name}" for each in contract.inputs if each.floating]
    bad = [(name, mask) for name, mask in zip(names, _masks(failed), strict=True) if mask.any()]
    ever = [any(mask.any() for mask in of_name) for of_name in zip(*map(_masks, every), strict=True)]
    wrong = [name for name, any_wrong in zip(names, ever, strict=True) if any_wrong]
    only = f"wrong in {', '.join(wrong)} only" if len(wrong) < len(names) else ""
    place = next((f"{name}: {phrase}" for name, mask in bad if (phrase := located(mask))), "")
    return "; ".join(each for each in (only, place) if each)


def _masks(record: Record) -> list[np.ndarray]:
    return [_wrong(*arrays) for arrays in zip(record.found, record.exact, record.allowed, strict=True)]


def _wrong(found: np.ndarray, exact: Exact, allowed: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray(~(np.abs(found - exact.high) <= allowed))


def _sentence(text: str) -> str:
    return f"{text.rstrip('. ')}.\n" if text else ""

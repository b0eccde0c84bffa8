"""From what was measured to a finding: the verdict, and the sentence that says why."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .comparison import Tally
from .contract import Property, Residual
from .failing import failing_where
from .record import Record
from .report import Finding
from .rounding import SLACK
from .verdict import Verdict


def finding_of_calls(calls: int, broken: Sequence[tuple[str, str]], late: str | None) -> Finding:
    """Did every call return something to judge? `broken` holds (probe, message)."""
    if late:
        return Finding("calls", Verdict.ERROR, late)
    if not broken:
        return Finding("calls", Verdict.PASS, f"{calls} calls: shapes and dtypes right, inputs unchanged")
    [(message, count), *others] = Counter(message for _, message in broken).most_common()
    where = next(probe for probe, each in broken if each == message)
    more = "".join(f"; also: {other}" for other, _ in others[:2])
    evidence = {"calls": calls, "broken": [{"probe": probe, "message": each} for probe, each in broken]}
    text = f"{message} ({count} of {calls} calls, first at '{where}'){more}"
    return Finding("calls", Verdict.ERROR, text, None, evidence)


def finding_of_tally(
    check: str, tally: Tally, theorem: str | None, unenclosed: Sequence[str], records: Sequence[Record] = ()
) -> Finding:
    """Of values or gradients. What no reference was found for, or what anything would have passed, decides nothing."""
    verdict, message = Verdict.INCONCLUSIVE, f"no exact reference at {listed(unenclosed)}"
    if tally.failed:
        nan = f"; NaN at {listed(tally.not_a_number)}" if tally.not_a_number else ""
        where = failing_where(records) or ("" if len(tally.failed) == tally.probes else f"as {listed(tally.failed)}")
        count = f"{len(tally.failed)} of {tally.probes} probes fail{', ' if where else ''}{where}{nan}."
        verdict, message = Verdict.FAIL, f"{count}\nWorst: {tally.worst}."
    elif not unenclosed and tally.survivors:
        impostors = " and ".join(sorted(tally.survivors))
        message = f"these probes cannot decide: {impostors} would have passed; add a probe of generic numbers"
    elif not unenclosed and tally.worst:
        verdict, message = Verdict.PASS, _within_rounding(tally, tally.worst.ratio)
    message += "".join(f"\nNot judged: {what}, at {listed(probes)}" for what, probes in tally.notes.items())
    return Finding(check, verdict, message, theorem, tally.evidence())


def _within_rounding(tally: Tally, largest: float) -> str:
    text = f"within rounding at {tally.probes} probes, {tally.entries} entries; largest error {largest:.2g} allowances"
    if tally.typical_ratio > 1:
        text += f"; {tally.typical_ratio:.2g} times the typical bound, still within the worst case"
    if tally.unbounded:
        text += f"; {tally.unbounded} entries have no bound and decide nothing"
    return text


def finding_of_property(one: Property, residuals: Sequence[Residual]) -> Finding:
    """What should vanish, at several draws, in units of how far rounding can keep it from doing so."""
    largest, place = 0.0, ""
    for residual, allowed in residuals:
        with np.errstate(all="ignore"):
            ratio = np.where(residual == 0, 0.0, np.abs(residual) / allowed)
        ratio = np.where(np.isfinite(residual), ratio, np.inf)
        index = np.unravel_index(int(ratio.argmax()), ratio.shape)
        if ratio[index] > largest:
            largest = float(ratio[index])
            where = tuple(int(i) for i in index)
            place = f"index {where}, off by {residual[index]:.3g}, allowance {allowed[index]:.3g}, ratio {largest:.3g}"
    verdict, message = Verdict.PASS, f"off by {largest:.2g} allowances"
    if largest > SLACK:
        verdict, message = Verdict.FAIL, f"{one.broken}: {place}"
    return Finding(one.name, verdict, message, one.theorem, {"ratio": largest})


def finding_of_repetition(differences: Sequence[float], on_purpose: bool = False) -> Finding:
    """Of two calls with the same inputs. Each may be off by an allowance, and in opposite directions, so 2 is the limit.

    Beyond it no value can be judged, unless the contract has options at which it is random `on_purpose`: then it is wrong here.
    """
    largest = max(differences)
    verdict, message = Verdict.PASS, f"equal bit for bit, {len(differences)} times"
    if largest > 0:
        message = f"two calls differ, but within rounding: by {largest:.2g} allowances, where 2 would be possible"
    if largest > 2 * SLACK:
        differ = f"two calls with the same inputs differ by {largest:.3g} allowances"
        verdict, message = Verdict.INCONCLUSIVE, f"random, not wrong: {differ}; fix its seed, or switch off dropout"
        if on_purpose:
            verdict, message = Verdict.FAIL, f"{differ}, at options where nothing is random"
    return Finding("two calls equal", verdict, message, None, {"ratio": largest})


def listed(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")

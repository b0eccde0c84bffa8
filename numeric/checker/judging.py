"""The run itself: calls, comparisons and properties, and the findings that come of them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from .bench import Workbench
from .comparison import Tally
from .contract import Probe, Property, Residual
from .enclosure import NoEnclosure
from .plan import Plan
from .report import Finding
from .rounding import SLACK
from .verdict import NOT_RUN, Verdict
from .watch import BrokenCall, OutOfTime

PROPERTY_DRAWS = 2


class Judging:
    """Collects, in any order, what happened; `findings` then tells it."""

    def __init__(self, bench: Workbench, seed: int) -> None:
        self._bench, self._seed = bench, seed
        self._values, self._gradients = Tally(), Tally()
        self._broken: list[tuple[str, str]] = []  # (probe, message)
        self._calls = 0
        self._unenclosed: list[str] = []
        self._properties: dict[str, Finding] = {}
        self._repeated: Finding | None = None
        self._stopped: str | None = None

    def broke(self, probe: str, error: BrokenCall) -> None:
        self._broken.append((probe, str(error)))

    def stop(self, why: str) -> None:
        self._stopped = why

    def run(self, plan: Plan) -> None:
        """Raises OutOfTime, after which nothing more can be asked."""
        self._repeat(plan)
        if self._stopped:
            return
        for number, probe in enumerate(plan.probes):
            self._guarded(probe.name, lambda probe=probe: self._bench.judge_values(probe, self._values))
            if self._gradients_at(probe):
                dy = self._cotangent(probe, number)
                self._guarded(
                    probe.name, lambda probe=probe, dy=dy: self._bench.judge_gradients(probe, dy, self._gradients)
                )
        for one in plan.properties:
            if self._bench.subject.has_gradients or not one.of_gradient:
                self._measure(one)

    def _guarded(self, name: str, judge: Any) -> bool:
        self._calls += 1
        try:
            judge()
            return True
        except OutOfTime:
            raise
        except BrokenCall as broken:
            self.broke(name, broken)
        except NoEnclosure:
            self._unenclosed.append(name)
        return False

    def _gradients_at(self, probe: Probe) -> bool:
        subject, contract = self._bench.subject, self._bench.contract
        usual = all(
            subject.takes(name, backward=True) or value == self._bench.options[name]
            for name, value in probe.options.items()
        )
        return contract.differentiable and subject.has_gradients and usual

    def _cotangent(self, probe: Probe, number: int) -> np.ndarray:
        rng = np.random.default_rng([self._seed, 1_000, number])
        return self._bench.rounded(rng.standard_normal(self._bench.shape_of(probe)))

    # Two calls

    def _repeat(self, plan: Plan) -> None:
        """Asks twice at the first probe and at the largest: what changes from call to call by more than rounding is not judged."""
        if not plan.probes:
            return
        largest = max(plan.probes, key=lambda probe: sum(np.size(each) for each in probe.inputs))
        differences = []
        for number, probe in enumerate((plan.probes[0], largest)):
            try:
                differences += list(
                    self._bench.differences(probe, self._cotangent(probe, number), self._gradients_at(probe))
                )
            except OutOfTime:
                raise
            except BrokenCall:
                return  # the same call is made, and told of, again
        largest_ratio = max(differences)
        if largest_ratio == 0:
            self._repeated = Finding("two calls equal", Verdict.PASS, f"equal bit for bit, {len(differences)} times")
        elif largest_ratio <= 2:
            message = (
                f"two calls differ, but within rounding: by {largest_ratio:.2g} allowances, where 2 would be possible"
            )
            self._repeated = Finding("two calls equal", Verdict.PASS, message, None, {"ratio": largest_ratio})
        else:
            message = f"two calls with the same inputs differ by {largest_ratio:.3g} allowances; fix its seed, or switch off dropout"
            self._repeated = Finding("two calls equal", Verdict.INCONCLUSIVE, message, None, {"ratio": largest_ratio})
            self.stop("its calls differ from each other, so that one of them decides nothing")

    # Properties

    def _measure(self, one: Property) -> None:
        largest = 0.0
        place = ""
        for draw in range(PROPERTY_DRAWS):
            measured: list[Residual] = []
            rng = np.random.default_rng([self._seed, 2_000, draw])
            if not self._guarded(one.name, lambda rng=rng, into=measured: into.append(one.measure(self._bench, rng))):
                self._properties[one.name] = Finding(one.name, NOT_RUN, "a call that it needs broke", one.theorem)
                return
            residual, allowed = (np.asarray(part) for part in measured[0])
            with np.errstate(all="ignore"):
                ratio = np.where(np.isnan(residual), np.inf, np.where(residual == 0, 0.0, np.abs(residual) / allowed))
            index = np.unravel_index(int(ratio.argmax()), ratio.shape)
            if ratio[index] > largest:
                largest = float(ratio[index])
                place = f"index {tuple(map(int, index))}, off by {residual[index]:.3g}, allowance {allowed[index]:.3g}"
        evidence = {"ratio": largest}
        if largest > SLACK:
            self._properties[one.name] = Finding(
                one.name, Verdict.FAIL, f"{one.broken}: {place}, ratio {largest:.3g}", one.theorem, evidence
            )
        else:
            self._properties[one.name] = Finding(
                one.name, Verdict.PASS, f"off by {largest:.2g} allowances", one.theorem, evidence
            )

    # Findings

    def findings(self, plan: Plan) -> Iterator[Finding]:
        contract = self._bench.contract
        yield self._finding_of_calls()
        yield self._finding_of(self._values, "values", None, "no call gave values to judge")
        if contract.differentiable:
            why = "no call gave gradients to judge" if self._bench.subject.has_gradients else "no backward was given"
            yield self._finding_of(self._gradients, "gradients", contract.gradient_theorem, why)
        deselected = {each.check for each in plan.not_run}
        for one in contract.properties:
            if one.name not in deselected:
                why = (
                    "no backward was given"
                    if one.of_gradient and not self._bench.subject.has_gradients
                    else self._unfinished()
                )
                yield self._properties.get(one.name, Finding(one.name, NOT_RUN, why, one.theorem))
        yield self._repeated or Finding("two calls equal", NOT_RUN, "a call broke")
        yield from plan.not_run

    def _unfinished(self) -> str:
        return self._stopped or "the run did not get there"

    def _finding_of_calls(self) -> Finding:
        if self._stopped and self._repeated is None:
            return Finding("calls", Verdict.ERROR, self._stopped)
        if not self._broken:
            if not self._calls:
                return Finding("calls", NOT_RUN, self._unfinished())
            return Finding("calls", Verdict.PASS, f"{self._calls} calls: shapes and dtypes right, inputs unchanged")
        counted = Counter(message for _, message in self._broken)
        [(message, count), *others] = counted.most_common()
        where = next(probe for probe, each in self._broken if each == message)
        more = "".join(f"; also: {other}" for other, _ in others[:2])
        evidence = {"calls": self._calls, "broken": [{"probe": probe, "message": each} for probe, each in self._broken]}
        return Finding(
            "calls",
            Verdict.ERROR,
            f"{message} ({count} of {self._calls} calls, first at '{where}'){more}",
            None,
            evidence,
        )

    def _finding_of(self, tally: Tally, check: str, theorem: str | None, why_not: str) -> Finding:
        if tally.worst is None:
            if self._unenclosed:
                return Finding(
                    check, Verdict.INCONCLUSIVE, f"no exact reference at {_listed(self._unenclosed)}", theorem
                )
            return Finding(check, NOT_RUN, self._stopped or why_not, theorem)
        verdict, message = _told(tally)
        return Finding(check, verdict, message, theorem, tally.evidence())

    def power(self) -> dict[str, Any]:
        tallies = {"values": self._values, "gradients": self._gradients}
        return {name: tally.power() for name, tally in tallies.items() if tally.worst is not None}


def _told(tally: Tally) -> tuple[Verdict, str]:
    worst = tally.worst
    assert worst is not None
    if tally.failed:
        nan = f"; NaN at {_listed(tally.not_a_number)}" if tally.not_a_number else ""
        return (
            Verdict.FAIL,
            f"{len(tally.failed)} of {tally.probes} probes fail{nan}. Worst: {worst}. Failing: {_listed(tally.failed)}",
        )
    if tally.survivors:
        impostors = " and ".join(sorted(tally.survivors))
        return (
            Verdict.INCONCLUSIVE,
            f"these probes cannot decide: {impostors} would have passed; add a probe of generic numbers",
        )
    note = ""
    if tally.typical_ratio > 1:
        note = f"; {tally.typical_ratio:.2g} times the typical bound, still within the worst case"
    return (
        Verdict.PASS,
        f"within rounding at {tally.probes} probes, {tally.entries} entries; largest error {worst.ratio:.2g} allowances{note}",
    )


def _listed(names: list[str], most: int = 3) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")

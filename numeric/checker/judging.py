"""The run itself: calls, comparisons and properties, and the findings that come of them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .bench import Workbench
from .comparison import Tally
from .consequences import attributed
from .contract import Probe, Property, Residual
from .diagnosis import explained
from .draws import CALLS, Sample, finding_of_draws
from .enclosure import NoEnclosure
from .mistake import Of
from .picture import Picture
from .plan import Plan
from .record import Record
from .report import Finding
from .telling import finding_of_calls, finding_of_property, finding_of_repetition, finding_of_tally, listed
from .verdict import NOT_RUN, Verdict
from .watch import BrokenCall, OutOfTime

PROPERTY_DRAWS = 2
T = TypeVar("T")


class Judging:
    """Collects what happened; `findings` then tells it."""

    def __init__(self, bench: Workbench, seed: int, accepted: Collection[str] = ()) -> None:
        self._bench, self._seed, self._accepted = bench, seed, accepted
        self._values, self._gradients = Tally(), Tally()
        self._broken: list[tuple[str, str]] = []  # (probe, message)
        self._records: dict[Of, list[Record]] = {"values": [], "gradients": []}
        self._without_reference: dict[Of, list[str]] = {"values": [], "gradients": []}
        self._properties: dict[str, Finding] = {}
        self._samples: list[Sample] = []
        self._repeated: Finding | None = None
        self._late: str | None = None  # a call did not come back

    def out_of_time(self, error: OutOfTime) -> None:
        """A call did not come back, so nothing more was asked: an error, whatever else was found."""
        self._late = str(error)

    def run(self, plan: Plan) -> None:
        """Raises OutOfTime."""
        if plan.probes:
            self._repeat(plan)
        if self._random:
            return
        for number, probe in enumerate(plan.probes):
            self._judge(probe, "values", partial(self._bench.judge_values, probe, self._values))
            if self._gradients_at(probe):
                dy = self._cotangent(probe, number)
                self._judge(probe, "gradients", partial(self._bench.judge_gradients, probe, dy, self._gradients))
        for probe in plan.draws:
            sample = self._made(probe.name, partial(self._bench.sample, probe, CALLS))
            self._samples += [sample] if sample else []
        for one in plan.properties:
            if self._bench.subject.has_gradients or not one.of_gradient:
                self._measure(one)

    def _judge(self, probe: Probe, kind: Of, judge: Callable[[], Record]) -> None:
        try:
            record = self._made(probe.name, judge)
            self._records[kind] += [record] if record else []
        except NoEnclosure:
            self._without_reference[kind].append(probe.name)

    def _made(self, name: str, call: Callable[[], T]) -> T | None:
        """What the call returns, or None where the implementation broke, which is kept. Raises OutOfTime, NoEnclosure."""
        try:
            return call()
        except OutOfTime:
            raise
        except BrokenCall as broken:
            self._broken.append((name, str(broken)))
            return None

    def _gradients_at(self, probe: Probe) -> bool:
        """Can gradients be asked for with the probe's options?"""
        subject, usual = self._bench.subject, self._bench.options
        options = probe.options.items()
        return subject.has_gradients and all(
            subject.takes(name, True) or (not isinstance(value, np.ndarray) and value == usual[name])
            for name, value in options
        )

    def _cotangent(self, probe: Probe, number: int) -> np.ndarray:
        return self._bench.cotangent_of(probe, np.random.default_rng([self._seed, 1_000, number]))

    @property
    def _random(self) -> bool:
        return self._repeated is not None and self._repeated.verdict == Verdict.INCONCLUSIVE

    def _repeat(self, plan: Plan) -> None:
        """Asks twice at the first probe and at the largest: what changes from call to call by more than rounding is not judged,
        except where the contract itself is random, so that it is known what may change."""
        probes = [probe for probe in plan.probes if not self._bench.random(probe)]
        if not probes:
            self._repeated = Finding("two calls equal", NOT_RUN, "at these options the output is random on purpose")
            return
        largest = max(reversed(probes), key=lambda probe: sum(np.size(each) for each in probe.inputs))
        differences: list[float] = []
        for number, probe in enumerate((probes[0], largest) if largest is not probes[0] else probes[:1]):
            dy = self._cotangent(probe, number)
            try:
                differences += self._bench.differences(probe, dy, self._gradients_at(probe))
            except OutOfTime:
                raise
            except BrokenCall:
                return  # the same call is made, and told of, again
        self._repeated = finding_of_repetition(differences, on_purpose=len(probes) < len(plan.probes))

    def _measure(self, one: Property) -> None:
        residuals: list[Residual] = []
        for seed in self._property_seeds:
            with np.errstate(all="ignore"):  # what it returned may be infinite
                residual = self._made(one.name, partial(one.measure, self._bench, np.random.default_rng(seed)))
            if residual is None:
                self._properties[one.name] = Finding(one.name, NOT_RUN, "a call that it needs broke", one.theorem)
                return
            residuals.append(residual)
        self._properties[one.name] = finding_of_property(one, residuals)

    @property
    def _property_seeds(self) -> list[list[int]]:
        return [[self._seed, 2_000, draw] for draw in range(PROPERTY_DRAWS)]

    # What is told of it

    def findings(self, plan: Plan) -> Iterator[Finding]:
        contract, differentiates = self._bench.contract, self._bench.subject.has_gradients
        left = self._late or ("its calls differ, so that one of them decides nothing" if self._random else None)
        no_gradients = None if differentiates else "no backward was given"
        yield finding_of_calls(self._bench.subject.calls, self._broken, self._late)
        values, gradients = self._finding_of(self._values, "values", None, left), None
        yield values
        if contract.differentiable:
            theorem = contract.gradient_theorem
            gradients = self._finding_of(self._gradients, "gradients", theorem, no_gradients or left, values)
            yield gradients
        if contract.draws_at_random:
            why = left or ("a call that it needs broke" if plan.draws else "nothing is random at the probes asked for")
            found = finding_of_draws(contract, self._samples, self._bench.format) if self._samples else None
            yield found or Finding("draws", NOT_RUN, why)
        not_asked = {each.check: each for each in plan.not_run}
        for one in contract.properties:
            if one.name in not_asked:
                yield not_asked.pop(one.name)
                continue
            why = (no_gradients if one.of_gradient else None) or left or "not among the probes asked for"
            found = self._properties.get(one.name, Finding(one.name, NOT_RUN, why, one.theorem))
            yield attributed(found, one, values, gradients, self._bench, self._property_seeds)
        yield self._repeated or Finding("two calls equal", NOT_RUN, "a call broke")
        yield from not_asked.values()

    def _finding_of(
        self, tally: Tally, kind: Of, theorem: str | None, left: str | None, output: Finding | None = None
    ) -> Finding:
        missing = self._without_reference[kind]
        if tally.worst is None and not missing:
            return Finding(kind, NOT_RUN, left or f"no call gave {kind} to judge", theorem)
        finding = finding_of_tally(kind, tally, theorem, missing, self._records[kind])
        records = self._records
        told = explained(finding, self._bench, kind, records[kind], self._accepted, output, records["values"])
        if missing and told.verdict == Verdict.VARIANT:  # which accepting would make a pass, though not all is known
            why = f"{told.message}\nNot compared, since there is no exact reference: {listed(missing)}."
            return replace(told, verdict=Verdict.FAIL, message=why)
        return told

    def pictures(self) -> dict[str, Picture]:
        """Of values and gradients, as far as they were judged."""
        tallies = {"values": self._values, "gradients": self._gradients}
        return {name: tally.picture for name, tally in tallies.items() if tally.worst is not None}

    def power(self) -> dict[str, Any]:
        """What the run could have seen, for values and for gradients, as far as they were judged."""
        tallies = {"values": self._values, "gradients": self._gradients}
        return {name: tally.power() for name, tally in tallies.items() if tally.worst is not None}

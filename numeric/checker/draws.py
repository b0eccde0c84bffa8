"""What is random on purpose, judged by its law: means over many independent trials, each held to a bound on chance.

A mean of m independent numbers between 0 and 1 is further than t from its expectation with a probability of at most 2 exp(-2 m t^2)
(W. Hoeffding, J. Am. Stat. Assoc. 58, 1963, theorem 2). For a right implementation t is exceeded with probability CHANCE at most, and
a run asks for less than a hundred means. To t comes what a probability may be off by, where numbers between 0 and 1 are drawn in
steps of the dtype, which are as large as its unit u.

A mistake of "draws" has a formula (rng, *inputs, **options) -> what `Contract.draw` gives. It is named where every mean is nearer to
that of its own simulated draws than half of the way from there to the right one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .contract import Contract, Inputs, Options
from .formats import Format
from .mistake import Mistake
from .report import ALSO, Finding
from .statistic import Statistic
from .telling import listed
from .verdict import Verdict

CHANCE = 1e-9
CALLS = 2  # of an implementation at each probe
SIMULATED = 8  # outputs of a wrong law that are compared with what was found


@dataclass(frozen=True)
class Sample:
    """The outputs of several calls with the same inputs."""

    probe: str
    inputs: Inputs
    options: Options
    outputs: tuple[np.ndarray, ...]

    def statistics(self, contract: Contract, outputs: Sequence[np.ndarray] | None = None) -> tuple[Statistic, ...]:
        return contract.statistics(outputs or self.outputs, *self.inputs, **self.options)


def allowed(one: Statistic, form: Format) -> float:
    return math.sqrt(math.log(2 / CHANCE) / (2 * one.trials)) + one.slope * form.unit


def finding_of_draws(contract: Contract, samples: Sequence[Sample], form: Format) -> Finding:
    """Of all probes together. Of the means that are too far off the first one is told, the plainest."""
    every = [(sample.probe, one) for sample in samples for one in sample.statistics(contract)]
    ratios = [abs(one.found - one.expected) / allowed(one, form) for _, one in every]
    largest = float(max(ratios))
    evidence: dict[str, Any] = {
        "ratio": largest,
        "statistics": len(every),
        "chance_of_a_false_alarm": CHANCE * len(every),
    }
    failed = [each for each, ratio in zip(every, ratios, strict=True) if ratio > 1]
    if not failed:
        trials = sum(one.trials for _, one in every)
        message = f"{len(every)} means over {trials} trials within chance; furthest {largest:.2g} allowances"
        return Finding("draws", Verdict.PASS, message, every[0][1].theorem, evidence)
    (probe, first), theorem, name = failed[0], failed[0][1].theorem, None
    message = f"{_told(probe, first, form)}.\nFailing: {listed(list(dict.fromkeys(probe for probe, _ in failed)))}."
    known = _explaining(contract, samples, form)
    if known:
        message, theorem, name = f"{known[0].id}: it {known[0].says}.\n{message}", known[0].theorem, known[0].id
    evidence[ALSO] = [each.id for each in known[1:]]
    return Finding("draws", Verdict.FAIL, message, theorem, evidence, name)


def _told(probe: str, one: Statistic, form: Format) -> str:
    return (
        f"{one.name}, probe '{probe}': found {one.found:.4g}, expected {one.expected:.4g}, where chance allows "
        f"{allowed(one, form):.2g} (probability {CHANCE:g})"
    )


def _explaining(contract: Contract, samples: Sequence[Sample], form: Format) -> list[Mistake]:
    """The nearest first."""
    near = []
    for known in contract.mistakes:
        if isinstance(known, Mistake) and known.of == "draws":
            distance = max(_distance(contract, known, sample, form) for sample in samples)
            if distance < 0.5:
                near.append((distance, known))
    return [known for _, known in sorted(near, key=lambda pair: pair[0])]


def _distance(contract: Contract, known: Mistake, sample: Sample, form: Format) -> float:
    """How far what was found is from what the mistake gives, in units of how far that is from what is right; 0 where both agree and
    so does what was found."""
    rng = np.random.default_rng(0)
    simulated = [_simulated(contract, known, sample, rng) for _ in range(SIMULATED)]
    pairs = [sample.statistics(contract, pair) for pair in zip(simulated[::2], simulated[1::2], strict=True)]
    means = np.array([[one.found for one in each] for each in pairs]).mean(0)
    found = sample.statistics(contract)
    off = max(abs(one.found - mean) for one, mean in zip(found, means, strict=True))
    apart = max(abs(one.expected - mean) for one, mean in zip(found, means, strict=True))
    reach = max(allowed(one, form) for one in found)
    if apart <= reach:
        return 0.0 if off <= 2 * reach else math.inf
    return off / apart


def _simulated(contract: Contract, known: Mistake, sample: Sample, rng: Any) -> np.ndarray:
    return contract.layer(*sample.inputs, **sample.options, **known.formula(rng, *sample.inputs, **sample.options))[0]

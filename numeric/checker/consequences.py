"""A property that the named variant breaks by itself is no second fault of an implementation of it."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..arithmetic import precision, to_balls, to_floats
from .bench import Workbench
from .contract import Property
from .enclosure import FIRST_BITS
from .mistake import Formula, Variant
from .report import Finding
from .rounding import SLACK, allowance
from .verdict import Verdict


class FormulaBench:
    """A `Bench` on which a formula stands in the place of the implementation; for values only."""

    def __init__(self, bench: Workbench, formula: Formula) -> None:
        self._bench, self._formula = bench, formula
        self.format, self.options = bench.format, bench.options

    def rounded(self, values: np.ndarray) -> np.ndarray:
        return self._bench.rounded(values)

    def output(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        settings = {**self.options, **options}
        settings |= self._bench.contract.draw(np.random.default_rng(0), *inputs, **settings)
        with precision(FIRST_BITS), np.errstate(all="ignore"):
            found = self._formula(*self._bench.contract.in_balls(inputs), **settings)
            values = to_floats(to_balls(found))
        return self.rounded(values), allowance(self._bench.bound(inputs, settings))

    def gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        raise NotImplementedError


def attributed(
    finding: Finding,
    one: Property,
    values: Finding,
    gradients: Finding | None,
    bench: Workbench,
    seeds: list[list[int]],
) -> Finding:
    """The finding of a property that fails, as that of the variant found in output or gradients, if it breaks it too.

    Where the gradients are those of the variant at every probe, so are what a property of gradients says of them.
    """
    of = gradients if one.of_gradient else values
    if finding.verdict != Verdict.FAIL or of is None or of.verdict != Verdict.VARIANT:
        return finding
    [variant] = [each for each in bench.contract.mistakes if each.id == of.mistake]
    assert isinstance(variant, Variant)
    if not one.of_gradient and not any(breaks(variant.formula, one, bench, seed) for seed in seeds):
        return finding
    says = f"{variant.id} has it so: {finding.message}"
    return replace(finding, verdict=Verdict.VARIANT, message=says, mistake=variant.id)


def breaks(formula: Formula, one: Property, bench: Workbench, seed: list[int]) -> bool:
    """Does the formula fail the property, as it would be measured with this seed?"""
    try:
        residual, allowed = one.measure(FormulaBench(bench, formula), np.random.default_rng(seed))
    except (ArithmeticError, ValueError, IndexError, TypeError, AttributeError):
        return False
    with np.errstate(all="ignore"):
        return bool((~(np.abs(residual) <= allowed * SLACK)).any())

"""A property that the named variant breaks by itself is no second fault of an implementation of it.

What should vanish must then be what is left of it in the variant, to within what rounding can do to both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arithmetic import precision, to_balls, to_floats
from .bench import Workbench
from .contract import Inputs, Options, Property
from .enclosure import FIRST_BITS
from .mistake import Formula, Variant
from .naming import rounding_of
from .report import Finding
from .reverse import gradients_of
from .rounding import SLACK, Rounded, allowance
from .verdict import Verdict
from .watch import BrokenCall

Numbers = tuple[np.ndarray, np.ndarray]


class Remembering:
    """The implementation's bench, which remembers what each of its outputs had drawn at random."""

    def __init__(self, bench: Workbench) -> None:
        self._bench, self.format, self.options = bench, bench.format, bench.options
        self.drawn: list[Options] = []

    def rounded(self, values: np.ndarray) -> np.ndarray:
        return self._bench.rounded(values)

    def output(self, *inputs: Any, **options: Any) -> Numbers:
        found, allowed = self._bench.output(*inputs, **options)
        self.drawn.append(self._bench.contract.drawn(found, (), *inputs, **{**self.options, **options}))
        return found, allowed

    def gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> list[Numbers]:
        return self._bench.gradients(dy, *inputs, **options)


class VariantBench:
    """A bench on which a variant stands in the place of the implementation, and draws what that one had drawn."""

    def __init__(self, bench: Workbench, variant: Variant, drawn: Iterator[Options]) -> None:
        self._bench, self._contract, self._variant, self._drawn = bench, bench.contract, variant, drawn
        self.format, self.options = bench.format, bench.options

    def rounded(self, values: np.ndarray) -> np.ndarray:
        return self._bench.rounded(values)

    def output(self, *inputs: Any, **options: Any) -> Numbers:
        settings = {**self.options, **options, **next(self._drawn)}
        formula = self._variant.formula if self._variant.of == "values" else self._right
        return self._beside(self._right, formula, inputs, settings, [self._bench.bound(inputs, settings)])[0]

    def gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> list[Numbers]:
        settings = {**self.options, **options}
        of_values = self._variant.of == "values"
        formula = gradients_of(self._contract, self._variant.formula) if of_values else self._variant.formula
        bounds = self._bench.gradient_bounds(dy, inputs, settings)
        return self._beside(self._right_gradients, formula, inputs, settings, bounds, to_balls(dy))

    def _right(self, *inputs: Any, **options: Any) -> np.ndarray:
        return self._contract.layer(*inputs, **options)[0]

    def _right_gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        _, pullback = self._contract.layer(*inputs, **options)
        return pullback(dy) if pullback else ()

    def _beside(
        self,
        right: Formula,
        formula: Formula,
        inputs: Inputs,
        settings: Options,
        bounds: Sequence[Rounded],
        *before: np.ndarray,
    ) -> list[Numbers]:
        """What the formula gives, rounded once, and how far from it rounding reaches, which is known of the right one."""
        with precision(FIRST_BITS), np.errstate(all="ignore"):
            truths, found = (
                [to_floats(to_balls(each)) for each in (result if isinstance(result, tuple) else (result,))]
                for result in (one(*before, *self._contract.in_balls(inputs), **settings) for one in (right, formula))
            )
        return [
            (self.rounded(each), rounding_of(each, truth, allowance(bound), self.format))
            for each, truth, bound in zip(found, truths, bounds, strict=True)
        ]


def attributed(
    finding: Finding,
    one: Property,
    values: Finding,
    gradients: Finding | None,
    bench: Workbench,
    seeds: list[list[int]],
) -> Finding:
    """The finding of a property that fails, as that of the variant found in output or gradients, if it breaks it in the same way."""
    of = gradients if one.of_gradient else values
    if finding.verdict != Verdict.FAIL or of is None or of.verdict != Verdict.VARIANT:
        return finding
    [variant] = [each for each in bench.contract.mistakes if each.id == of.mistake]
    assert isinstance(variant, Variant)
    if not all(_left_alike(variant, one, bench, seed) for seed in seeds):
        return finding
    says = f"{variant.id} has it so: {finding.message}"
    return replace(finding, verdict=Verdict.VARIANT, message=says, mistake=variant.id)


def _left_alike(variant: Variant, one: Property, bench: Workbench, seed: list[int]) -> bool:
    """Do implementation and variant leave the same of what should vanish? Both were rounded, hence twice the allowance."""
    remembering = Remembering(bench)
    try:
        with np.errstate(all="ignore"):
            found, _ = one.measure(remembering, np.random.default_rng(seed))
            beside = VariantBench(bench, variant, iter(remembering.drawn))
            left, allowed = one.measure(beside, np.random.default_rng(seed))
            return bool((np.abs(found - left) <= 2 * SLACK * allowed).all())
    except (ArithmeticError, ValueError, IndexError, TypeError, AttributeError, BrokenCall):
        return False

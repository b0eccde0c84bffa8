"""Where subject, reference and bound meet: every call of a run goes through here."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .adapters.numpy import DTYPES
from .comparison import Tally
from .contract import Contract, Inputs, Options, Probe
from .enclosure import References
from .formats import Format, Precision
from .memo import Memo, fingerprint
from .record import Record
from .rounding import Rounded, allowance
from .subject import Subject

REFERENCES = References()
BOUNDS = Memo(2**27)


class Workbench:
    """The run's `Bench`: properties see it with the default options, probes are judged by it with their own."""

    def __init__(
        self, contract: Contract, subject: Subject, precision: Precision, options: Options, dtype: Format
    ) -> None:
        self.contract, self.subject, self.precision, self.options, self.format = (
            contract,
            subject,
            precision,
            options,
            dtype,
        )

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Floats to the nearest numbers of the dtype, as float64; integers as they are."""
        array = np.asarray(values)
        return array.astype(DTYPES[self.format.name]).astype(np.float64) if array.dtype.kind == "f" else array

    def inputs_of(self, probe: Probe) -> Inputs:
        """The probe's inputs as the implementation will receive them."""
        pairs = zip(probe.inputs, self.contract.inputs, strict=True)
        return tuple(self.rounded(np.asarray(value, np.float64)) if each.floating else value for value, each in pairs)

    # For properties

    def output(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        bound = self.bound(inputs, self.options)
        return self.subject.output(inputs, self.options, "contiguous", bound.value.shape), allowance(bound)

    def gradients(self, dy: np.ndarray, *inputs: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        bounds = self.gradient_bounds(dy, inputs, self.options)
        found = self.subject.gradients(dy, inputs, self.options, "contiguous")
        return [(each, allowance(bound)) for each, bound in zip(found, bounds, strict=True)]

    # For probes

    def bound(self, inputs: Inputs, options: Options) -> Rounded:
        return self._bounds(
            "value", (), inputs, options, lambda: (self.contract.bound(self.precision, *inputs, **options),)
        )[0]

    def gradient_bounds(self, dy: np.ndarray, inputs: Inputs, options: Options) -> tuple[Rounded, ...]:
        return self._bounds(
            "gradients",
            (dy,),
            inputs,
            options,
            lambda: self.contract.gradient_bounds(self.precision, dy, *inputs, **options),
        )

    def _bounds(
        self, kind: str, more: Inputs, inputs: Inputs, options: Options, compute: Callable[[], tuple[Rounded, ...]]
    ) -> tuple[Rounded, ...]:
        key = (self.contract.name, kind, self.precision, fingerprint((*more, *inputs, *sorted(options.items()))))
        with np.errstate(all="ignore"):
            return BOUNDS.recall(
                key, compute, lambda bounds: sum(3 * each.value.nbytes for each in bounds), lambda bounds: True
            )

    def judge_values(self, probe: Probe, tally: Tally) -> Record:
        """Raises BrokenCall, NoEnclosure."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        bound = self.bound(inputs, options)
        found = self.subject.output(inputs, options, probe.layout, bound.value.shape)
        exact = REFERENCES.value(self.contract, inputs, options, allowance(bound))
        failed = not tally.add(probe.name, found, exact, bound, self.format)
        return Record(probe.name, inputs, options, None, (found,), (exact,), (allowance(bound),), failed)

    def judge_gradients(self, probe: Probe, dy: np.ndarray, tally: Tally) -> Record:
        """Raises BrokenCall, NoEnclosure."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        bounds = self.gradient_bounds(dy, inputs, options)
        found = self.subject.gradients(dy, inputs, options, probe.layout)
        names = [each.name for each in self.contract.inputs if each.floating]
        exact = REFERENCES.gradients(self.contract, dy, inputs, options, [allowance(bound) for bound in bounds])
        failed = False
        for name, one, truth, bound in zip(names, found, exact, bounds, strict=True):
            called = probe.name if len(names) == 1 else f"{probe.name}, d{name}"
            failed |= not tally.add(called, one, truth, bound, self.format)
        allowed = tuple(map(allowance, bounds))
        return Record(probe.name, inputs, options, dy, tuple(found), exact, allowed, failed)

    def differences(self, probe: Probe, dy: np.ndarray, gradients: bool) -> Iterator[float]:
        """How far two calls differ, in allowances: for the output, and for each gradient. Raises BrokenCall."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        bound = self.bound(inputs, options)
        first, second = (self.subject.output(inputs, options, probe.layout, bound.value.shape) for _ in range(2))
        yield _difference(first, second, bound)
        if gradients:
            calls = [self.subject.gradients(dy, inputs, options, probe.layout) for _ in range(2)]
            for one, other, bound in zip(*calls, self.gradient_bounds(dy, inputs, options), strict=True):
                yield _difference(one, other, bound)

    def shape_of(self, probe: Probe) -> tuple[int, ...]:
        options = {**self.options, **probe.options}
        return tuple(self.bound(self.inputs_of(probe), options).value.shape)


def _difference(first: np.ndarray, second: np.ndarray, bound: Rounded) -> float:
    with np.errstate(all="ignore"):
        ratio = np.abs(first - second) / allowance(bound)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    return float(np.where(equal, 0.0, np.where(np.isnan(ratio), np.inf, ratio)).max(initial=0.0))

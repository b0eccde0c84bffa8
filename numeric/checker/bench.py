"""Where subject, reference and bound meet: every call of a run goes through here."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .adapters.numpy import DTYPES
from .comparison import Tally
from .contract import Contract, Inputs, Options, Probe
from .draws import Sample
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

    def output(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        found, settings = self._output(inputs, {**self.options, **options}, "contiguous")
        return found, allowance(self.bound(inputs, settings))

    def gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        found, settings = self._gradients(dy, inputs, {**self.options, **options}, "contiguous")
        bounds = self.gradient_bounds(dy, inputs, settings)
        return [(each, allowance(bound)) for each, bound in zip(found, bounds, strict=True)]

    def _output(self, inputs: Inputs, options: Options, layout: str) -> tuple[np.ndarray, Options]:
        """What a call returned, and the options, with what was drawn at random among them. Raises BrokenCall."""
        found = self.subject.output(inputs, options, layout, self.bound(inputs, options).value.shape)
        return found, {**options, **self.contract.drawn(found, (), *inputs, **options)}

    def _gradients(
        self, dy: np.ndarray, inputs: Inputs, options: Options, layout: str
    ) -> tuple[list[np.ndarray], Options]:
        output, found = self.subject.gradients_with_output(dy, inputs, options, layout)
        return found, options if output is None else {
            **options,
            **self.contract.drawn(output, found, *inputs, **options),
        }

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

    def accurate_allowances(self, dy: np.ndarray | None, inputs: Inputs, options: Options) -> tuple[np.ndarray, ...]:
        """Of the output, or of the gradients where dy is given; none where the contract admits accurate formulas only."""

        def compute() -> tuple[Rounded, ...]:
            if dy is not None:
                return self.contract.accurate_gradient_bounds(self.precision, dy, *inputs, **options) or ()
            bound = self.contract.accurate_bound(self.precision, *inputs, **options)
            return () if bound is None else (bound,)

        kind, more = ("accurate value", ()) if dy is None else ("accurate gradients", (dy,))
        return tuple(map(allowance, self._bounds(kind, more, inputs, options, compute)))

    def judge_values(self, probe: Probe, tally: Tally) -> Record:
        """Raises BrokenCall, NoEnclosure."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        found, options = self._output(inputs, options, probe.layout)
        bound = self.bound(inputs, options)
        exact = REFERENCES.value(self.contract, inputs, options, allowance(bound))
        missing = self.contract.without_reference(*inputs, **options)[:1]
        if missing:
            tally.note(probe.name, self.contract.put_in_place_of_reference(found, *inputs, **options))
            found = np.where(missing[0], exact.high, found)
        failed = not tally.add(probe.name, found, exact, bound, self.format)
        accurate = self.accurate_allowances(None, inputs, options)
        return Record(
            probe.name, inputs, options, None, (found,), (exact,), (allowance(bound),), failed, accurate, missing
        )

    def judge_gradients(self, probe: Probe, dy: np.ndarray, tally: Tally) -> Record:
        """Raises BrokenCall, NoEnclosure."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        found, options = self._gradients(dy, inputs, options, probe.layout)
        bounds = self.gradient_bounds(dy, inputs, options)
        names = [each.name for each in self.contract.inputs if each.floating]
        exact = REFERENCES.gradients(self.contract, dy, inputs, options, [allowance(bound) for bound in bounds])
        missing = self.contract.without_reference(*inputs, **options)[1:]
        if missing:
            found = [np.where(*each) for each in zip(missing, (one.high for one in exact), found, strict=True)]
        failed = False
        for name, one, truth, bound in zip(names, found, exact, bounds, strict=True):
            called = probe.name if len(names) == 1 else f"{probe.name}, d{name}"
            failed |= not tally.add(called, one, truth, bound, self.format)
        allowed = tuple(map(allowance, bounds))
        accurate = self.accurate_allowances(dy, inputs, options)
        return Record(probe.name, inputs, options, dy, tuple(found), exact, allowed, failed, accurate, missing)

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

    def random(self, probe: Probe) -> bool:
        return self.contract.random(**{**self.options, **probe.options})

    def sample(self, probe: Probe, calls: int) -> Sample:
        """Raises BrokenCall."""
        inputs, options = self.inputs_of(probe), {**self.options, **probe.options}
        outputs = tuple(self._output(inputs, options, probe.layout)[0] for _ in range(calls))
        return Sample(probe.name, inputs, options, outputs)

    def cotangent_of(self, probe: Probe, rng: np.random.Generator) -> np.ndarray:
        """A random one, zero where the output has no reference."""
        dy = self.rounded(rng.standard_normal(self.shape_of(probe)))
        missing = self.contract.without_reference(*self.inputs_of(probe), **{**self.options, **probe.options})
        return np.where(missing[0], 0.0, dy) if missing else dy

    def shape_of(self, probe: Probe) -> tuple[int, ...]:
        options = {**self.options, **probe.options}
        return tuple(self.bound(self.inputs_of(probe), options).value.shape)


def _difference(first: np.ndarray, second: np.ndarray, bound: Rounded) -> float:
    with np.errstate(all="ignore"):
        ratio = np.abs(first - second) / allowance(bound)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    return float(np.where(equal, 0.0, np.where(np.isnan(ratio), np.inf, ratio)).max(initial=0.0))

"""Implementations that are exact but for an error in one entry, and the smallest such error that a judge sees."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numeric.arithmetic import precision, to_floats
from numeric.checker import Probe, check
from numeric.checker.adapters.numpy import DTYPES
from numeric.checker.contracts import contract_named
from numeric.checker.formats import format_named, precision_of
from numeric.checker.rounding import allowance

VALUES = "values"
BITS = 128
STEPS = 12  # of bisection, over 60 octaves: to 1.5 %


class Planted:
    """A contract at one generic probe with its default options, in a dtype.

    `forward` and `backward` round the exact results once. Arrays are counted: -1 is the output, 0, 1, ... the gradients.
    """

    def __init__(self, name: str, dtype: str, seed: int = 3) -> None:
        self.contract, self.dtype, self.target = contract_named(name), dtype, DTYPES[dtype]
        self.unit, self.model = format_named(dtype).unit, precision_of(dtype)
        default = {each.name: each.default for each in self.contract.options}
        drawn = self.contract.generic(np.random.default_rng(seed), format_named(dtype), default)[0]
        self.options = {**default, **drawn.options}
        self.inputs = self._held(drawn.inputs)
        self.probe = Probe("generic", self.inputs, self.options)

    @property
    def gradients(self) -> int:
        return sum(each.floating for each in self.contract.inputs)

    def _held(self, inputs: Any) -> tuple[Any, ...]:
        pairs = zip(inputs, self.contract.inputs, strict=True)
        return tuple(np.asarray(x).astype(self.target).astype(np.float64) if each.floating else x for x, each in pairs)

    def detected(self, array: int, error_of: Callable[[float, float], float]) -> bool:
        """Is an error in the largest entry of an array seen? It is `error_of` the entry and what is allowed there."""
        kind = VALUES if array < 0 else "gradients"

        def plant(right: np.ndarray, number: int, allowed: Callable[[], np.ndarray]) -> np.ndarray:
            wrong = np.array(right, np.float64)
            if number == array:
                place = np.unravel_index(int(np.abs(wrong).argmax()), wrong.shape)
                wrong[place] += error_of(float(wrong[place]), float(allowed()[place]))
            return np.asarray(wrong.astype(self.target))

        def forward(*arguments: Any, **options: Any) -> np.ndarray:
            inputs = self._held(self.contract.arrays(arguments))
            with precision(BITS):
                right = to_floats(self.contract.exact(*inputs, **self.options)[0])
            return plant(right, -1, lambda: allowance(self.contract.bound(self.model, *inputs, **self.options)))

        def backward(dy: Any, *arguments: Any, **options: Any) -> tuple[Any, ...]:
            inputs, dy = self._held(self.contract.arrays(arguments)), np.asarray(dy).astype(np.float64)
            with precision(BITS):
                pullback = self.contract.exact(*inputs, **self.options)[1]
                right = [to_floats(each) for each in pullback(dy)] if pullback else []
            bounds = lambda: self.contract.gradient_bounds(self.model, dy, *inputs, **self.options)  # noqa: E731
            planted = [plant(each, n, lambda n=n: allowance(bounds()[n])) for n, each in enumerate(right)]
            return self.contract.packed(planted)

        report = check(
            self.contract.name,
            forward,
            backward=backward if array >= 0 else None,
            adapter="numpy",
            dtype=self.dtype,
            probes=[self.probe],
        )
        return report.finding(kind).verdict == "fail"


def smallest(seen: Callable[[float], bool], lowest: float = 2.0**-60, highest: float = 1.0) -> float:
    """The smallest error that is seen, by bisection of its exponent; infinity where not even the highest one is."""
    if not seen(highest):
        return math.inf
    low, high = math.log2(lowest), math.log2(highest)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(2.0**middle) else (middle, high)
    return float(2.0**high)

"""How a function of a layer is called on exact numbers: in balls, or in float64 with a bound on its rounding.

Either way numbers go in and come out as balls that hold the true value. In float64 the midpoints are rounded, the layer computes on
those, and its output becomes the midpoint of a ball whose radius is a running error bound (numeric/checker/rounding.py): of
the rounded inputs carried on through the layer's documented formula, and of every operation in it. All that stands between two calls
is computed in balls, so the bound is the layer's alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import UndecidedComparison, largest_error, to_balls, to_floats
from ..checker.formats import precision_of
from ..checker.rounding import Rounded, allowance

FLOAT64 = precision_of("float64")


class LayerFailed(Exception):
    """A layer that raised instead of returning."""


class LayerFunction(NamedTuple):
    """A public function of a layer. `run` and `bound` take the same arrays: numbers of one arithmetic, or `Rounded`."""

    name: str
    run: Callable[..., np.ndarray]
    bound: Callable[..., Rounded]


class Arithmetic(ABC):
    """Calls layers, each once on the same numbers, and keeps the names of what it called.

    `step` is the step of difference quotients.
    """

    name: str
    step: arb

    def __init__(self) -> None:
        self.called: set[str] = set()
        self._answers: dict[Hashable, np.ndarray] = {}

    def call(self, function: LayerFunction, *inputs: np.ndarray, **settings: Any) -> np.ndarray:
        """Balls that hold the function's true value at the balls `inputs`. Raises LayerFailed, or UndecidedComparison."""
        self.called.add(function.name)
        key = (function.name, *sorted(settings.items()), *map(_spelled, inputs))
        if key not in self._answers:
            self._answers[key] = self._checked(function, inputs, settings)
        return self._answers[key]

    def _checked(self, function: LayerFunction, inputs: tuple[np.ndarray, ...], settings: dict[str, Any]) -> np.ndarray:
        try:
            found = self._enclosed(function, inputs, settings)
        except UndecidedComparison:
            raise
        except Exception as problem:
            raise LayerFailed(f"{function.name} raised {type(problem).__name__}: {problem}") from problem
        needed = _shape(function, tuple(x.shape for x in inputs), tuple(sorted(settings.items())))
        if found.shape != needed:
            raise LayerFailed(f"{function.name} gave an array of shape {found.shape}, needed {needed}")
        return found

    @abstractmethod
    def _enclosed(
        self, function: LayerFunction, inputs: tuple[np.ndarray, ...], settings: dict[str, Any]
    ) -> np.ndarray: ...


class Balls(Arithmetic):
    """The layer runs on the balls themselves, so that its output encloses the true value."""

    name = "balls"
    step = arb(2) ** -80

    def _enclosed(
        self, function: LayerFunction, inputs: tuple[np.ndarray, ...], settings: dict[str, Any]
    ) -> np.ndarray:
        return function.run(*inputs, **settings)


class Float64(Arithmetic):
    """The layer runs on float64 numbers; see the module."""

    name = "float64"
    step = arb(2) ** -19

    def _enclosed(
        self, function: LayerFunction, inputs: tuple[np.ndarray, ...], settings: dict[str, Any]
    ) -> np.ndarray:
        rounded = [_rounded(balls) for balls in inputs]
        with np.errstate(all="ignore"):  # what overflows or vanishes is what the bound is there to judge
            found = function.run(*(each.value for each in rounded), **settings)
            allowed = allowance(function.bound(*rounded, **settings))
        if found.shape != allowed.shape:
            return to_balls(found)  # which is refused
        return np.asarray(np.frompyfunc(arb, 2, 1)(to_balls(found), allowed), dtype=object)


@cache
def _shape(
    function: LayerFunction, shapes: tuple[tuple[int, ...], ...], settings: tuple[tuple[str, Any], ...]
) -> tuple[int, ...]:
    """The shape of the output, as the bound has it."""
    inputs = (Rounded.exact(np.ones(shape), FLOAT64) for shape in shapes)
    return function.bound(*inputs, **dict(settings)).value.shape


def _spelled(balls: np.ndarray) -> Hashable:
    """The same for the same balls."""
    parts = ((ball.mid(), ball.rad()) for ball in balls.flat)
    return tuple(part.man_exp() if part.is_finite() else str(part) for pair in parts for part in pair), balls.shape


def _rounded(balls: np.ndarray) -> Rounded:
    """The midpoints as float64, each with its distance from anything in its ball."""
    value = to_floats(balls)
    return Rounded(value, largest_error(value, balls), np.zeros_like(value), FLOAT64)

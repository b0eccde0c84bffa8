"""How a function of a layer is called on exact numbers: in balls, or in float64 with a bound on its rounding.

Either way numbers go in and come out as balls that hold the true value. In float64 the midpoints are rounded, the layer computes on
those, and its output becomes the midpoint of a ball whose radius is a running error bound (numeric/checker/rounding.py): of
the rounded inputs carried on through the layer's documented formula, and of every operation in it. All that stands between two calls
is computed in balls, so the bound is the layer's alone.

A derivative that no function of the layer gives is, in balls, a coefficient of the function run on power series, mixed ones by
polarisation, D^k F[v_1, .., v_k] = sum over signs of (product of signs) D^k F[v, .., v] / (2^k k!) with v = sum of sign_i v_i; and in
float64 a difference quotient of step h, whose remainder is enclosed over all of the segment by those series,

    F'(0) = (F(h) - F(-h)) / 2h  +- h^2/6 max |F'''|
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import UndecidedComparison, largest_error, to_balls, to_floats
from ..checker.formats import precision_of
from ..checker.rounding import Rounded, allowance
from ..derivatives import derivative

FLOAT64 = precision_of("float64")
STEP = arb(2) ** -19  # of difference quotients in float64

Arrays = tuple[np.ndarray, ...]
Direction = Sequence[np.ndarray | None]  # one for each input; along None it stays as it is


class LayerFailed(Exception):
    """A layer that raised instead of returning."""


class Unreadable(Exception):
    """A derivative that nothing gives here."""


class LayerFunction(NamedTuple):
    """A public function of a layer, of arrays to an array or several. `run` takes numbers of one arithmetic, `bound` `Rounded`."""

    name: str
    run: Callable[..., np.ndarray | Arrays]
    bound: Callable[..., Rounded | tuple[Rounded, ...]]


class Arithmetic(ABC):
    """Calls layers, each once on the same numbers, and keeps the names of what it called."""

    name: str

    def __init__(self) -> None:
        self.called: set[str] = set()
        self._answers: dict[Hashable, Arrays] = {}

    def call(self, function: LayerFunction, *inputs: np.ndarray, **settings: Any) -> np.ndarray:
        """The one array of `calls`."""
        (found,) = self.calls(function, *inputs, **settings)
        return found

    def calls(
        self, function: LayerFunction, *inputs: np.ndarray, along: Sequence[Direction] = (), **settings: Any
    ) -> Arrays:
        """Balls that hold the true values at the balls `inputs`: of the function, or of its derivative along directions.

        Raises LayerFailed, UndecidedComparison or Unreadable.
        """
        self.called.add(function.name)
        key = (function, *sorted(settings.items()), *map(_spelled, (*inputs, *(v for each in along for v in each))))
        if key not in self._answers:
            self._answers[key] = self._checked(function, inputs, along, settings)
        return self._answers[key]

    def exact(self, name: str, compute: Callable[[], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """What a function of whole numbers gives, the same in every arithmetic. Raises LayerFailed."""
        self.called.add(name)
        try:
            found = compute()
        except Exception as problem:
            raise LayerFailed(f"{name} raised {type(problem).__name__}: {problem}") from problem
        if found.shape != shape:
            raise LayerFailed(f"{name} gave {_arrays_of((found.shape,))}, needed {shape}")
        return found

    def _checked(
        self, function: LayerFunction, inputs: Arrays, along: Sequence[Direction], settings: dict[str, Any]
    ) -> Arrays:
        try:
            derived = self._derivative(function, inputs, along, settings) if along else None
            found = self._enclosed(function, inputs, settings) if derived is None else derived
        except (UndecidedComparison, Unreadable):
            raise
        except Exception as problem:
            raise LayerFailed(f"{function.name} raised {type(problem).__name__}: {problem}") from problem
        needed = _shapes(function, tuple(x.shape for x in inputs), tuple(sorted(settings.items())))
        shapes = tuple(each.shape for each in found)
        if shapes != needed:
            raise LayerFailed(f"{function.name} gave {_arrays_of(shapes)}, needed {_told(needed)}")
        return found

    @abstractmethod
    def _enclosed(self, function: LayerFunction, inputs: Arrays, settings: dict[str, Any]) -> Arrays: ...

    @abstractmethod
    def _derivative(
        self, function: LayerFunction, inputs: Arrays, along: Sequence[Direction], settings: dict[str, Any]
    ) -> Arrays: ...


class Balls(Arithmetic):
    """The layer runs on the balls themselves, so that its output encloses the true value."""

    name = "balls"

    def _enclosed(self, function: LayerFunction, inputs: Arrays, settings: dict[str, Any]) -> Arrays:
        return in_tuple(function.run(*inputs, **settings))

    def _derivative(
        self, function: LayerFunction, inputs: Arrays, along: Sequence[Direction], settings: dict[str, Any]
    ) -> Arrays:
        parts = []
        for signs in product((1, -1), repeat=len(along) - 1):  # turning all signs changes nothing
            mixed = [_combined((1, *signs), vectors) for vectors in zip(*along, strict=True)]
            found = _by_series(function, inputs, mixed, settings, len(along))
            parts.append([math.prod(signs) * each for each in found])
        scale = 2 ** (len(along) - 1) * math.factorial(len(along))
        return tuple(np.asarray(sum(each) / scale, dtype=object) for each in zip(*parts, strict=True))


class Float64(Arithmetic):
    """The layer runs on float64 numbers; see the module."""

    name = "float64"

    def _enclosed(self, function: LayerFunction, inputs: Arrays, settings: dict[str, Any]) -> Arrays:
        rounded = [_rounded(balls) for balls in inputs]
        with np.errstate(all="ignore"):  # what overflows or vanishes is what the bound is there to judge
            found = in_tuple(function.run(*(each.value for each in rounded), **settings))
            allowed = [allowance(each) for each in in_tuple(function.bound(*rounded, **settings))]
        if [each.shape for each in found] != [each.shape for each in allowed]:
            return tuple(map(to_balls, found))  # which is refused
        return tuple(
            np.asarray(np.frompyfunc(arb, 2, 1)(to_balls(y), radii), dtype=object)
            for y, radii in zip(found, allowed, strict=True)
        )

    def _derivative(
        self, function: LayerFunction, inputs: Arrays, along: Sequence[Direction], settings: dict[str, Any]
    ) -> Arrays:
        if len(along) > 1:
            raise Unreadable(
                f"a difference quotient of a difference quotient of {function.name} tells nothing in float64"
            )
        moved = [
            [x if v is None else np.asarray(x + h * v, dtype=object) for x, v in zip(inputs, along[0], strict=True)]
            for h in (STEP, -STEP, arb(0, STEP))
        ]
        ahead, behind = (self.calls(function, *each, **settings) for each in moved[:2])
        third = _by_series(function, tuple(moved[2]), along[0], settings, 3)
        return tuple(
            np.asarray((a - b) / (2 * STEP) + _either_sign(STEP**2 / 6 * bend), dtype=object)
            for a, b, bend in zip(ahead, behind, third, strict=True)
        )


def _by_series(
    function: LayerFunction, inputs: Arrays, along: Direction, settings: dict[str, Any], times: int
) -> Arrays:
    """d^times/dt^times of the function at inputs + t along, at t = 0."""
    moving = [k for k, v in enumerate(along) if v is not None]

    def run(*moved: np.ndarray) -> Any:
        whole = list(inputs)
        for k, jets in zip(moving, moved, strict=True):
            whole[k] = jets
        return function.run(*whole, **settings)

    return derivative(run, [inputs[k] for k in moving], [along[k] for k in moving], times)  # type: ignore[misc]


def _combined(signs: Sequence[int], vectors: Sequence[np.ndarray | None]) -> np.ndarray | None:
    terms = [sign * v for sign, v in zip(signs, vectors, strict=True) if v is not None]
    return np.asarray(sum(terms), dtype=object) if terms else None


def _either_sign(balls: np.ndarray) -> np.ndarray:
    """0 +- what each may be."""
    return np.asarray(np.frompyfunc(lambda ball: arb(0, abs(ball).upper()), 1, 1)(balls), dtype=object)


def in_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


@cache
def _shapes(
    function: LayerFunction, shapes: tuple[tuple[int, ...], ...], settings: tuple[tuple[str, Any], ...]
) -> tuple[tuple[int, ...], ...]:
    """The shapes of the outputs, as the bound has them."""
    inputs = (Rounded.exact(np.ones(shape), FLOAT64) for shape in shapes)
    with np.errstate(all="ignore"):
        return tuple(each.value.shape for each in in_tuple(function.bound(*inputs, **dict(settings))))


def _arrays_of(shapes: tuple[tuple[int, ...], ...]) -> str:
    return f"an array of shape {shapes[0]}" if len(shapes) == 1 else f"arrays of shapes {_told(shapes)}"


def _told(shapes: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join(map(str, shapes))


def _spelled(balls: np.ndarray | None) -> Hashable:
    """The same for the same balls."""
    if balls is None:
        return None
    parts = ((ball.mid(), ball.rad()) for ball in balls.flat)
    return tuple(part.man_exp() if part.is_finite() else str(part) for pair in parts for part in pair), balls.shape


def _rounded(balls: np.ndarray) -> Rounded:
    """The midpoints as float64, each with its distance from anything in its ball."""
    value = to_floats(balls)
    return Rounded(value, largest_error(value, balls), np.zeros_like(value), FLOAT64)

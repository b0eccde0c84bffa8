"""A case: a layer with its options, and the sizes of the arrays that it is differentiated by; and the point to do
it at."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import to_balls

Shape = tuple[int, ...]
INPUTS, DIRECTIONS = 2**10, 2**20  # the grids: multiples of 1/2^10, and of 1/2^20


@dataclass(frozen=True)
class Case:
    """`forward` takes the arrays in the order of `shapes`, `backward` gives their gradients in that order.

    Both look their layer up when they are called, and take floats, balls and jets alike. `entries`: whether the whole
    gradient is compared entry by entry, or along one random direction for each array.
    """

    layer: str
    variant: str
    shapes: dict[str, Shape]
    forward: Callable[..., tuple[np.ndarray, Any]]
    backward: Callable[[np.ndarray, Any], Any]
    entries: bool = True
    scale: float = 1.0  # of the inputs

    @property
    def name(self) -> str:
        return f"{self.layer}.{self.variant}"

    @property
    def count(self) -> int:
        """How many numbers it is differentiated by."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def gradients(self, cotangent: np.ndarray, cache: Any) -> list[np.ndarray]:
        """What backward gives, as one flat list. Raises ValueError unless the shapes are those of the inputs."""
        found = list(_arrays(self.backward(cotangent, cache)))
        shapes = [each.shape for each in found]
        if shapes != list(self.shapes.values()):
            raise ValueError(f"{self.name}: backward gives shapes {shapes}, needed {list(self.shapes.values())}")
        return found


class Point(NamedTuple):
    """Where a case is looked at: the inputs x, a direction v for each, a cotangent of the output. All float64."""

    inputs: list[np.ndarray]
    along: list[np.ndarray]
    cotangent: np.ndarray


def point_of(case: Case, seed: int = 0) -> Point:
    """Normal inputs on a coarse grid, dense directions on a fine one: x + h v is exact for h = 2^-30 and above."""
    rng = np.random.default_rng(seed)
    inputs = [_on_grid((case.scale * rng.normal(size=shape)).clip(-4, 4), INPUTS) for shape in case.shapes.values()]
    along = [_on_grid(rng.uniform(-1, 1, shape), DIRECTIONS) for shape in case.shapes.values()]
    shape = case.forward(*inputs)[0].shape
    return Point(inputs, along, _on_grid(rng.uniform(-1, 1, shape), DIRECTIONS))


def inner(left: Iterable[np.ndarray], right: Iterable[np.ndarray]) -> Any:
    """<left, right> over all arrays, as a ball; floats count as what they are exactly."""
    pairs = zip(left, right, strict=True)
    return sum((np.sum(to_balls(a) * to_balls(b)) for a, b in pairs), to_balls(0)[()])


def _on_grid(array: np.ndarray, denominator: int) -> np.ndarray:
    return np.asarray(np.round(array * denominator) / denominator)


def _arrays(found: Any) -> Iterable[np.ndarray]:
    """The arrays in nested tuples and lists; None stands for no array."""
    if isinstance(found, np.ndarray):
        yield found
    elif isinstance(found, Sequence):
        for each in found:
            yield from _arrays(each)
    elif found is not None:
        raise TypeError(f"gradients: backward gives a {type(found).__name__}, needed arrays in tuples or lists")

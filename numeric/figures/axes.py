"""Scales, and the axes of a plot: a line below, light lines across, the name of the upward axis above it, not beside."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .drawing import Drawing

Tick = tuple[float, str]


@dataclass(frozen=True)
class Scale:
    """Where a number stands: `low` at the place `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high = self._measured(self.low), self._measured(self.high)
        return self.start + (self.end - self.start) * (self._measured(value) - low) / (high - low)

    def _measured(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


def axes(
    drawing: Drawing, x: Scale, y: Scale, x_ticks: Sequence[Tick], y_ticks: Sequence[Tick], names: tuple[str, str]
) -> None:
    """`names` are those of the axes, along and upward."""
    for value, text in y_ticks:
        place = y.at(value)
        drawing.line((x.start, place), (x.end, place), "grid")
        drawing.label(x.start - 5, place + 4, text, "soft", "end", "small")
    drawing.line((x.start, y.start), (x.end, y.start), "axis")
    for value, text in x_ticks:
        place = x.at(value)
        drawing.line((place, y.start), (place, y.start + 4), "axis")
        drawing.label(place, y.start + 16, text, "soft", "middle", "small")
    drawing.label((x.start + x.end) / 2, y.start + 33, names[0], anchor="middle")
    drawing.label(4, y.end - 12, names[1])


def powers_of_ten(exponents: Sequence[int]) -> list[Tick]:
    """Ticks that are written 0.1, 1 and 10, and farther out as powers."""
    return [(10.0**k, f"{10.0**k:g}" if -1 <= k <= 1 else f"10^[{k}]".replace("-", "−")) for k in exponents]

"""What was judged at a probe, kept so that a mistake can be looked for when all is known."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .contract import Inputs
from .enclosure import Exact

# "generic (3, 5, 7), axis=0, draw 1" is of the kind "generic (3, 5, 7)"; the first comma that counts stands in no bracket
DRAWN = re.compile(r"((?:[^,(]|\([^)]*\))*), (?:.*, )?(?:draw )?\d+")


def kind_of(probe: str) -> str:
    """The name of a probe without the setting and the draw that make it one of several."""
    drawn = DRAWN.fullmatch(probe)
    return drawn[1] if drawn else probe


@dataclass(frozen=True)
class Record:
    """One call's arrays (the output, or the gradients in order), the truth, and how far rounding reaches."""

    probe: str
    inputs: Inputs
    options: Mapping[str, Any]
    dy: np.ndarray | None  # of gradients
    found: tuple[np.ndarray, ...]
    exact: tuple[Exact, ...]
    allowed: tuple[np.ndarray, ...]
    failed: bool
    accurate: tuple[
        np.ndarray, ...
    ] = ()  # how far an accurate formula's rounding reaches, where others are admitted too

    without_reference: tuple[np.ndarray, ...] = ()  # where nothing is judged, and `found` is the reference's

    def judged(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arrays like `found`, with the reference's numbers where nothing is judged."""
        if not self.without_reference:
            return list(arrays)
        return [np.where(m, e.high, a) for m, e, a in zip(self.without_reference, self.exact, arrays, strict=True)]

    @property
    def generic(self) -> bool:
        return self.probe.startswith("generic")

    @property
    def kind(self) -> str:
        return kind_of(self.probe)

    @property
    def entries(self) -> int:
        """How many numbers went in and came out."""
        return sum(np.size(each) for each in (*self.inputs, *self.found))

    def arguments(self) -> Inputs:
        """What a formula of its kind takes before the options."""
        return self.inputs if self.dy is None else (self.dy, *self.inputs)

"""What was judged at a probe, kept so that a mistake can be looked for when all is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .contract import Inputs
from .enclosure import Exact


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

    @property
    def generic(self) -> bool:
        return self.probe.startswith("generic")

    @property
    def entries(self) -> int:
        """How many numbers went in and came out."""
        return sum(np.size(each) for each in (*self.inputs, *self.found))

    def arguments(self) -> Inputs:
        """What a formula of its kind takes before the options."""
        return self.inputs if self.dy is None else (self.dy, *self.inputs)

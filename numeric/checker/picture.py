"""What a picture of a run shows: errors in units of their allowance, of every probe the largest, of the worst probe all."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

ROWS, COLUMNS = 32, 48  # of a map; a larger array is shown by the largest entry of each block


@dataclass
class Picture:
    """`ratios` are error / allowance; infinite where the error is, so NaN among them stands for nothing.

    decades     of the worst probe: k -> how many entries lie in [10^k, 10^(k + 1))
    equal       how many of its entries have no error at all
    infinite    how many of them are NaN, or infinite where the truth is not
    blocks      its entries along the last two axes, the largest over the axes before them; None for a scalar
    """

    ratios: dict[str, float] = field(default_factory=dict)
    probe: str = ""
    shape: tuple[int, ...] = ()
    decades: dict[int, int] = field(default_factory=dict)
    equal: int = 0
    infinite: int = 0
    blocks: np.ndarray | None = None

    def add(self, probe: str, ratios: np.ndarray) -> None:
        largest = float(ratios.max())
        if not self.ratios or largest > max(self.ratios.values()):
            self._enlarge(probe, ratios)
        self.ratios[probe] = largest

    def _enlarge(self, probe: str, ratios: np.ndarray) -> None:
        self.probe, self.shape = probe, ratios.shape
        infinite, equal = np.isinf(ratios), ratios == 0
        self.infinite, self.equal = int(infinite.sum()), int(equal.sum())
        decades = np.floor(np.log10(ratios[~infinite & ~equal])).astype(int)
        self.decades = dict(sorted(Counter(decades.tolist()).items()))
        self.blocks = None if ratios.ndim == 0 else blocked(ratios)


def blocked(ratios: np.ndarray) -> np.ndarray:
    """(..., n, m) -> at most (ROWS, COLUMNS); every entry counts in one block, by its largest."""
    plane = np.atleast_2d(ratios)
    plane = plane.reshape(-1, *plane.shape[-2:]).max(0)
    for axis, most in enumerate((ROWS, COLUMNS)):
        size = plane.shape[axis]
        starts = np.unique(np.linspace(0, size, min(size, most), endpoint=False).astype(int))
        plane = np.maximum.reduceat(plane, starts, axis)
    return plane

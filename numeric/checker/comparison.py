"""One output against the truth, and many of them summed up: how near the allowance, where, and what could have been seen."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .enclosure import Exact, deviation
from .formats import Format
from .picture import Picture
from .rounding import SLACK, Rounded, allowance, typical_allowance

IMPOSTORS = ("constants", "noise", "zeros")


@dataclass(frozen=True)
class Worst:
    """The entry with the largest error in units of its allowance."""

    ratio: float
    probe: str
    index: tuple[int, ...]
    found: float
    exact: float
    error: float
    allowed: float

    def __str__(self) -> str:
        place = f"index {self.index}, " if self.index else ""
        return (
            f"{place}probe '{self.probe}': found {self.found:.9g}, exact {self.exact:.9g}, error {self.error:.3g}, "
            f"allowance {self.allowed:.3g}, ratio {self.ratio:.3g}"
        )

    def as_dict(self) -> dict[str, Any]:
        names = ("ratio", "probe", "index", "found", "exact", "error", "allowed")
        return {("allowance" if name == "allowed" else name): getattr(self, name) for name in names}


@dataclass
class Tally:
    """Comparisons of one kind (values, or gradients) over all probes."""

    worst: Worst | None = None
    typical_ratio: float = 0.0
    probes: int = 0
    entries: int = 0
    unbounded: int = 0
    failed: list[str] = field(default_factory=list)
    not_a_number: list[str] = field(default_factory=list)
    notes: dict[str, list[str]] = field(
        default_factory=dict
    )  # what stands in place of a reference, and at which probes
    seen: float = np.inf  # the smallest relative error, made everywhere, that some probe would have shown
    survivors: set[str] = field(default_factory=lambda: set(IMPOSTORS))
    scalar: float | None = None  # the first truth of one entry: a constant there is one that gives it at every probe
    picture: Picture = field(default_factory=Picture)

    def add(self, probe: str, found: np.ndarray, exact: Exact, bound: Rounded, returned: Format) -> bool:
        """Judges one output: within rounding? An entry fails when even the nearest true value is further away than rounding can reach."""
        allowed = allowance(bound)
        error = deviation(found, exact, allowed, returned)
        ratio = _ratio(error, allowed)
        self.probes += 1
        self.entries += found.size
        self.unbounded += int(np.isinf(allowed).sum())
        if found.size == 0:
            return True
        index = tuple(int(i) for i in np.unravel_index(int(ratio.argmax()), ratio.shape))
        here = Worst(
            float(ratio[index]),
            probe,
            index,
            float(found[index]),
            float(exact.high[index]),
            float(error[index]),
            float(allowed[index]),
        )
        if self.worst is None or here.ratio > self.worst.ratio:
            self.worst = here
        if here.ratio > SLACK:
            self.failed.append(probe)
        self.picture.add(probe, ratio)
        if np.isnan(found).any():
            self.not_a_number.append(probe)
        self.typical_ratio = max(self.typical_ratio, float(_ratio(error, typical_allowance(bound)).max()))
        self._measure_power(error, exact, allowed, returned)
        return here.ratio <= SLACK

    def note(self, probe: str, what: str) -> None:
        self.notes.setdefault(what, []).append(probe)

    def _measure_power(self, error: np.ndarray, exact: Exact, allowed: np.ndarray, returned: Format) -> None:
        truth = exact.high
        with np.errstate(all="ignore"):
            needed = (allowed + error) / np.abs(truth)
        usable = np.isfinite(needed)
        if usable.any():
            # no number of the format is nearer to another one than a unit roundoff
            self.seen = min(self.seen, max(float(needed[usable].min()), returned.unit))
        if truth.size == 1 and self.scalar is None:
            self.scalar = float(truth.flat[0])
        for name in sorted(self.survivors):
            if (deviation(_impostor(name, truth, self.scalar), exact, allowed, returned) > allowed).any():
                self.survivors.discard(name)

    @property
    def passed(self) -> bool:
        return self.worst is not None and not self.failed

    def evidence(self) -> dict[str, Any]:
        return {
            "probes": self.probes,
            "entries": self.entries,
            "entries_without_bound": self.unbounded,
            "failed_probes": self.failed,
            "worst": self.worst.as_dict() if self.worst else None,
            "ratio_to_typical": self.typical_ratio,
            "without_reference": self.notes,
            "power": self.power(),
        }

    def power(self) -> dict[str, Any]:
        return {"smallest_relative_error_seen": self.seen, "would_have_passed": sorted(self.survivors)}


def _impostor(name: str, truth: np.ndarray, scalar: float | None) -> np.ndarray:
    """What looks like the truth to a careless test: nothing, its mean everywhere, or noise of its mean and spread; of one entry,
    that of the first probe, or noise of its size."""
    if name == "zeros":
        return np.zeros_like(truth)
    if name == "constants":
        return np.full_like(truth, truth.mean() if truth.size > 1 else scalar)
    noise: np.ndarray = np.random.default_rng(0).standard_normal(truth.shape)
    return truth.mean() + (truth.std() if truth.size > 1 else np.abs(truth)) * noise


def _ratio(error: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Error in units of the allowance. An entry that nothing bounds cannot fail, unless it is NaN."""
    with np.errstate(all="ignore"):
        ratio = error / allowed
    return np.where(np.isinf(error), np.inf, np.where(np.isinf(allowed) | (error == 0), 0.0, ratio))

"""What the agreement found, theorem by theorem, as plain data and as a verdict."""

import json
import math
from dataclasses import dataclass
from typing import Any

from .comparison import Finding, Verdict
from .judging import Judgement


@dataclass(frozen=True)
class TheoremReport:
    """One theorem against the layers that it speaks of. `trouble` is what kept it from being judged."""

    name: str
    layers: tuple[str, ...]
    sizes: tuple[dict[str, int], ...]  # at each point
    judgements: tuple[Judgement, ...]
    trouble: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What speaks against agreement."""
        return (*self.trouble, *(finding for each in self.judgements for finding in each.findings))

    @property
    def verdict(self) -> Verdict:
        return worst(finding.verdict for finding in self.findings)

    @property
    def functions(self) -> frozenset[str]:
        """The functions of the layers that were called."""
        return frozenset().union(*(each.functions for each in self.judgements))

    @property
    def widest(self) -> float:
        """The largest radius of a ball."""
        return max((each.widest for each in self.judgements), default=math.inf)

    @property
    def ratio(self) -> float:
        """The largest difference in float64, in units of its bound."""
        return max((each.ratio for each in self.judgements), default=math.inf)

    def as_dict(self) -> dict[str, Any]:
        return {
            "theorem": self.name,
            "verdict": str(self.verdict),
            "layers": list(self.layers),
            "functions": sorted(self.functions),
            "points": len(self.judgements),
            "comparisons": sum(each.comparisons for each in self.judgements),
            "sizes": list(self.sizes),
            "widest_radius": finite(self.widest),
            "float64_ratio": finite(self.ratio),
            "findings": [{"verdict": str(each.verdict), "message": each.message} for each in self.findings],
        }


@dataclass(frozen=True)
class Report:
    """`without_layer` names the theorems that speak of no layer, `too_large` those that speak of layers inside sums and
    definitions too many to write out; `uncalled` the public functions of layers that no theorem called, and is empty where not
    all theorems were asked."""

    seeds: int
    expression: str | None
    theorems: tuple[TheoremReport, ...]
    without_layer: tuple[str, ...]
    too_large: tuple[str, ...]
    uncalled: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        return worst(each.verdict for each in self.theorems)

    @property
    def failed(self) -> tuple[TheoremReport, ...]:
        """The theorems that do not agree, or of which that is not known."""
        return tuple(each for each in self.theorems if each.verdict is not Verdict.AGREES)

    @property
    def exit_code(self) -> int:
        return 1 if self.failed else 0

    def to_json(self) -> str:
        data = {
            "verdict": str(self.verdict),
            "seeds": self.seeds,
            "expression": self.expression,
            "theorems": [each.as_dict() for each in self.theorems],
            "theorems_without_layer": list(self.without_layer),
            "theorems_too_large": list(self.too_large),
            "functions_without_theorem": list(self.uncalled),
        }
        return json.dumps(data, indent=2, ensure_ascii=False)


def worst(verdicts: Any) -> Verdict:
    found = set(verdicts)
    return next((each for each in (Verdict.DISAGREES, Verdict.UNDECIDED) if each in found), Verdict.AGREES)


def finite(number: float) -> float | None:
    """A number as JSON has it, which knows no infinity."""
    return number if math.isfinite(number) else None

"""What the three ways found, case by case, as plain data and as a verdict."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..agreement.comparison import Finding, Verdict
from .case import Case
from .complex_step import ComplexStep
from .differences import Difference
from .exact import Exact


@dataclass(frozen=True)
class CaseReport:
    """`trouble` is what kept the case from being looked at; else all three are there."""

    case: Case
    exact: Exact | None = None
    difference: Difference | None = None
    step: ComplexStep | None = None
    trouble: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What speaks against the gradient."""
        ways = (self.exact, self.difference, self.step)
        return (*self.trouble, *(finding for way in ways if way is not None for finding in way.findings))

    @property
    def verdict(self) -> Verdict:
        return _worst(finding.verdict for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"layer": self.case.layer, "case": self.case.variant, "verdict": str(self.verdict)}
        data |= {"parameters": self.case.count, "entry_by_entry": self.case.entries}
        if self.exact is not None:
            data |= {"widest_radius": _finite(self.exact.widest)}
        if self.difference is not None:
            data |= {"step": self.difference.step, "difference_ratio": _finite(self.difference.ratio)}
            data |= {"difference_floor": _finite(self.difference.floor)}
        if self.step is not None:
            data |= {"complex_step_ratio": _finite(self.step.ratio), "complex_step_bound": _finite(self.step.bound)}
        findings = [{"verdict": str(each.verdict), "message": each.message} for each in self.findings]
        return {**data, "findings": findings}


@dataclass(frozen=True)
class Report:
    """`without_case` names the layers that no case looks at; it is empty where not all cases were asked for."""

    expression: str | None
    seed: int
    cases: tuple[CaseReport, ...]
    without_case: tuple[str, ...]

    @property
    def failed(self) -> tuple[CaseReport, ...]:
        return tuple(each for each in self.cases if each.verdict is not Verdict.AGREES)

    @property
    def verdict(self) -> Verdict:
        missing = [Verdict.UNDECIDED] if self.without_case else []
        return _worst([*missing, *(each.verdict for each in self.cases)])

    @property
    def exit_code(self) -> int:
        return 0 if self.verdict is Verdict.AGREES else 1

    def to_json(self) -> str:
        data = {
            "verdict": str(self.verdict),
            "expression": self.expression,
            "seed": self.seed,
            "cases": [each.as_dict() for each in self.cases],
            "layers_without_case": list(self.without_case),
        }
        return json.dumps(data, indent=2, ensure_ascii=False)


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    found = set(verdicts)
    return next((each for each in (Verdict.DISAGREES, Verdict.UNDECIDED) if each in found), Verdict.AGREES)


def _finite(number: float) -> float | None:
    """A number as JSON has it, which knows no infinity."""
    return number if math.isfinite(number) else None

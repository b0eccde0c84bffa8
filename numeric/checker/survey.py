"""All ready-made subjects of a library, one line each: verdict, largest error in allowances, and what the verdict is due to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .contracts import contract_names
from .ready import Ready
from .report import Report
from .run import check
from .subjects import group_named
from .table import WIDTH, outcome
from .verdict import NOT_RUN, Verdict

VERDICT_WIDTH, NAME_WIDTH, RATIO_WIDTH = 13, 28, 7


@dataclass(frozen=True)
class Surveyed:
    """A subject and its report, or, where nothing could judge it, why there is none."""

    library: str
    subject: Ready
    report: Report | None
    missing: str = ""

    @property
    def verdict(self) -> Verdict:
        """As it counts: what was not run is not known."""
        return self.report.verdict if self.report else Verdict.INCONCLUSIVE

    @property
    def ratio(self) -> float | None:
        """The largest error of values and gradients, in allowances."""
        found = [each.evidence.get("worst") for each in self.report.findings] if self.report else []
        return max((each["ratio"] for each in found if each), default=None)

    @property
    def reason(self) -> str:
        if self.report is None:
            return self.missing
        left = sum(not each.ran for each in self.report.findings)
        because = outcome(self.report).lstrip(":, ")
        return because or (f"all checks but {left}, not run" if left else "all checks")

    @property
    def line(self) -> str:
        """At most 80 columns."""
        verdict = str(self.report.verdict) if self.report else NOT_RUN
        name = _fitted(self.subject.name.removeprefix("nn.functional."), NAME_WIDTH)
        ratio = "" if self.ratio is None else f"{self.ratio:.2g}"
        head = f"{verdict:<{VERDICT_WIDTH}}{name:<{NAME_WIDTH}}{ratio:>{RATIO_WIDTH}}  "
        return (head + _fitted(self.reason, WIDTH - len(head))).rstrip()

    def as_dict(self) -> dict[str, Any]:
        return {
            "subject": f"{self.library}.{self.subject.name}",
            "contract": self.subject.contract,
            "verdict": str(self.report.verdict) if self.report else NOT_RUN,
            "reason": self.reason,
            "report": self.report.as_dict() if self.report else None,
        }


def survey(library: str, dtype: str = "float64", precision: str | None = None, seed: int = 0) -> Iterator[Surveyed]:
    """Judges each ready-made subject of a library, in their order. Raises UsageError."""
    for subject in group_named(library):
        yield surveyed(library, subject, dtype, precision, seed)


def surveyed(
    library: str, subject: Ready, dtype: str = "float64", precision: str | None = None, seed: int = 0
) -> Surveyed:
    """Raises UsageError."""
    if subject.contract not in contract_names():
        return Surveyed(library, subject, None, f"there is no contract {subject.contract}")
    report = check(
        subject.contract,
        subject.forward,
        adapter=library,
        dtype=dtype,
        precision=precision,
        options=subject.options,
        accept=subject.accept,
        seed=seed,
    )
    return Surveyed(library, subject, report)


def _fitted(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"

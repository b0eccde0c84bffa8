"""What a run found: a verdict, the findings it follows from, and how to read, store or raise it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .plain import plain
from .table import rendered
from .usage import unknown
from .verdict import NOT_RUN, Verdict, worst

if TYPE_CHECKING:
    from .picture import Picture

ALSO = "also"  # in a finding's evidence: the ids of other mistakes that explain it as well

UNSTABLE = "unstable"  # in a finding's evidence: the formula is right, and loses its digits


class CheckFailed(AssertionError):
    """A check that did not pass; the message is the diagnosis."""


@dataclass(frozen=True)
class Finding:
    """One check: its verdict or "not run", the id of the mistake when it is a known one, and why, one statement a line."""

    check: str
    verdict: Verdict | str
    message: str
    theorem: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    mistake: str | None = None

    @property
    def ran(self) -> bool:
        return self.verdict != NOT_RUN

    @property
    def breach(self) -> str | None:
        """What it says of its theorem, where it is no pass."""
        if self.theorem is None or not self.ran or self.verdict == Verdict.PASS:
            return None
        return f"{'right by' if self.evidence.get(UNSTABLE) else 'breaks'} {self.theorem}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "verdict": str(self.verdict),
            "mistake": self.mistake,
            "message": self.message,
            "theorem": self.theorem,
            "evidence": plain(self.evidence),
        }


@dataclass(frozen=True)
class Report:
    """Prints as a table of 80 columns; `to_json`, `to_junit` and `to_html` are for scripts, for CI and for a browser.

    `pictures` has the errors of "values" and "gradients" for drawing, and `seconds` is what the run took; neither is in the JSON.
    """

    contract: str
    subject: str
    adapter: str
    dtype: str
    precision: str
    options: Mapping[str, Any]
    seed: int
    findings: tuple[Finding, ...]
    power: Mapping[str, Any]
    accepted: tuple[str, ...] = ()
    pictures: "Mapping[str, Picture]" = field(default_factory=dict, compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def verdict(self) -> Verdict:
        """The worst of what ran. Without judged values nothing is known; a variant that was accepted passes."""
        ran = [finding for finding in self.findings if finding.ran]
        verdicts = [self.counted(finding) for finding in ran]
        if not any(finding.check == "values" for finding in ran):
            verdicts.append(Verdict.INCONCLUSIVE)
        return worst(verdicts)

    def counted(self, finding: Finding) -> Verdict:
        """The verdict of a finding that ran, as it counts: an accepted variant is a pass."""
        verdict = Verdict(finding.verdict)
        return Verdict.PASS if verdict is Verdict.VARIANT and finding.mistake in self.accepted else verdict

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Ids of the named mistakes and variants, most likely first."""
        first = [finding.mistake for finding in self.findings if finding.mistake]
        others = [other for finding in self.findings for other in finding.evidence.get(ALSO, ())]
        return tuple(dict.fromkeys([*first, *others]))

    def finding(self, check: str) -> Finding:
        for each in self.findings:
            if each.check == check:
                return each
        raise unknown("check", check, [each.check for each in self.findings])

    def diagnosis(self) -> str:
        """The verdict and every finding that did not pass, in plain text."""
        return "\n".join([f"{self.title}: {self.verdict}", *(f"  {_told(each)}" for each in self.not_passed)])

    @property
    def title(self) -> str:
        return f"{self.subject} as {self.contract} in {self.dtype}"

    @property
    def not_passed(self) -> list[Finding]:
        """What ran and is no pass."""
        return [each for each in self.findings if each.ran and self.counted(each) is not Verdict.PASS]

    def raise_if_failed(self, check: str | None = None) -> None:
        """Raises CheckFailed unless the verdict, or that of the one check named, is a pass; a check not run is no pass."""
        if check is None:
            if self.verdict is not Verdict.PASS:
                raise CheckFailed(self.diagnosis())
            return
        one = self.finding(check)
        if not one.ran or self.counted(one) is not Verdict.PASS:
            raise CheckFailed(f"{self.title}: {_told(one)}")

    def as_dict(self) -> dict[str, Any]:
        names = ("contract", "subject", "adapter", "dtype", "precision", "options", "seed")
        head = {name: plain(getattr(self, name)) for name in names}
        return {
            **head,
            "accepted": list(self.accepted),
            "verdict": str(self.verdict),
            "mistakes": list(self.mistakes),
            "findings": [finding.as_dict() for finding in self.findings],
            "power": plain(self.power),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Strict JSON: numbers that are not finite are the strings "nan", "inf" and "-inf"."""
        return json.dumps(self.as_dict(), indent=indent, allow_nan=False)

    def to_junit(self) -> str:
        """JUnit XML, one test case for each finding; see junit.py for what counts as what."""
        from .junit import junit_of

        return junit_of([self])

    def to_html(self) -> str:
        """One page that needs nothing else, neither scripts nor a connection."""
        from .page import page_of

        return page_of([self])

    def __str__(self) -> str:
        return rendered(self)


def _told(finding: Finding) -> str:
    return f"{finding.check}: {finding.verdict}: " + finding.message.replace("\n", "\n    ")

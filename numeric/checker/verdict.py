"""The five verdicts, and how several become one."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """In the order of badness; `Verdict.PASS == "pass"`."""

    PASS = "pass"
    INCONCLUSIVE = "inconclusive"
    VARIANT = "variant"
    FAIL = "fail"
    ERROR = "error"

    @property
    def exit_code(self) -> int:
        return {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 3}.get(self, 1)


NOT_RUN = "not run"  # stands in a finding where a verdict would; it is none, so it can never pass for one


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst one. Nothing judged is nothing known, so an empty collection is inconclusive."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.INCONCLUSIVE)

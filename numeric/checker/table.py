"""A report as what a person reads: 80 columns, plain text. The verdict, then what did not pass, what did, and what was not run."""

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .verdict import NOT_RUN, Verdict

if TYPE_CHECKING:
    from .report import Finding, Report

WIDTH = 80
STYLES = {
    "pass": "green",
    "variant": "yellow",
    "inconclusive": "yellow",
    "fail": "bold red",
    "error": "bold red",
    NOT_RUN: "dim",
}


def rendered(report: "Report") -> str:
    """The table as text without colours."""
    text = StringIO()
    show(report, Console(file=text, width=WIDTH, no_color=True, highlight=False))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def show(report: "Report", console: Console) -> None:
    head = Text(str(report.verdict), STYLES[report.verdict]) + Text(f": {report.title}", "bold")
    console.print(_hanging(head + Text(outcome(report)), 2))
    console.print(_hanging(Text(setting(report), "dim"), 2))
    passed, notes = _passed(report)
    bad, left = report.not_passed, [each for each in report.findings if not each.ran]
    theorems = [each.theorem for each in bad if each.theorem]
    rows = [row for finding in bad for row in _unpassed(finding)]
    _section(console, "not passed", [*rows, Text(f"to read one: {printing(theorems[0])}", "dim") if theorems else None])
    _section(console, "passed", [_aligned([(each.check, _flat(each.message)) for each in passed]), *_measured(report)])
    noted = [row for finding in notes for row in _unpassed(finding, accepted=finding.verdict == Verdict.VARIANT)]
    _section(console, "passed, with a note", noted)
    _section(console, "not run", [_hanging(Text(f"{checks}: {why}"), 2) for why, checks in _by_reason(left)])
    _section(console, "test power", [_aligned(power_rows(report))] if report.power else [])


def printing(theorem: str) -> str:
    """The command that prints a theorem and its proof."""
    return f"python -m proofs show {theorem}"


def outcome(report: "Report") -> str:
    """What the verdict is due to, in a few words: the named mistake, or the checks that did not pass."""
    bad = report.not_passed
    named = list(dict.fromkeys(each.mistake for each in bad if each.mistake))
    if named:
        return f": {', '.join(named)}"
    if not bad:
        accepted = [each.mistake for each in report.findings if each.verdict == Verdict.VARIANT]
        return f", {accepted[0]} accepted" if accepted else ""
    unknown = "no known mistake: " if report.verdict is Verdict.FAIL else ""
    return f", {unknown}{', '.join(each.check for each in bad)}"


def setting(report: "Report") -> str:
    chosen = "".join(f", {name}={value!r}" for name, value in report.options.items())
    return f"{report.adapter}, {report.precision}, seed {report.seed}{chosen}"


def _section(console: Console, title: str, rows: Sequence[RenderableType | None]) -> None:
    shown = [row for row in rows if row is not None]
    if shown:
        console.print()
        console.print(Text(title, "bold"))
        for row in shown:
            console.print(Padding(row, (0, 0, 0, 2)))


def _unpassed(finding: "Finding", accepted: bool = False) -> list[RenderableType]:
    """The check and its verdict; below, each statement of the message, and the theorem."""
    head = Text(finding.check, "bold") + Text(": ") + Text(str(finding.verdict), STYLES[finding.verdict])
    head += Text(", accepted" if accepted else "")
    lines = [Text(line) for line in finding.message.splitlines()]
    if finding.breach:
        lines.insert(min(1, len(lines) - 1), Text(finding.breach, "cyan"))
    return [head, *(Padding(_hanging(line, 2), (0, 0, 0, 2)) for line in lines)]


def _passed(report: "Report") -> tuple[list["Finding"], list["Finding"]]:
    """What passed and is told in a line each, and what passed with more to say; properties are in neither."""
    passed = [each for each in report.findings if each.ran and each not in report.not_passed]
    notes = [each for each in passed if each.mistake or "\n" in each.message]
    return [each for each in passed if each not in notes and not _is_property(each)], notes


def _is_property(finding: "Finding") -> bool:
    return set(finding.evidence) == {"ratio"} and finding.message.startswith("off by")


def _measured(report: "Report") -> list[RenderableType]:
    """Properties that hold: each with what it is off by."""
    held = [each for each in report.findings if each.verdict == Verdict.PASS and _is_property(each)]
    if not held:
        return []
    told = ", ".join(f"{each.check} ({each.evidence['ratio']:.2g})" for each in held)
    return [_hanging(Text(f"properties, off by so many allowances: {told}"), 2)]


def _by_reason(findings: Sequence["Finding"]) -> list[tuple[str, str]]:
    """(reason, the checks that were not run for it)."""
    checks: dict[str, list[str]] = {}
    for each in findings:
        checks.setdefault(_flat(each.message), []).append(each.check)
    return [(why, ", ".join(names)) for why, names in checks.items()]


def power_rows(report: "Report") -> list[tuple[str, str]]:
    """What the run could have seen."""
    rows = []
    for name, power in report.power.items():
        survivors = power["would_have_passed"]
        impostors = (
            f"{', '.join(survivors)} would have passed" if survivors else "zeros, constants, noise would have failed"
        )
        seen = f"a relative error of {power['smallest_relative_error_seen']:.2g} everywhere would have been seen"
        rows.append((name, f"{seen}; {impostors}"))
    return rows


def _aligned(rows: Sequence[tuple[str, str]]) -> RenderableType | None:
    if not rows:
        return None
    table = Table.grid(padding=(0, 2))
    table.add_column(max_width=30, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    for name, text in rows:
        table.add_row(Text(name), Text(text))
    return table


def _hanging(text: Text, indent: int) -> RenderableType:
    """Its second and later lines stand further to the right."""
    return _Hanging(text, indent)


def _flat(message: str) -> str:
    return " ".join(message.splitlines())


class _Hanging:
    def __init__(self, text: Text, indent: int) -> None:
        self.text, self.indent = text, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        first, *rest = self.text.wrap(console, width, overflow="fold")
        yield first
        if rest:
            for line in rest:
                line.rstrip()
            joined = Text(" ").join(rest)
            for line in joined.wrap(console, width - self.indent, overflow="fold"):
                yield Text(" " * self.indent) + line

"""A report as the table that a person reads: 80 columns, plain text."""

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .verdict import NOT_RUN

if TYPE_CHECKING:
    from .report import Report

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
    return text.getvalue()


def show(report: "Report", console: Console) -> None:
    table = Table(box=None, pad_edge=False, expand=True, show_header=True, header_style="bold")
    table.add_column("check", width=24, overflow="fold")
    table.add_column("verdict", width=12)
    table.add_column("found", ratio=1, overflow="fold")
    for finding in report.findings:
        theorem = f" [{finding.theorem}]" if finding.theorem and finding.verdict not in ("pass", NOT_RUN) else ""
        table.add_row(
            Text(finding.check), Text(str(finding.verdict), STYLES[finding.verdict]), Text(finding.message + theorem)
        )
    chosen = "".join(f", {name}={value!r}" for name, value in report.options.items())
    console.print(Text(f"{report.subject} as {report.contract}, {report.adapter}, {report.precision}{chosen}", "bold"))
    console.print(table)
    for line in power_lines(report):
        console.print(Text(line))
    console.print(Text("verdict: ") + Text(str(report.verdict), STYLES[report.verdict]))


def power_lines(report: "Report") -> list[str]:
    """What the run could have seen."""
    lines = []
    for name, power in report.power.items():
        survivors = power["would_have_passed"]
        impostors = (
            f"{', '.join(survivors)} would have passed" if survivors else "zeros, constants, noise would have failed"
        )
        seen = f"a relative error of {power['smallest_relative_error_seen']:.2g} everywhere would have been seen"
        lines.append(f"test power, {name}: {seen}; {impostors}")
    return lines

"""The table of 80 columns that `python -m numeric gradients` prints."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..agreement.comparison import Verdict
from .report import CaseReport, Report

WIDTH = 80
SHOWN = 2  # findings for each case; --json has all
STYLES = {Verdict.AGREES: "green", Verdict.UNDECIDED: "yellow", Verdict.DISAGREES: "bold red"}
LEGEND = (
    "exact: the widest radius. difference, complex step: the error in units of its",
    "bound, and the bound in units of sum |g v|: a smaller mistake is not seen there.",
)


def show(report: Report, console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("layer", width=19, overflow="fold")
    table.add_column("case", width=17, overflow="fold")
    for title, width in (("numbers", 7), ("exact", 5), ("difference", 12), ("complex step", 12)):
        table.add_column(title, width=width, justify="right")
    layer = ""
    for each in report.cases:
        before, layer = layer, each.case.layer
        table.add_row(
            *cells(each, layer != before), style="" if each.verdict is Verdict.AGREES else STYLES[each.verdict]
        )
    console.print(table)
    for line in (*map(Text, LEGEND), *conclusions(report)):
        console.print(line)


def cells(report: CaseReport, named: bool) -> Iterable[Text]:
    yield Text(report.case.layer if named else "")
    yield Text(report.case.variant)
    yield Text(str(report.case.count))
    yield Text("" if report.exact is None else f"{report.exact.widest:.0e}")
    yield Text("" if report.difference is None else _of_bound(report.difference.ratio, report.difference.floor))
    yield Text("" if report.step is None else _of_bound(report.step.ratio, report.step.bound))


def conclusions(report: Report) -> Iterable[Text]:
    for each in report.failed:
        for finding in each.findings[:SHOWN]:
            yield Text(f"{each.case.name} {finding.verdict}: {finding.message}", STYLES[finding.verdict])
        if len(each.findings) > SHOWN:
            yield Text(f"  and {len(each.findings) - SHOWN} more such findings; --json has them all")
    if report.without_case:
        listed = ", ".join(report.without_case)
        yield Text(f"Layers without a case in numeric/gradients: {listed}", STYLES[Verdict.UNDECIDED])
    agreeing = len(report.cases) - len(report.failed)
    line = f"Cases whose gradients agree in all three ways: {agreeing} of {len(report.cases)}"
    yield Text(line, STYLES[report.verdict])


def _of_bound(ratio: float, bound: float) -> str:
    return f"{f'{ratio:.3f}' if ratio == 0 or 0.001 <= ratio < 10 else f'{ratio:.0e}'} {bound:.0e}"

"""The table of 80 columns that `python -m numeric agree` prints."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .comparison import Verdict
from .report import Report, TheoremReport

WIDTH = 80
LONGEST = 29  # piece of a name, which is indented by up to 4
SHOWN = 2  # findings for each theorem; --json has all
NAMED = 12  # theorems, before they are only counted
STYLES = {Verdict.AGREES: "green", Verdict.UNDECIDED: "yellow", Verdict.DISAGREES: "bold red"}


def show(report: Report, console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=True, header_style="bold")
    table.add_column("theorem", width=LONGEST + 4, overflow="fold")
    table.add_column("layer", width=19, overflow="fold")
    table.add_column("sizes", width=10, overflow="fold")
    table.add_column("balls", width=7)
    table.add_column("float64", width=7)
    family = ""
    for theorem in report.theorems:
        before, family = family, theorem.name.partition(".")[0]
        if family != before:
            table.add_row(Text(family, "bold"))
        table.add_row(*cells(theorem), style="" if theorem.verdict is Verdict.AGREES else STYLES[theorem.verdict])
    if report.theorems:
        console.print(table)
        console.print("balls: the widest radius. float64: the largest difference in units of its rounding bound.")
    for line in conclusions(report):
        console.print(line)


def cells(theorem: TheoremReport) -> Iterable[Text]:
    name = folded(theorem.name.partition(".")[2])
    return map(
        Text, (name, "\n".join(theorem.layers), sizes(theorem), f"{theorem.widest:.0e}", of_bound(theorem.ratio))
    )


def of_bound(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0e}"


def folded(name: str) -> str:
    """The name on as many indented lines as it needs, broken after an underscore where there is one."""
    lines: list[str] = []
    while len(name) > LONGEST:
        cut = name.rfind("_", 0, LONGEST) + 1 or LONGEST
        lines, name = [*lines, name[:cut]], name[cut:]
    return "\n".join(("    " if k else "  ") + line for k, line in enumerate([*lines, name]))


def sizes(theorem: TheoremReport) -> str:
    """n=2,4,5: what each size was at the points."""
    drawn: dict[str, set[int]] = {}
    for point in theorem.sizes:
        for name, value in point.items():
            drawn.setdefault(name, set()).add(value)
    return " ".join(f"{name}={_listed(sorted(values))}" for name, values in sorted(drawn.items())) or "its own"


def listed(names: Sequence[str]) -> str:
    """The names, or how many there are of each family."""
    if len(names) <= NAMED:
        return ", ".join(names)
    families = Counter(name.partition(".")[0] for name in names)
    of_each = ", ".join(f"{family} {count}" for family, count in families.items())
    return f"{len(names)} ({of_each}); --json names them"


def _listed(values: list[int]) -> str:
    unbroken = values == list(range(values[0], values[-1] + 1))
    return f"{values[0]}..{values[-1]}" if unbroken and len(values) > 2 else ",".join(map(str, values))


def conclusions(report: Report) -> Iterable[Text]:
    for theorem in report.failed:
        for finding in theorem.findings[:SHOWN]:
            yield Text(f"{theorem.name} {finding.verdict}: {finding.message}", STYLES[finding.verdict])
        if len(theorem.findings) > SHOWN:
            yield Text(f"  and {len(theorem.findings) - SHOWN} more such findings; --json has them all")
    for what, names in (
        ("are too large to be written out", report.too_large),
        ("speak of no layer", report.without_layer),
    ):
        if names:
            yield Text(f"Theorems that {what}: {listed(names)}")
    if report.uncalled:
        yield Text(f"Functions that no theorem speaks of: {', '.join(report.uncalled)}")
    points = f"{report.seeds} point{'' if report.seeds == 1 else 's'} each"
    agreeing = len(report.theorems) - len(report.failed)
    line = f"Theorems that agree with the layers: {agreeing} of {len(report.theorems)}, at {points}"
    yield Text(line, STYLES[report.verdict])

"""The command `mistakes` of `python -m numeric`: the catalogue of known mistakes, and whether a run finds and names each."""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .contract import Contract
from .contracts import contract_named, contract_names
from .formats import format_named
from .kill_matrix import Row, judged, kind_of, row_of
from .mistake import Known
from .presenting import only_reports_on_stdout
from .progress import progress
from .table import WIDTH
from .usage import UsageError

Planted = tuple[Contract, Known]
MOST = 2  # checks named in a cell


def mistakes_command(
    contract: Annotated[list[str] | None, typer.Argument(metavar="[CONTRACT]...", help="all by default")] = None,
    dtype: Annotated[str, typer.Option(help="float64, float32, float16 or bfloat16")] = "float64",
    only_list: Annotated[bool, typer.Option("--list", help="the catalogue, without running anything")] = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    """Plant every known mistake, judge it, and show what sees it and what it is called.

    Exit code: 0 all are detected and named as themselves, 1 one is not, 2 wrong usage.
    """
    try:
        contracts = [contract_named(name) for name in dict.fromkeys(contract or contract_names())]
        format_named(dtype)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    every = [(each, known) for each in contracts for known in each.mistakes]
    if only_list:
        typer.echo(json.dumps([catalogued(*each) for each in every], indent=2) if as_json else listing(every))
        return
    shown = [(each, known) for each, known in every if dtype in getattr(known, "dtypes", (dtype,))]
    with only_reports_on_stdout():
        rows = list(progress(_rows(shown, dtype, seed), len(shown), "mistakes"))
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=2))
    else:
        _show(rows, len(every) - len(shown))
    raise typer.Exit(0 if all(map(passed, rows)) else 1)


def _rows(planted: Sequence[Planted], dtype: str, seed: int) -> Iterator[Row]:
    for contract, known in planted:
        yield row_of(known, judged(contract, known, dtype, seed), dtype)


def passed(row: Row) -> bool:
    return row.detected and row.recognised


def catalogued(contract: Contract, known: Known) -> dict[str, Any]:
    """A mistake as plain data."""
    return {
        "contract": contract.name,
        "id": known.id,
        "kind": kind_of(known),
        "of": known.of,
        "says": known.says,
        "theorem": known.theorem,
        "twins": list(getattr(known, "twins", ())),
    }


def listing(every: Sequence[Planted]) -> str:
    """Each with what it does and the theorem that it breaks."""
    lines = [f"{known.id} ({kind_of(known)}, {known.of})\n  it {known.says} [{known.theorem}]" for _, known in every]
    return "\n".join([*lines, f"{len(every)} in all"])


def _show(rows: Sequence[Row], left: int) -> None:
    console = Console(width=WIDTH, highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for title, width in (("mistake", 32), ("kind", 8), ("seen by", 25), ("named as", 12)):
        table.add_column(title, width=width, overflow="fold")
    contract = ""
    for row in rows:
        name, _, what = row.known.id.partition(".")
        if name != contract:
            contract = name
            table.add_row(Text(name, "bold"))
        named = Text(_named(row), "" if passed(row) else "bold red")
        table.add_row(Text(f"  {what}"), kind_of(row.known), Text(_seen(row)), named)
    console.print(table)
    bad = sum(not passed(row) for row in rows)
    summary = f"{len(rows) - bad} of {len(rows)} detected and named as themselves"
    console.print(Text(summary, "bold red" if bad else "green"))
    if left:
        console.print(Text(f"not run: {left}, which do not show in this dtype", "dim"))


def _seen(row: Row) -> str:
    if not row.seen_by:
        return "a note to a pass" if row.detected else "NOTHING"
    more = f", {len(row.seen_by) - MOST} more" if len(row.seen_by) > MOST else ""
    return ", ".join(row.seen_by[:MOST]) + more


def _named(row: Row) -> str:
    if row.recognised:
        others = [name for name in row.named if name != row.known.id]
        return f"itself, {', '.join(others)}" if others else "itself"
    return f"NOT itself: {', '.join(row.named) or 'no name'}"

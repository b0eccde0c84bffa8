"""The command `mistakes` of `python -m numeric`: the catalogue of known mistakes, and whether a run finds and names each."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
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
from .processes import processes
from .progress import progress
from .report import Report
from .table import WIDTH
from .usage import UsageError

Planted = tuple[Contract, Known]
MOST = 2  # checks named in a cell


def mistakes_command(
    contract: Annotated[list[str] | None, typer.Argument(metavar="[CONTRACT]...", help="all by default")] = None,
    dtype: Annotated[str, typer.Option(help="float64, float32, float16 or bfloat16")] = "float64",
    only_list: Annotated[bool, typer.Option("--list", help="the catalogue, without running anything")] = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="processes")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    """Plant every known mistake, judge it, and show what sees it and what it is called.

    Ctrl-C ends it and keeps what it has. Exit code: 0 all are detected and named as themselves, 1 one is not, 2 wrong usage,
    130 stopped by Ctrl-C.
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
    with only_reports_on_stdout() as out:
        console = Console(file=out, width=WIDTH, highlight=False, quiet=as_json)
        try:
            rows = _shown(_rows(shown, dtype, seed, jobs), len(shown), console)
        except BrokenProcessPool as error:
            told = "a process ended before its check did, perhaps for want of memory; try fewer --jobs"
            typer.echo(f"error: {told}", err=True)
            raise typer.Exit(1) from error
        if as_json:
            out.write(json.dumps([row.as_dict() for row in rows], indent=2) + "\n")
        _summarise(rows, len(shown) - len(rows), len(every) - len(shown), console)
    raise typer.Exit(130 if len(rows) < len(shown) else 0 if all(map(passed, rows)) else 1)


def _shown(rows: Iterator[Row], total: int, console: Console) -> list[Row]:
    """A line for each as it comes; those that came before Ctrl-C."""
    shown: list[Row] = []
    try:
        for row in progress(rows, total, "mistakes"):
            _show(row, shown[-1] if shown else None, console)
            shown.append(row)
    except KeyboardInterrupt:
        pass
    return shown


def _rows(planted: Sequence[Planted], dtype: str, seed: int, jobs: int) -> Iterator[Row]:
    """In the order of the catalogue, each as soon as it and those before it are judged. Raises BrokenProcessPool."""
    if jobs == 1:
        for contract, known in planted:
            yield row_of(known, judged(contract, known, dtype, seed), dtype)
        return
    with processes(jobs) as executor:
        ids = [(contract.name, known.id, dtype, seed) for contract, known in planted]
        for (_, known), report in zip(planted, executor.map(_judged_by_id, ids), strict=True):
            yield row_of(known, report, dtype)


def _judged_by_id(chosen: tuple[str, str, str, int]) -> Report:
    """Formulas do not travel to other processes, names do."""
    name, mistake, dtype, seed = chosen
    contract = contract_named(name)
    return judged(contract, next(known for known in contract.mistakes if known.id == mistake), dtype, seed)


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


def _show(row: Row, before: Row | None, console: Console) -> None:
    """A line of the table, below the one before it."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_header=before is None)
    for title, width in (("mistake", 32), ("kind", 8), ("seen by", 25), ("named as", 12)):
        table.add_column(title, width=width, overflow="fold")
    name, _, what = row.known.id.partition(".")
    if before is None or name != before.known.id.partition(".")[0]:
        table.add_row(Text(name, "bold"))
    named = Text(_named(row), "" if passed(row) else "bold red")
    table.add_row(Text(f"  {what}"), kind_of(row.known), Text(_seen(row)), named)
    console.print(table)


def _summarise(rows: Sequence[Row], stopped: int, hidden: int, console: Console) -> None:
    bad = sum(not passed(row) for row in rows)
    summary = f"{len(rows) - bad} of {len(rows)} detected and named as themselves"
    console.print(Text(summary, "bold red" if bad else "green"))
    if stopped:
        console.print(Text(f"interrupted: {stopped} not run", "bold red"))
    if hidden:
        console.print(Text(f"not run: {hidden}, which do not show in this dtype", "dim"))


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

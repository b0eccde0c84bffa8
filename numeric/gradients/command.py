"""The command `gradients` of `python -m numeric`."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .report import Report
from .run import all_cases, check_gradients
from .selection import UsageError, selected
from .table import WIDTH, show


def gradients_command(
    expression: Annotated[
        str | None, typer.Option("-k", metavar="EXPR", help="only cases that match: multi_head and not biased")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the random points and directions")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    """Check gradients exactly, by differences, by complex steps. Exit code: 0 all agree, 1 not all do, 2 wrong usage."""
    try:
        report = _with_progress(expression, seed)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(report.to_json())
    else:
        show(report, Console(width=WIDTH, highlight=False))
    raise typer.Exit(report.exit_code)


def _with_progress(expression: str | None, seed: int) -> Report:
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    with bar:
        task = bar.add_task("gradients", total=len(selected(all_cases(), expression)))

        def before(number: int, name: str) -> None:
            bar.update(task, completed=number, description=name)

        return check_gradients(expression, seed, before)

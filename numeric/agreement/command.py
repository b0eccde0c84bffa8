"""The command `agree` of `python -m numeric`. What needs `proofs` is imported when it is called: the other commands do not."""

from typing import Annotated

import typer
from rich.console import Console

from .comparison import SEEDS


def agree_command(
    expression: Annotated[
        str | None, typer.Option("-k", metavar="EXPR", help="only names that match: softmax and not limit")
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="random points for each theorem")] = SEEDS,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    """Evaluate the theorems against the layers. Exit code: 0 all agree, 1 not all do, 2 wrong usage."""
    try:
        from proofs.commands.selection import UsageError

        from .run import agree
        from .table import WIDTH, show
    except ImportError as problem:
        typer.echo(f"error: {_of_another_package(problem)}", err=True)
        raise typer.Exit(2) from problem
    try:
        report = agree(expression, seeds)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(report.to_json())
    else:
        show(report, Console(width=WIDTH, highlight=False))
    raise typer.Exit(report.exit_code)


def _of_another_package(problem: ImportError) -> str:
    return (
        f"{problem}. The theorems are in the package `proofs` of transformer-proofs, and what is found under that name is not "
        "it: remove the other one from the path, then pip install --force-reinstall transformer-proofs"
    )

"""The command `sweep` of `python -m numeric`: many checks from a file, in processes."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from .plain import plain
from .presenting import Html, Junit, only_reports_on_stdout, require_writable, write
from .processes import processes
from .progress import progress
from .report import Report
from .sweep import Result, check_many
from .table import outcome
from .usage import UsageError
from .verdict import Verdict, worst


def sweep_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="a list of objects that hold the arguments of check")
    ],
    jobs: Annotated[int, typer.Option(min=1, help="processes")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="a line of JSON for each, as it ends")] = False,
    junit: Junit = None,
    html: Html = None,
) -> None:
    """Judge many configurations, such as {"contract": "softmax", "forward": "mine:softmax", "dtype": "float32", "seed": 3}.

    Ctrl-C ends it and keeps what it has. Exit code: that of the worst verdict, 2 wrong usage, 130 stopped by Ctrl-C.
    """
    try:
        configurations = configurations_in(file)
        require_writable(junit, html)
        with only_reports_on_stdout() as out:
            reports, stopped = _swept(configurations, jobs, out, as_json)
        write(reports, junit, html)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if not as_json:
        count = Counter(str(report.verdict) for report in reports)
        told = ", ".join(f"{count[verdict]} {verdict}" for verdict in Verdict if count[verdict])
        typer.echo(f"{len(reports)} of {len(configurations)} judged: {told or 'nothing'}")
    raise typer.Exit(130 if stopped else worst(report.verdict for report in reports).exit_code)


def configurations_in(file: Path) -> list[Any]:
    """Raises UsageError."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file} is no JSON: {error}") from error
    if not isinstance(found, list) or not found:
        kind = "an empty list" if found == [] else f"a {type(found).__name__}"
        raise UsageError(f'{file} holds {kind}, needed a list such as [{{"contract": "softmax", "forward": "mine:f"}}]')
    return found


def _swept(configurations: list[Any], jobs: int, out: TextIO, as_json: bool) -> tuple[list[Report], bool]:
    """The reports, and whether Ctrl-C ended it."""
    reports: list[Report] = []
    try:
        with processes(jobs) as executor:
            for result in progress(check_many(configurations, executor), len(configurations), "checks"):
                reports.append(result[1])
                out.write(_line(result, as_json) + "\n")
                out.flush()
    except KeyboardInterrupt:
        return reports, True
    return reports, False


def _line(result: Result, as_json: bool) -> str:
    configuration, report = result
    if as_json:
        return json.dumps({"configuration": plain(configuration), "report": report.as_dict()}, allow_nan=False)
    seed = f", seed {report.seed}" if report.seed else ""
    because = f": {report.not_passed[0].message}" if report.verdict is Verdict.ERROR else outcome(report)
    return " ".join(f"{report.verdict}: {report.title}{seed}{because}".splitlines())

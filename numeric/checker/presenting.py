"""Where reports go from a command: to the terminal, as JSON, into a JUnit file, into an HTML page."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console

from .junit import junit_of
from .page import page_of
from .report import Report
from .table import WIDTH, show
from .usage import UsageError

Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="also write JUnit XML, for CI")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="also write a page with pictures")]


def require_writable(*files: Path | None) -> None:
    """Before a long run: raises UsageError where a file could not be written after it."""
    for file in files:
        if file is not None and (not file.parent.is_dir() or file.is_dir()):
            raise UsageError(f"cannot write {file}: needed a file in a folder that exists; create {file.parent} first")


def write(reports: Sequence[Report], junit: Path | None, html: Path | None) -> None:
    """Raises UsageError where the file system refuses."""
    for file, document in ((junit, junit_of), (html, page_of)):
        if file is not None:
            try:
                file.write_text(document(reports), encoding="utf-8")
            except OSError as error:
                raise UsageError(f"cannot write {file}: {error.strerror}") from error


def show_all(reports: Sequence[Report]) -> None:
    console = Console(width=WIDTH, highlight=False)
    for number, report in enumerate(reports):
        if number:
            console.rule(style="dim")
        show(report, console)


@contextlib.contextmanager
def only_reports_on_stdout() -> Iterator[TextIO]:
    """Gives the stdout for reports. Whatever else prints inside, in Python, in C or in another process, prints to stderr, lest it
    stand amid the JSON of a report."""
    sys.stdout.flush()
    try:
        is_file = sys.stdout.fileno() == 1
    except (AttributeError, OSError, ValueError):  # none, as under a test runner
        is_file = False
    if not is_file:
        reports = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):
            yield reports
        return
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
        with os.fdopen(os.dup(saved), "w", encoding="utf-8") as reports, contextlib.redirect_stdout(sys.stderr):
            yield reports
    finally:
        os.dup2(saved, 1)
        os.close(saved)

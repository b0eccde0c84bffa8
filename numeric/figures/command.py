"""The command `figures` of `python -m numeric`."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..checker.usage import UsageError, unknown
from .catalogue import LANGUAGES
from .collection import chosen, names
from .figure import Figure
from .index import INDEX, MISTAKES, documents, write


def figures_command(
    wanted: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help=f"all by default: {', '.join(names())}")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="where to; it is made if need be")] = None,
    language: Annotated[str, typer.Option("--lang", help="en or ko")] = "en",
    seed: Annotated[int, typer.Option(min=0, help="of what is drawn at random")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="the index, on stdout too")] = False,
) -> None:
    """Draw figures from what the layers compute: SVG files, an index, and the checker's mistakes as JSON.

    Exit code: 0 all are written, 1 writing failed, 2 wrong usage.
    """
    try:
        figures = chosen(wanted or ())
        if language not in LANGUAGES:
            raise unknown("language", language, LANGUAGES)
        folder = _writable(out)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    texts = _with_progress(figures, language, seed)
    try:
        write(folder, texts)
    except OSError as error:
        typer.echo(f"error: cannot write {error.filename or folder}: {error.strerror}", err=True)
        raise typer.Exit(1) from error
    typer.echo(texts[INDEX].rstrip() if as_json else _told(folder, texts))


def _writable(out: Path | None) -> Path:
    """The folder, made where there was none. Raises UsageError."""
    if out is None:
        raise UsageError("--out is missing, needed a folder for the files: --out figures")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"--out is {out}, which is a file, needed a folder; name another") from None
    except OSError as error:
        raise UsageError(f"--out is {out}, which cannot be made ({error.strerror}); name another folder") from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise UsageError(
            f"--out is {out}, where nothing may be written; name another folder, or change its permissions"
        )
    return out


def _with_progress(figures: Sequence[Figure], language: str, seed: int) -> dict[str, str]:
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    with bar:
        task = bar.add_task("figures", total=len(figures))

        def before(number: int, name: str) -> None:
            bar.update(task, completed=number, description=name)

        return documents(figures, language, seed, before)


def _told(folder: Path, texts: dict[str, str]) -> str:
    """A line for each figure with its size and theorems, and one for what goes with them."""
    lines = []
    for each in json.loads(texts[INDEX])["figures"]:
        size = len(texts[each["file"]].encode()) / 1000
        lines.append(f"{folder / each['file']} ({size:.1f} kB)")
        lines += [f"  {theorem}" for theorem in each["theorems"]]
    count = len(json.loads(texts[MISTAKES]))
    lines.append(f"{folder / INDEX}: {len(texts) - 2} figures; {folder / MISTAKES}: {count} mistakes")
    return "\n".join(lines)

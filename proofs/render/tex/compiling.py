"""From LaTeX to PDF, by latexmk in a folder of its own, which is gone afterwards however it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from ..names import RenderError

PROGRAMS = {"latexmk": "latexmk", "pdflatex": "texlive-latex-base"}  # with the Debian package that has each
RUNS = 3  # of LaTeX as a rule, until numbers and contents have settled
_LIMIT, _MORE = 120.0, 1.0  # seconds for any document, and for each of its files; a file takes a fiftieth
_COMMAND = ("latexmk", "-norc", "-pdf", "-halt-on-error", "-interaction=nonstopmode", "-file-line-error")
_READS = re.compile(r"\(\./[\w/]+\.tex\b")
_ERROR = re.compile(r"(?m)^(?:\./)?([^\s:]+\.\w+):(\d+): (.*)$")
_LINE = 10_000  # characters before TeX would break a line of its log, within a name too


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program) is None]


def compiled(
    files: Mapping[str, str], main: str, read: Callable[[int], None] = lambda count: None, limit: float | None = None
) -> bytes:
    """The PDF of the document `main`, one of these files; `read` is told how many files LaTeX has read in all its runs.

    Raises RenderError where LaTeX refuses it, or takes more than `limit` seconds: far more than usual, where none is
    given. An interruption ends every process.
    """
    limit = _LIMIT + _MORE * len(files) if limit is None else limit
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        output, found = [], 0
        with _running((*_COMMAND, main), folder, limit) as process:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line)
                found += len(_READS.findall(line))
                read(found)
        if process.returncode == -signal.SIGKILL:
            raise RenderError(
                f"latexmk was stopped: it may take {limit:.0f} s, and the memory that there is; "
                "render fewer theorems at once"
            )
        if process.returncode:
            raise RenderError(f"LaTeX refuses the document: {_first_error(''.join(output))}")
        return (folder / main).with_suffix(".pdf").read_bytes()


@contextmanager
def _running(command: tuple[str, ...], folder: Path, limit: float) -> Iterator[subprocess.Popen[str]]:
    """A program in a group of its own, so that what it starts ends with it."""
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "max_print_line": str(_LINE)}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    late = Timer(limit, _end, (process,))
    late.start()
    try:
        yield process
        process.wait()
    finally:
        late.cancel()
        _end(process)
        process.wait()


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _first_error(output: str) -> str:
    """The first error with its file and line; else the last lines, which are latexmk's own."""
    if error := _ERROR.search(output):
        return f"{error[1]}, line {error[2]}: {error[3]}"
    return " ".join(output.splitlines()[-3:])

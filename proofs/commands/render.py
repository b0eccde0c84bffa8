"""`render`: theorems as LaTeX fragments, Markdown, a document or a site; refuses any that is not what was proved."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..kernel import ProofError, Theorem
from ..registry import Claim
from ..render.catalogues import Catalogue, in_language, languages
from ..render.gate import GateError
from ..render.names import RenderError
from ..render.numbering import NUMBERINGS, ZERO_BASED, Numbering
from ..render.tex import LAYOUTS
from ..render.tex.compiling import PROGRAMS, missing_programs
from .lines import wrapped
from .outcomes import few_collections, told
from .selection import UsageError
from .targets import ENGINES, TARGETS, Request, Written

_PACKAGES = {"pdf": ["typst"], "html": ["jinja2", "math_core"]}  # of the extra that has the name of the target


class Run(NamedTuple):
    target: str
    out: Path
    written: Written
    asked: int
    problem: str | None  # why the whole was not written
    interrupted: bool
    seconds: float

    @property
    def exit_code(self) -> int:
        return 130 if self.interrupted else 1 if self.problem or self.written.refused else 0


def requested(
    target: str,
    out: Path,
    layout: str | None = None,
    language: str | None = None,
    figures: Path | None = None,
    engine: str | None = None,
    notation: str = ZERO_BASED.name,
) -> Request:
    """What the options ask for; raises UsageError for anything that there is not, before anything is tried."""
    _one_of("--to", target, TARGETS)
    if layout is not None and target != "tex":
        raise UsageError(f"--layout is for --to tex; found --to {target}")
    if figures is not None and target not in ("pdf", "html"):
        raise UsageError(f"--figures is for --to pdf and --to html; found --to {target}")
    if figures is not None and not figures.is_dir():
        raise UsageError(f"--figures {figures}: no such folder; `python -m numeric figures --out {figures}` writes it")
    _one_of("--layout", layout or "wide", LAYOUTS)
    numbering = numbered(notation)
    catalogues = _catalogues(target, language)
    if engine is not None:
        _require_engine(target, engine, catalogues[0], figures)
    if engine != "latexmk":
        _require_packages(target)
    _require_folder(out, make=target != "html")
    return Request(out, catalogues, LAYOUTS[layout or "wide"], figures, engine or "typst", numbering)


def numbered(notation: str) -> Numbering:
    """What --notation asks for; raises UsageError for anything that there is not."""
    _one_of("--notation", notation, NUMBERINGS)
    return NUMBERINGS[notation]


def _one_of(option: str, found: str, known: Iterable[str]) -> None:
    known = list(known)
    if found not in known:
        near = difflib.get_close_matches(found, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"{option} {found}: needed {' or '.join(known)}{hint}")


def _catalogues(target: str, language: str | None) -> list[Catalogue]:
    if language is None:
        return list(map(in_language, languages() if target == "html" else languages()[:1]))
    _one_of("--lang", language, languages())
    return [in_language(language)]


def _require_engine(target: str, engine: str, catalogue: Catalogue, figures: Path | None) -> None:
    if target != "pdf":
        raise UsageError(f"--engine is for --to pdf; found --to {target}")
    _one_of("--engine", engine, ENGINES)
    if engine != "latexmk":
        return
    if catalogue.language == "ko":
        raise UsageError("--engine latexmk has no Hangul font for --lang ko; --engine typst brings one")
    if figures is not None:
        raise UsageError("--engine latexmk cannot include SVG figures; leave --figures out, or use --engine typst")
    if missing := missing_programs():
        packages = " ".join(PROGRAMS[program] for program in missing)
        raise UsageError(
            f"--engine latexmk needs {' and '.join(missing)}; found none; install it with: apt-get install {packages} "
            "(Debian, Ubuntu); --engine typst needs no LaTeX"
        )


def _require_packages(target: str) -> None:
    missing = [name for name in _PACKAGES.get(target, []) if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"--to {target} needs {' and '.join(missing).replace('_', '-')}, which is not installed; install it with: "
            f"pip install 'transformer-proofs[{target}]'"
        )


def _require_folder(out: Path, make: bool) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file; name a folder")
    try:
        if make:
            out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(f"--out {out} cannot be made: {problem.strerror}") from None


def run(claims: Sequence[Claim], target: str, request: Request) -> Run:
    """Proves, then writes, and stops at Ctrl-C with what was written so far."""
    start, written = time.perf_counter(), Written()
    problem, interrupted = None, False
    few_collections()
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    try:
        with bar:
            theorems = _proved(claims, written, bar)
            if theorems:
                task = bar.add_task(f"writing {target}", total=len(theorems))
                TARGETS[target](theorems, request, written, functools.partial(_tell, bar, task))
    except KeyboardInterrupt:
        interrupted = True
    except (GateError, RenderError, ImportError, OSError) as found:
        problem = str(found)
    return Run(target, request.out, written, len(claims), problem, interrupted, time.perf_counter() - start)


def _tell(bar: Progress, task: TaskID, done: int, of: int) -> None:
    bar.update(task, completed=done, total=of)


def _proved(claims: Sequence[Claim], written: Written, bar: Progress) -> list[Theorem]:
    theorems = []
    for claim in bar.track(claims, description="proving"):
        try:
            theorems.append(claim.theorem)
        except ProofError as problem:
            written.refused[claim.name] = told(problem, claim)
    return theorems


def as_json(outcome: Run) -> str:
    written = outcome.written
    found: dict[str, Any] = {
        "to": outcome.target, "out": str(outcome.out), "files": [_relative(path, outcome) for path in written.files],
        "theorems": outcome.asked - len(written.refused), "formulas": written.formulas, "seconds": outcome.seconds,
        "refused": [{"name": name, "message": message} for name, message in written.refused.items()],
    }  # fmt: skip
    if outcome.problem:
        found["problem"] = outcome.problem
    if outcome.interrupted:
        found["interrupted"] = True
    return json.dumps(found, ensure_ascii=False, indent=2)


def _relative(path: Path, outcome: Run) -> str:
    return path.relative_to(outcome.out).as_posix()


def show(outcome: Run, console: Console) -> None:
    written = outcome.written
    for name, message in written.refused.items():
        console.print(Text(f"REFUSED {name}", "bold red"))
        for line in message.splitlines():
            wrapped(line, console, "  ")
    if outcome.problem:
        wrapped(f"error: {outcome.problem}", console, "", style="bold red")
    files, accepted = len(written.files), outcome.asked - len(written.refused)
    if outcome.interrupted:
        wrapped(f"interrupted: {_counted(files, 'file')} written to {outcome.out}", console, "", style="bold red")
    elif not outcome.problem and files:
        wrapped(f"{_counted(files, 'file')} in {outcome.out}, {outcome.seconds:.1f} s", console, "", style="bold")
        formulas = _counted(written.formulas, "formula")
        wrapped(f"{_counted(accepted, 'theorem')}, {formulas} parsed back and equal to what was proved", console, "")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

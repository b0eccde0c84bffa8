"""`check`: proves, with a progress bar, and shows a table by family or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..registry import Claim, all_claims, claims_in_file
from .lines import cropped, wrapped
from .outcomes import Row, few_collections, located, proved_rows
from .selection import UsageError, selected

_KEYS = ("name", "family", "statement", "general", "status", "seconds", "near_misses", "rules", "axioms", "uses")
_SCOPE, _SECONDS, _AXIOMS = 10, 9, 8  # widths of the columns


class Run(NamedTuple):
    """What was proved, in the order of the catalogue; `missing` are the theorems that an interruption left out."""

    rows: list[Row]
    missing: list[str]
    seconds: float

    @property
    def failed(self) -> list[Row]:
        return [r for r in self.rows if r["status"] != "proved"]

    @property
    def exit_code(self) -> int:
        return 130 if self.missing else 1 if self.failed else 0


def chosen(path: Path | None, expression: str | None) -> list[Claim]:
    """The theorems to prove; raises UsageError where there are none, or a user's file does not import."""
    return selected(all_claims() if path is None else _from_file(path), expression)


def _from_file(path: Path) -> list[Claim]:
    try:
        claims = claims_in_file(path)
    except FileNotFoundError as problem:
        if not path.is_file():
            raise UsageError(f"{path}: no such file; needed a Python file with theorems in it") from None
        raise UsageError(f"{path} does not import\n  {located(problem, str(path))}") from None
    except (Exception, SystemExit) as problem:  # a user's file may fail in any way
        raise UsageError(f"{path} does not import\n  {located(problem, str(path))}") from None
    if not claims:
        raise UsageError(f"{path} states no theorem; write one with `from proofs import theorem` and @theorem")
    return claims


def run(claims: Sequence[Claim], jobs: int, path: Path | None) -> Run:
    """Proves, and stops at Ctrl-C with what was done so far."""
    start, found = time.perf_counter(), dict[str, Row]()
    few_collections()
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    try:
        with bar, closing(proved_rows(claims, jobs, path)) as rows:
            task = bar.add_task("proving", total=len(claims))
            for row in rows:
                found[row["name"]] = row
                bar.update(task, advance=1, description=f"proving {row['family']}")
    except KeyboardInterrupt:
        pass
    done = [found[c.name] for c in claims if c.name in found]
    return Run(done, [c.name for c in claims if c.name not in found], time.perf_counter() - start)


def as_json(outcome: Run, claims: Sequence[dict[str, Any]]) -> str:
    theorems = [{k: row[k] for k in (*_KEYS, *(["message"] if "message" in row else []))} for row in outcome.rows]
    failed = len(outcome.failed)
    summary: dict[str, Any] = {"proved": len(theorems) - failed, "failed": failed, "seconds": outcome.seconds}
    if outcome.missing:
        summary["interrupted"] = True
    return json.dumps({"theorems": theorems, "claims": list(claims), "summary": summary}, ensure_ascii=False, indent=2)


# --- the table --------------------------------------------------------------------------------------------------------


def show(outcome: Run, console: Console) -> None:
    """Family by family: two lines per theorem, so that a statement has the width of the page; then what failed."""
    families = dict.fromkeys(row["family"] for row in outcome.rows)
    for family in families:
        rows = [row for row in outcome.rows if row["family"] == family]
        proved = sum(row["status"] == "proved" for row in rows)
        console.print(
            _columns(f"{family}, {proved} of {len(rows)} proved", "scope", "seconds", "axioms", console), style="bold"
        )
        for row in rows:
            _show_row(row, console)
        console.print()
    for row in outcome.failed:
        console.print(Text(f"FAILED {row['name']}", "bold red"))
        for line in row["message"].splitlines():
            wrapped(line, console, "  ")
        console.print()
    for line in _totals(outcome):
        wrapped(line, console, "", style="bold red" if outcome.exit_code else "bold")


def _columns(name: str, scope: str, seconds: str, axioms: str, console: Console) -> Text:
    left = Text(name)
    left.truncate(console.width - _SCOPE - _SECONDS - _AXIOMS - 1, overflow="ellipsis", pad=True)
    return left + Text(f" {scope:<{_SCOPE}}{seconds:>{_SECONDS}}{axioms:>{_AXIOMS}}")


def _show_row(row: Row, console: Console) -> None:
    failed = row["status"] != "proved"
    scope = "failed" if failed else "general" if row["general"] else "instance"
    name = f"  {row['name'].rpartition('.')[2]}"
    line = _columns(name, scope, f"{row['seconds']:.3f}", str(len(row["axioms"]) or "-"), console)
    console.print(line, style="red" if failed else "green", no_wrap=True)
    cropped(f"    {row['statement']}", console, "dim")


def _totals(outcome: Run) -> list[str]:
    proof, near_misses = (sum(row[k] for row in outcome.rows) for k in ("seconds", "near_miss_seconds"))
    count, refused = len(outcome.rows) - len(outcome.failed), sum(row["near_misses"] for row in outcome.rows)
    lines = [f"{count} proved, {len(outcome.failed)} failed; {refused} near misses refused"]
    lines.append(f"proofs {proof:.2f} s, near misses {near_misses:.2f} s, elapsed {outcome.seconds:.2f} s")
    axioms = dict.fromkeys(a for row in outcome.rows for a in row["axioms"])
    lines += [f"rests on {a}: {_theorems(sum(a in row['axioms'] for row in outcome.rows))}" for a in axioms]
    if outcome.missing:
        lines.append(f"interrupted: {_theorems(len(outcome.missing))} not tried, the first is {outcome.missing[0]}")
    return lines


def _theorems(count: int) -> str:
    return f"{count} theorem{'' if count == 1 else 's'}"

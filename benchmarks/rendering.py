"""How long it takes to write the whole catalogue: python benchmarks/rendering.py

Every part is written by a process of its own, which proves the catalogue first; medians over the runs. `seconds` is the time of its
processor, user and system, all threads; the ratio is to the proving in the same process, so that other work on the machine spoils
both alike. A target has its pages and the reading back of their formulas in it; figures are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
PROVING = "every theorem proved"
SCRIPT = """
import json, sys, time
from pathlib import Path
from proofs.commands.outcomes import few_collections
from proofs.commands.render import requested
from proofs.commands.targets import TARGETS, Written
from proofs.registry import all_claims
from proofs.render.gate import gated_page
from proofs.render.latex import Latex

part, out, *chosen = sys.argv[1:]
few_collections()
claims = [c for c in all_claims() if not chosen or c.family in chosen]
start, clock = time.process_time(), time.perf_counter()
theorems = [c.theorem for c in claims]
proved = time.process_time()
if part == "pages":
    for theorem in theorems:
        gated_page(theorem, Latex)
else:
    TARGETS[part](theorems, requested(part, Path(out)), Written(), lambda done, of: None)
print(json.dumps([proved - start, time.process_time() - proved, time.perf_counter() - clock]))
"""
PARTS = {
    "pages": "pages in LaTeX, printed and read back",
    "html": "site, English and Korean",
    "tex": "fragments",
    "markdown": "Markdown",
    "pdf": "document, by Typst",
}


class Cost(NamedTuple):
    """Seconds of the processor for the proofs and for what is written after them, and of the clock for both."""

    proving: float
    writing: float
    wall: float


def cost(part: str, families: list[str]) -> Cost:
    """Proves these families, or all, and writes them; where that fails, raises RuntimeError with what was said."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", SCRIPT, part, str(Path(folder) / part), *families]
        done = subprocess.run(arguments, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{part} failed:\n{done.stderr}")
    return Cost(*json.loads(done.stdout))


def measured(families: list[str], runs: int) -> dict[str, Cost]:
    """Every part once, then every one again: so that a busy minute spoils one run of each, not all runs of one."""
    console = Console(stderr=True)
    found: dict[str, list[Cost]] = {part: [] for part in PARTS}
    plan = [part for _ in range(runs) for part in PARTS]
    for part in track(plan, "runs", console=console, disable=not console.is_terminal):
        found[part].append(cost(part, families))
    return {part: Cost(*map(median, zip(*costs, strict=True))) for part, costs in found.items()}


def show(found: dict[str, Cost], console: Console) -> None:
    table = Table(title="The catalogue, proved and written")
    for column in ("", "seconds", "times the proving", "proved and written, on the clock"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row(PROVING, f"{median(c.proving for c in found.values()):.1f}", "1", "")
    for part, each in found.items():
        table.add_row(PARTS[part], f"{each.writing:.1f}", f"{each.writing / each.proving:.2f}", f"{each.wall:.1f}")
    console.print(table)


def main(
    families: Annotated[
        list[str] | None, typer.Argument(help="families, for a quick look; all where none is named")
    ] = None,
    runs: Annotated[int, typer.Option(help="runs of each part", min=1)] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    found = measured(families or [], runs)
    if as_json:
        print(json.dumps({part: each._asdict() for part, each in found.items()}, indent=2))
    else:
        show(found, Console())


if __name__ == "__main__":
    typer.run(main)

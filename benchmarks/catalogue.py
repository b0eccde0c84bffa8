"""How long the catalogue takes from a cold start: python benchmarks/catalogue.py

Every figure is of a process of its own; medians over the runs. `seconds` is the time of its one core, user and system, which
other work on the machine disturbs least; the ratios are to `python -c pass`. A family is proved with every theorem of other
families that it cites; near misses are apart from the proofs.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from proofs.registry import families

ROOT = Path(__file__).resolve().parents[1]
BASELINE, PROVED = "python -c pass", "every theorem proved"
PROVE = """
import json, sys
from proofs.registry import all_claims
claims = [c for c in all_claims() if c.family in sys.argv[1:]]
for claim in claims:
    claim.theorem
print(json.dumps({c.name: [c.seconds, c.near_miss_seconds] for c in claims}))
"""
COLD = {
    BASELINE: ("-c", "pass"),
    "import numpy": ("-c", "import numpy"),
    "import sympy": ("-c", "import sympy"),
    "import proofs": ("-c", "import proofs"),
    "the catalogue stated": ("-c", "from proofs.registry import all_claims; all_claims()"),
}
SLOWEST = 10


class Cost(NamedTuple):
    """Of one process: its core's seconds, the seconds on the clock, what it printed."""

    seconds: float
    wall: float
    printed: str


def cost(*arguments: str) -> Cost:
    """Runs Python on these arguments; where it fails, raises RuntimeError with what it said."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(used, wall, done.stdout)


def programs(chosen: list[str]) -> dict[str, tuple[str, ...]]:
    """What is timed, by name; the command itself only where all families are meant."""
    command = {"python -m proofs": ("-m", "proofs")} if chosen == list(families()) else {}
    return COLD | {PROVED: ("-c", PROVE, *chosen)} | command | {family: ("-c", PROVE, family) for family in chosen}


def measured(chosen: list[str], runs: int) -> Iterator[tuple[str, Cost]]:
    """Every program once, then every one again: so that a busy minute spoils one run of each, not all runs of one."""
    console = Console(stderr=True)
    plan = [pair for _ in range(runs) for pair in programs(chosen).items()]
    for name, arguments in track(plan, "runs", console=console, disable=not console.is_terminal):
        yield name, cost(*arguments)


def summary(chosen: list[str], runs: int) -> dict[str, Any]:
    found: dict[str, list[Cost]] = {}
    for name, each in measured(chosen, runs):
        found.setdefault(name, []).append(each)
    seconds = {name: median(c.seconds for c in costs) for name, costs in found.items()}
    proved = [json.loads(c.printed) for c in found[PROVED]]
    theorems = {t: [median(run[t][k] for run in proved) for k in (0, 1)] for t in proved[0]}
    return {
        "runs": runs,
        "seconds": seconds,
        "wall": {name: median(c.wall for c in costs) for name, costs in found.items()},
        "ratios": {name: s / seconds[BASELINE] for name, s in seconds.items()},
        "families": chosen,
        "theorems": {t: {"seconds": own, "near_miss_seconds": apart} for t, (own, apart) in theorems.items()},
    }


def show(found: dict[str, Any], console: Console) -> None:
    cold = Table(title=f"Cold start, medians of {found['runs']} runs")
    for column in ("", "seconds", "ratio", "on the clock"):
        cold.add_column(column, justify="right" if column else "left")
    for name in (n for n in found["seconds"] if n not in found["families"]):
        cold.add_row(name, *(f"{found[k][name]:.{d}f}" for k, d in (("seconds", 3), ("ratios", 0), ("wall", 3))))
    console.print(cold)
    by_family = Table(title="Families, each from a cold start with what it cites")
    for column in ("family", "theorems", "seconds", "proofs", "near misses"):
        by_family.add_column(column, justify="left" if column == "family" else "right")
    for family in found["families"]:
        own = [t for name, t in found["theorems"].items() if name.rpartition(".")[0] == family]
        parts = (sum(t[k] for t in own) for k in ("seconds", "near_miss_seconds"))
        by_family.add_row(family, str(len(own)), f"{found['seconds'][family]:.2f}", *(f"{p:.2f}" for p in parts))
    console.print(by_family)
    slowest = Table(title=f"The {SLOWEST} slowest of {len(found['theorems'])} theorems")
    for column in ("theorem", "proof, s", "near misses, s"):
        slowest.add_column(column, justify="left" if column == "theorem" else "right")
    ranked = sorted(found["theorems"].items(), key=lambda item: -item[1]["seconds"])
    for name, times in ranked[:SLOWEST]:
        slowest.add_row(name, f"{times['seconds']:.3f}", f"{times['near_miss_seconds']:.3f}")
    console.print(slowest)
    middle = median(t["seconds"] for t in found["theorems"].values())
    console.print(f"The median theorem takes {middle:.3f} s; times of single theorems are on the clock.")


def main(
    runs: Annotated[int, typer.Option(help="runs of each program", min=1)] = 3,
    only: Annotated[int, typer.Option(help="so many families, for a quick look; 0 for all", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    found = summary(list(families())[: only or None], runs)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show(found, Console())


if __name__ == "__main__":
    typer.run(main)

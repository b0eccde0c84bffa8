"""How long the catalogue takes, cold and on one core: python benchmarks/catalogue.py [--runs N] [--json]

Every figure is of a process of its own, which ran nothing before; medians over the runs. `seconds` is the time of its one core
(user and system), which other work on the machine disturbs least; ratios are to `python -c pass` on the same machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
SLOWEST = 10
IMPORTS = {
    "python -c pass": "pass",
    "import proofs": "import proofs",
    "every theorem stated": "import proofs.registry; proofs.registry.all_claims()",
    "import numpy": "import numpy",
    "import sympy": "import sympy",
}
PROVE = """
import json, sys
from proofs.registry import all_claims
claims = [c for c in all_claims() if c.family == sys.argv[1] or not sys.argv[1:][0]]
for claim in claims:
    claim.theorem
print(json.dumps({c.name: [c.seconds, c.near_miss_seconds] for c in claims}))
"""


class Cost(NamedTuple):
    """Of one process: the time of its core, the time on the clock, what it printed."""

    seconds: float
    wall: float
    printed: str


def cost(*arguments: str) -> Cost:
    """Runs Python on these arguments; raises CalledProcessError with what it printed where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, done.stdout)


def middle(costs: Sequence[Cost]) -> dict[str, float]:
    return {"seconds": median(c.seconds for c in costs), "wall": median(c.wall for c in costs)}

"""The same equations, put to SymPy and to the kernel, in one run: python benchmarks/rules_beside_sympy.py

In general    Sizes are symbols. Is `lhs - rhs` found to be 0 as it stands (definitions are unfolded, and SymPy rearranges what it
              is given), by `simplify`, by `expand().doit()`, by one after the other?
At a size     n = M = 2, 4, 6, sums written out, one value for every index: how long does `simplify` take, beside the kernel's
              whole proof, which is for every n?

Each attempt has a process of its own. SymPy gets the form that it does best with: deltas with their ranges, tables as sums of
deltas; its time is that of its core, and of the call alone. The kernel's is on the clock, which is never less.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sympy
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.attempts import attempt
from proofs.kernel import Script, Statement, check
from proofs.registry import Claim, all_claims
from proofs.sympy_form import to_sympy
from proofs.terms import IndexMap, Term

FAMILIES = ("position", "relative_position", "rotary", "softmax")  # how the names of the families begin
METHODS: dict[str, Callable[[Any], Any]] = {
    "as it stands": lambda e: e,
    "simplify": sympy.simplify,
    "expand().doit()": lambda e: e.expand().doit(),
    "both in turn": lambda e: sympy.simplify(e.expand().doit()),
}
OUTCOMES = ("settled", "left over", "wrong", "raised", "timed out", "died")
SIZES = (2, 4, 6)
KERNEL_RUNS = 3


class Try(NamedTuple):
    """SymPy on one equation: in general (size 0) or at a size. `seconds` is the limit where there is no other time."""

    name: str
    method: str
    size: int
    outcome: str
    seconds: float
    left: str = ""


class Proof(NamedTuple):
    """The kernel on one theorem, for every size."""

    name: str
    outcome: str
    check: float  # every step of it
    whole: float  # and the theorems that it cites, the near misses of all of them, random points


def equations() -> list[Claim]:
    """Those of the three subjects; one with hypotheses is left out, since SymPy would not know of them."""
    found = [c for c in all_claims() if c.family.startswith(FAMILIES)]
    return [c for c in found if c.statement.conclusion.data == "eq" and not c.statement.hypotheses]


def named(name: str) -> Claim:
    return next(c for c in equations() if c.name == name)


def sizes_of(statement: Statement, count: int) -> dict[Any, int]:
    return {s: count for s in statement.symbols() if isinstance(s, Term) and s.op == "size"}


def generic(statement: Statement, sizes: dict[Any, int]) -> dict[Any, Any]:
    """One value for every index, different ones as far as the range goes; an index map reverses its range."""
    indices = sorted((s for s in statement.symbols() if isinstance(s, Term) and s.op == "index"), key=repr)
    chosen: dict[Any, Any] = {i: k % int(to_sympy(i.args[0], sizes)) for k, i in enumerate(indices)}
    for pi in (s for s in statement.symbols() if isinstance(s, IndexMap)):
        chosen[pi] = tuple(reversed(range(int(to_sympy(pi.target, sizes)))))
    return chosen


# --- in a process of its own ------------------------------------------------------------------------------------------


def by_sympy(name: str, method: str, size: int) -> Try:
    statement = named(name).statement
    sizes = sizes_of(statement, size) if size else None
    equation = to_sympy(statement.conclusion, sizes, generic(statement, sizes) if sizes else None)
    difference = equation.lhs - equation.rhs
    start = time.process_time()
    try:
        left = METHODS[method](difference)
        outcome = "settled" if left == 0 else "wrong" if left.is_number else "left over"
    except Exception as problem:  # an error of any kind is SymPy's answer
        left, outcome = f"{type(problem).__name__}: {problem}", "raised"
    return Try(name, method, size, outcome, time.process_time() - start, str(left))


def check_seconds(name: str) -> float:
    """The kernel on every step of the proof; the theorems that it cites were proved before."""
    claim, script = named(name), Script()
    for earlier in claim.cited:
        _ = earlier.theorem
    claim.write(script)
    start = time.perf_counter()
    check(claim.statement, tuple(script.links))
    return time.perf_counter() - start


def theorem_seconds(name: str) -> float:
    """From nothing to the Theorem: what it cites, its steps, its near misses, random points for each of them."""
    claim = named(name)
    start = time.perf_counter()
    _ = claim.theorem
    return time.perf_counter() - start


# --- the run ----------------------------------------------------------------------------------------------------------


def tried(name: str, method: str, size: int, limit: float) -> Try:
    ended, value = attempt(by_sympy, name, method, size, limit=limit)
    if ended == "raised":
        raise RuntimeError(f"{name} was not put to SymPy: {value}")
    return value if ended == "returned" else Try(name, method, size, ended, limit)


def proved(name: str, limit: float) -> Proof:
    runs = {f: [attempt(f, name, limit=limit) for _ in range(KERNEL_RUNS)] for f in (check_seconds, theorem_seconds)}
    failed = [r for each in runs.values() for r in each if r.ended != "returned"]
    if failed:
        return Proof(name, f"{failed[0].ended}: {failed[0].value}", limit, limit)
    return Proof(name, "proved", *(median(r.value for r in each) for each in runs.values()))


def results(claims: list[Claim], limit: float) -> Iterator[Try | Proof]:
    console = Console(stderr=True)
    for claim in track(claims, "equations", console=console, auto_refresh=False, disable=not console.is_terminal):
        yield proved(claim.name, limit)
        for method in METHODS:
            yield tried(claim.name, method, 0, limit)
        for size in SIZES if sizes_of(claim.statement, 1) else ():
            yield tried(claim.name, "simplify", size, limit)


def summary(found: list[Try | Proof], limit: float) -> dict[str, Any]:
    proofs = {r.name: r for r in found if isinstance(r, Proof)}
    tries = [r for r in found if isinstance(r, Try)]
    general = [r for r in tries if not r.size]
    settled = {r.name for r in general if r.outcome == "settled"}
    return {
        "limit": limit,
        "sympy": sympy.__version__,
        "equations": len(proofs),
        "proved": sum(p.outcome == "proved" for p in proofs.values()),
        "general": {m: counts([r for r in general if r.method == m]) for m in METHODS} | {"any": len(settled)},
        "sizes": {
            n: at_size([r for r in tries if r.size == n], proofs)
            for n in dict.fromkeys(r.size for r in tries if r.size)
        },
        "proofs": [p._asdict() for p in proofs.values()],
        "tries": [r._asdict() for r in tries],
    }


def counts(tries: list[Try]) -> dict[str, int]:
    found = Counter(r.outcome for r in tries)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def at_size(tries: list[Try], proofs: dict[str, Proof]) -> dict[str, Any]:
    """Medians over the equations; a time-out counts as the limit, though it would have taken longer."""
    pairs = [(r.seconds, proofs[r.name]) for r in tries]
    return {
        "equations": len(tries),
        **counts(tries),
        "seconds": median(s for s, _ in pairs),
        "check_seconds": median(p.check for _, p in pairs),
        "ratio": median(s / p.check for s, p in pairs),
        "ratio_to_whole": median(s / p.whole for s, p in pairs),
        "slower": sum(s > p.check for s, p in pairs),
    }


def show(found: dict[str, Any], console: Console) -> None:
    general = Table(title=f"In general: {found['equations']} equations for symbolic sizes, the kernel and SymPy")
    for column in ("", *OUTCOMES):
        general.add_column(column, justify="right" if column else "left")
    general.add_row("kernel", str(found["proved"]), *[""] * (len(OUTCOMES) - 1))
    for method in METHODS:
        general.add_row(method, *(str(found["general"][method][o] or "") for o in OUTCOMES))
    general.add_row("any of them", str(found["general"]["any"]))
    console.print(general)
    sizes = Table(title="At a size: simplify(lhs - rhs) of one instance, beside the proof for every size")
    columns = ("n", "of", "settled", "timed out", "slower", "SymPy, s", "check, s", "ratio", "to the whole")
    for column in columns:
        sizes.add_column(column, justify="right")
    for n, row in found["sizes"].items():
        times = (
            f"{row['seconds']:.3f}",
            f"{row['check_seconds']:.3f}",
            f"{row['ratio']:.1f}",
            f"{row['ratio_to_whole']:.1f}",
        )
        sizes.add_row(str(n), *(str(row[k]) for k in ("equations", "settled", "timed out", "slower")), *times)
    console.print(sizes)
    console.print(
        "Medians. The kernel is handed a proof, which a person wrote, and checks it for every n; SymPy is handed a difference and "
        "asked whether it is 0, which is harder. `ratio` is the time of one instance in SymPy by that of checking every step, and "
        "`slower` how often it is above 1; the last column is by the time from nothing to the theorem: all theorems that it "
        f"cites, near misses and random points of each. A time-out counts as {found['limit']:g} s. SymPy {found['sympy']}; a fresh process per attempt."
    )


def main(
    limit: Annotated[float, typer.Option(help="seconds for each attempt", min=0.1)] = 20,
    only: Annotated[int, typer.Option(help="so many equations, spread over the catalogue; 0 for all", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="plain data, every attempt included")] = False,
) -> None:
    claims = equations()
    chosen = claims[:: max(1, len(claims) // only)][:only] if only else claims
    found = summary(list(results(chosen, limit)), limit)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show(found, Console())
    failed = [p for p in found["proofs"] if p["outcome"] != "proved"]
    for proof in failed:
        print(f"not proved: {proof['name']}: {proof['outcome']}", file=sys.stderr)
    raise typer.Exit(code=1 if failed else 0)


if __name__ == "__main__":
    typer.run(main)

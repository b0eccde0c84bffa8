"""Proves claims, here or in several processes, and says in plain data how it went.

A Theorem cannot leave its process, so what comes back is a dict: the row of a table and of the JSON.
"""

from __future__ import annotations

import atexit
import functools
import gc
import multiprocessing
import signal
import traceback
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..kernel import ProofError, Theorem
from ..registry import Claim, all_claims, claims_in_file
from ..render.names import Notation, RenderError
from ..render.theorem import one_line, presentable, shortened
from ..render.unicode import Unicode
from .shares import shared_out

Row = dict[str, Any]


def proved_rows(claims: Sequence[Claim], jobs: int, path: Path | None) -> Generator[Row, None, None]:
    """One row per claim, as each is done; `path` is the user's file that states them, if they are not the catalogue's."""
    if jobs == 1:
        yield from map(row, claims)
        return
    shares = shared_out(claims, jobs)
    with _processes(len(shares)) as pools:
        waiting = [
            pool.submit(_rows_of, [c.name for c in piece], path)
            for pool, share in zip(pools, shares, strict=True)
            for piece in share
        ]
        for done in as_completed(waiting):
            yield from done.result()


@contextmanager
def _processes(jobs: int) -> Iterator[list[ProcessPoolExecutor]]:
    """One pool of one process each, since a process keeps what it has proved."""
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    pools = [ProcessPoolExecutor(1, spawn, initializer=_left_to_parent) for _ in range(jobs)]
    try:
        yield pools
    except BaseException:
        started = set(multiprocessing.active_children()) - others
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.terminate()
        for process in started:
            process.join()
        raise
    for pool in pools:
        pool.shutdown()


def _left_to_parent() -> None:
    """Ctrl-C reaches every process of a terminal; the parent alone decides what it means."""
    few_collections()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _rows_of(names: list[str], path: Path | None) -> list[Row]:
    known = {c.name: c for c in _claims(path)}
    return [row(known[name]) for name in names]


def few_collections() -> None:
    """Terms are many and in no cycles; looking for some, also on the way out, took a fifth of the time."""
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)


@functools.cache
def _claims(path: Path | None) -> tuple[Claim, ...]:
    return tuple(all_claims() if path is None else claims_in_file(path))


def row(claim: Claim) -> Row:
    """How the proof of one claim went."""
    found: Row = {"name": claim.name, "family": claim.family, "statement": "", "general": None}
    try:
        found["statement"] = one_line(claim.statement)
        theorem = claim.theorem
        found |= {"general": theorem.is_general, "status": "proved", "near_misses": len(theorem.near_misses),
                  "rules": list(theorem.rules), "axioms": [a.name for a in axioms_of(theorem)],
                  "uses": [t.name for t in theorem.uses]}  # fmt: skip
    except Exception as problem:  # a proof is a user's code, and may fail in any way
        found |= {
            "status": "failed",
            "near_misses": 0,
            "rules": [],
            "axioms": [],
            "uses": [],
            "message": told(problem, claim),
        }
    return found | {"seconds": claim.seconds, "near_miss_seconds": claim.near_miss_seconds}


def told(problem: Exception, claim: Claim) -> str:
    """The message of a failure with what is left over, or the error with its line in the file of the proof."""
    if not isinstance(problem, ProofError):
        return located(problem, claim.write.__code__.co_filename)
    message = str(problem)
    if problem.residue is None:
        return message
    residue = presentable(problem.residue)
    try:
        printed = Unicode(Notation.of(residue))(residue)
    except RenderError as unprintable:
        return f"{message} (not printed: {unprintable})"
    return f"{shortened(message, problem.residue)}: {printed}"


def located(problem: BaseException, file: str) -> str:
    """An error and the line of a file that it came from."""
    line, text, here = None, "", Path(file).resolve()
    if isinstance(problem, SyntaxError) and problem.filename and Path(problem.filename).resolve() == here:
        line, text = problem.lineno, (problem.text or "").strip()
    for frame in traceback.extract_tb(problem.__traceback__):
        if Path(frame.filename).resolve() == here:
            line, text = frame.lineno, frame.line or ""
    said = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    where = f"{file}, line {line}" if line else file
    return f"{where}: {type(problem).__name__}: {said}" + (f"\n    {text}" if text else "")


def earlier_of(theorem: Theorem) -> list[Theorem]:
    """What a theorem rests on, through all that it cites: those first that it cites first."""
    found: dict[Theorem, None] = {}

    def visit(cited: Theorem) -> None:
        if cited not in found:
            found[cited] = None
            for deeper in cited.uses:
                visit(deeper)

    for cited in theorem.uses:
        visit(cited)
    return list(found)


def axioms_of(theorem: Theorem) -> list[Theorem]:
    return [t for t in earlier_of(theorem) if t.is_axiom]

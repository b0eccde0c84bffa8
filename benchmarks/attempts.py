"""One attempt in one process: nothing is cached from the attempt before, and a limit ends what does not come back."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

_START = 120  # seconds that a process may take to import what it needs; not counted as its own
_CONTEXT = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


class Attempt(NamedTuple):
    """How it ended: returned, raised, timed out or died; and what it returned, or the message."""

    ended: str
    value: Any


def attempt(function: Callable[..., Any], *arguments: Any, limit: float) -> Attempt:
    """Runs a function of a module in a process of its own; what it returns must pickle."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(_START):
            raise TimeoutError(f"{function.__name__}: its process did not start within {_START} s")
        receiver.recv()
        return receiver.recv() if receiver.poll(limit) else Attempt("timed out", f"after {limit:g} s")
    except EOFError:
        return Attempt("died", "the process ended without a word")
    finally:
        process.kill()
        process.join()
        receiver.close()


def _run(sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    sender.send("started")
    try:
        sender.send(Attempt("returned", function(*arguments)))
    except Exception as problem:  # whatever SymPy raises is a result here
        sender.send(Attempt("raised", f"{type(problem).__name__}: {problem}"))

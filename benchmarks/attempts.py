"""One attempt in one process: nothing is cached from the attempt before, and a limit ends what does not come back.

The limit is on the time of the process's own core where the system can set one, so that other work on the machine counts little.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

_START = 120  # seconds that a process may take to import what it needs; not counted as its own
_PATIENCE = 6  # times the limit on the clock, for a busy machine
_CONTEXT = multiprocessing.get_context("fork") if sys.platform == "linux" else multiprocessing.get_context("spawn")


class Attempt(NamedTuple):
    """How it ended: returned, raised, timed out or died; and what it returned, or the message."""

    ended: str
    value: Any


def attempt(function: Callable[..., Any], *arguments: Any, limit: float) -> Attempt:
    """Runs a function of a module in a process of its own; what it returns must pickle. `limit` is in seconds."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(sender, limit, function, arguments), daemon=True)
    process.start()
    sender.close()
    timed_out = Attempt("timed out", f"after {limit:g} s")
    try:
        if not receiver.poll(_START):
            raise TimeoutError(f"{function.__name__}: its process did not start within {_START} s")
        receiver.recv()
        return receiver.recv() if receiver.poll(_PATIENCE * limit) else timed_out
    except EOFError:
        process.join()
        ended_by_limit = process.exitcode == -getattr(signal, "SIGXCPU", 0)
        return timed_out if ended_by_limit else Attempt("died", f"exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()
        receiver.close()


def _run(sender: Connection, limit: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    _limit_core(limit)
    sender.send("started")
    try:
        sender.send(Attempt("returned", function(*arguments)))
    except Exception as problem:  # the caller decides what an error means
        sender.send(Attempt("raised", f"{type(problem).__name__}: {problem}"))


def _limit_core(limit: float) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system: the limit on the clock remains
        return
    seconds = math.ceil(time.process_time() + limit)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))

"""One run at a time in a process: the precision of balls and NumPy's and Python's warnings are settings that threads share.

So runs in threads take turns, as they do in a Dask worker with several; to run at the same time they need processes.
"""

import os
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Turn:
    def __init__(self) -> None:
        self.lock = threading.Lock()


TURN = _Turn()
MINE: ContextVar[bool] = ContextVar("MINE", default=False)  # reaches the thread that makes this run's calls
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURN.__init__)  # type: ignore[misc]  # a forked child has no thread to give the turn back


def taking_turns(run: Callable[P, R]) -> Callable[P, R]:
    """The same function, waiting for any other such run to end. A run inside a run is part of it, and does not wait."""

    @wraps(run)
    def in_turn(*arguments: P.args, **keywords: P.kwargs) -> R:
        if MINE.get():
            return run(*arguments, **keywords)
        with TURN.lock:
            token = MINE.set(True)
            try:
                return run(*arguments, **keywords)
            finally:
                MINE.reset(token)

    return in_turn

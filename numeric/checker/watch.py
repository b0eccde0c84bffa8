"""Runs foreign code under a time limit, and turns whatever it does into a result or an exception that can be told."""

import contextvars
import ctypes
import os
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

TIME_LIMIT = 60.0  # seconds for one call


class BrokenCall(Exception):
    """A call that gave nothing to judge; the message says what happened."""


class OutOfTime(BrokenCall):
    """It did not come back. Nothing more is asked of it."""


class Worker:
    """A thread that makes one call after another, so that a call does not cost the start of a thread."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._done: SimpleQueue[None] = SimpleQueue()
        self._abandoned = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._abandoned:
            self._calls.get()()
            self._done.put(None)

    def finishes(self, call: Callable[[], None]) -> bool:
        """Has it come back within the limit? If not, the thread is told to exit, and must not be used again.

        That stops a loop in Python; one in C runs on until the process ends, though it no longer keeps anyone waiting.
        """
        self._calls.put(call)
        try:
            self._done.get(timeout=TIME_LIMIT)
        except Empty:
            self._abandoned = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(SystemExit)
            )
            return False
        return True


IDLE: list[Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=IDLE.clear)  # a forked child has none of its parent's threads


def watched(call: Callable[[], Any], what: str) -> Any:
    """The result of `call()`. Raises BrokenCall if it raises anything at all, OutOfTime after TIME_LIMIT seconds."""
    outcome: dict[str, Any] = {}

    process = os.getpid()

    def work() -> None:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome["result"] = call()
        except BaseException as error:  # SystemExit and the like must not end the checker
            outcome["error"] = error
        if os.getpid() != process:
            os._exit(1)  # a child that it forked has come back from the call too, and must not go on with the run

    context = contextvars.copy_context()
    worker = IDLE.pop() if IDLE else Worker()
    if not worker.finishes(lambda: context.run(work)):
        raise OutOfTime(f"{what} did not return within {TIME_LIMIT:g} s; the run stopped there")
    IDLE.append(worker)
    if "error" in outcome:
        raise BrokenCall(f"{what} raised {told(outcome['error'])}") from outcome["error"]
    return outcome["result"]


def told(error: BaseException) -> str:
    """An exception in one line: its type, its message, and the last line of code it passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = (
        not frames or Path(frames[-1].filename).parent == Path(__file__).parent
    )  # raised by a built-in that we called
    place = "" if ours else f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = "(its message cannot be printed)"
    return f"{type(error).__name__}{': ' + message if message else ''}{place}"

"""Runs foreign code under a time limit, and turns whatever it does into a result or an exception that can be told."""

import contextvars
import ctypes
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TIME_LIMIT = 60.0  # seconds for one call


class BrokenCall(Exception):
    """A call that gave nothing to judge; the message says what happened."""


class OutOfTime(BrokenCall):
    """It did not come back. Nothing more is asked of it."""


def watched(call: Callable[[], Any], what: str) -> Any:
    """The result of `call()`. Raises BrokenCall if it raises anything at all, OutOfTime after TIME_LIMIT seconds.

    It runs in a thread of its own. One that does not come back is told to exit, which stops a loop in Python; a loop in C
    runs on until the process ends, though it no longer keeps anyone waiting.
    """
    outcome: dict[str, Any] = {}

    def work() -> None:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome["result"] = call()
        except BaseException as error:  # SystemExit and the like must not end the checker
            outcome["error"] = error

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    thread.join(TIME_LIMIT)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
        raise OutOfTime(f"{what} did not return within {TIME_LIMIT:g} s; the run stopped there")
    if "error" in outcome:
        raise BrokenCall(f"{what} raised {told(outcome['error'])}") from outcome["error"]
    return outcome["result"]


def told(error: BaseException) -> str:
    """An exception in one line: its type, its message, and the last line of code it passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' + message if message else ''}{place}"

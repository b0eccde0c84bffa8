import threading
import time

import pytest

from numeric.checker import watch
from numeric.checker.watch import BrokenCall, OutOfTime, told, watched


def test_the_result_comes_back():
    assert watched(lambda: 42, "it") == 42


def raises(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("odd  width\n5"), r"it raised ValueError: odd width 5 \(test_watch.py, line \d+\)"),
        (SystemExit(3), "it raised SystemExit: 3"),
        (RecursionError(), "it raised RecursionError"),
    ],
)
def test_whatever_it_raises_is_told_in_one_line(error, message):
    with pytest.raises(BrokenCall, match=message):
        watched(raises(error), "it")


def test_a_call_that_does_not_return_is_left_and_stopped(monkeypatch):
    monkeypatch.setattr(watch, "TIME_LIMIT", 0.1)
    stopped = threading.Event()

    def endless():
        try:
            while True:
                time.sleep(0.01)
        finally:
            stopped.set()

    with pytest.raises(OutOfTime, match=r"it did not return within 0.1 s; the run stopped there"):
        watched(endless, "it")
    assert stopped.wait(5)
    assert watched(lambda: "the next call", "it") == "the next call"


def test_a_worker_is_used_again():
    first = watched(threading.get_ident, "it")
    assert watched(threading.get_ident, "it") == first != threading.get_ident()


def test_a_nested_call_gets_a_worker_of_its_own():
    inner, outer = watched(lambda: (watched(threading.get_ident, "it"), threading.get_ident()), "it")
    assert inner != outer


def test_an_exception_without_a_traceback_is_told():
    assert told(KeyError("x")) == "KeyError: 'x'"


def test_an_exception_that_cannot_be_printed_is_told():
    class Unprintable(Exception):
        def __str__(self):
            raise RuntimeError

    assert told(Unprintable()) == "Unprintable: (its message cannot be printed)"

import multiprocessing
import time

import pytest

from numeric.checker.processes import processes


def test_what_they_compute_comes_back_in_order():
    with processes(2) as executor:
        assert list(executor.map(abs, [-3, 2, -1])) == [3, 2, 1]


def interrupted():
    with processes(2) as executor:
        for _ in range(4):
            executor.submit(time.sleep, 60)
        raise KeyboardInterrupt


def test_an_interrupt_ends_what_runs():
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - started < 30
    assert not multiprocessing.active_children()

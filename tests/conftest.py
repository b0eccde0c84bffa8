"""Which tests run by default, and what becomes of one whose package is missing.

`--all` runs everything. Without it, a test marked `slow` waits, and of a parametrised test only a few cases run: as many as
its mark `cases(n)` says, or else its folder (`CASES`), one of each of so many equal stretches of the list, the same ones in
every run. `cases(inf)` keeps them all, and so does a folder of which every case counts: the proofs and what they rest on.

A test whose package is missing is skipped, or fails with `--require-packages`.
"""

import gc
import os
from collections import defaultdict
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random

import pytest
from _pytest.runner import pytest_make_collect_report as collect_report

HERE = Path(__file__).parent
CASES = {".": 2, "numeric/checker": 1, "proofs": inf, "proofs/render": 2}  # by default, of a parametrised test
LEFT_OUT = pytest.StashKey[int]()
WORKER_KEY = "tests_left_out"


def pytest_addoption(parser):
    group = parser.getgroup("transformer-proofs")
    group.addoption("--all", action="store_true", help="run the slow tests as well, and every case of the others")
    group.addoption("--require-packages", action="store_true", help="a test that a missing package would skip fails")


def pytest_configure(config):
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # there are as many processes as cores; NumPy is imported after this
    config.stash[LEFT_OUT] = 0


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected lives to the end: the garbage collector need not go through it, neither now nor in every test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)  # so that others need not go through what is dropped
def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    kept = by_default(items)
    left_out = [item for item in items if item not in kept]
    config.stash[LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item in kept]


def by_default(items):
    tests = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            tests[item.nodeid.partition("[")[0]].append(item)
    return {item for name, cases in tests.items() for item in spread(cases, most(cases[0]), name)}


def most(item):
    """How many cases of its test run by default."""
    mark = item.get_closest_marker("cases")
    folders = (folder.as_posix() for folder in item.path.relative_to(HERE).parents)
    return mark.args[0] if mark else next(CASES[folder] for folder in folders if folder in CASES)


def spread(cases, count, seed):
    """One of each of `count` equal stretches; not each time the same place, which would pick one dtype of every product."""
    count, random = min(count, len(cases)), Random(seed)
    return [cases[random.randrange(*ends)] for ends in pairwise(k * len(cases) // count for k in range(count + 1))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    missing = call.excinfo is not None and isinstance(call.excinfo.value, pytest.skip.Exception)
    if missing and item.config.getoption("--require-packages"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and --require-packages allows no skip: {call.excinfo.value}"
    return report


def pytest_make_collect_report(collector):
    """A module-level skip for a missing package fails too, where no skip is allowed."""
    report = collect_report(collector)
    if report.outcome == "skipped" and collector.config.getoption("--require-packages"):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and --require-packages allows no skip: {report.longrepr}"
    return report


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[WORKER_KEY] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every worker process collects the same tests, so one of their counts is the count."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get(WORKER_KEY, 0)


def pytest_terminal_summary(terminalreporter, config):
    skipped, left_out = len(terminalreporter.stats.get("skipped", [])), config.stash[LEFT_OUT]
    if skipped or left_out:
        terminalreporter.write_line(
            f"not run: {skipped} for want of a package (-rs names them), {left_out} slow ones and further cases (--all runs them)"
        )

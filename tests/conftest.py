"""Which tests run: slow ones with --all; a test whose package is missing is skipped, or fails with --require-packages."""

import os

import pytest
from _pytest.runner import pytest_make_collect_report as collect_report

LEFT_OUT = pytest.StashKey[int]()
WORKER_KEY = "slow_tests_left_out"


def pytest_addoption(parser):
    group = parser.getgroup("transformer-proofs")
    group.addoption("--all", action="store_true", help="run the slow tests as well")
    group.addoption("--require-packages", action="store_true", help="a test that a missing package would skip fails")


def pytest_configure(config):
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # there are as many processes as cores; NumPy is imported after this
    config.stash[LEFT_OUT] = 0


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.stash[LEFT_OUT] = len(slow)
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


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
            f"not run: {skipped} for want of a package (-rs names them), {left_out} slow ones (--all runs them)"
        )

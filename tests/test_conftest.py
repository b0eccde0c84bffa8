"""The flags of the test run: slow tests, and tests whose package is missing."""

from pathlib import Path

import pytest

pytest_plugins = "pytester"
CONFTEST = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")

TESTS = """
import pytest

def test_fast():
    assert True

@pytest.mark.slow
def test_slow():
    assert True

def test_with_a_package():
    pytest.importorskip("no_such_package_at_all")
"""

MODULE = """
import pytest

pytest.importorskip("no_such_package_at_all")

def test_in_a_module_that_needs_it():
    assert True
"""


@pytest.fixture
def project(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nmarkers = slow")
    pytester.makepyfile(test_some=TESTS)
    return pytester


@pytest.mark.parametrize("processes", [[], ["-n", "2"]], ids=["one process", "two processes"])
def test_slow_tests_wait_for_all(project, processes):
    done = project.runpytest_subprocess(*processes)
    done.assert_outcomes(passed=1, skipped=1, deselected=0 if processes else 1)
    done.stdout.fnmatch_lines(["not run: 1 for want of a package (-rs names them), 1 slow ones (--all runs them)"])


def test_all_runs_the_slow_ones(project):
    project.runpytest_subprocess("--all").assert_outcomes(passed=2, skipped=1)


def test_no_skip_where_packages_are_required(project):
    done = project.runpytest_subprocess("--require-packages")
    done.assert_outcomes(passed=1, failed=1, deselected=1)
    done.stdout.fnmatch_lines(["*--require-packages allows no skip*no_such_package_at_all*"])


def test_no_skip_of_a_module_either(project):
    project.makepyfile(test_module=MODULE)
    done = project.runpytest_subprocess("--require-packages")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*--require-packages allows no skip*"])

"""Which tests run: slow ones, some cases of many, and those whose package is missing."""

from collections import Counter
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest

from .conftest import CASES, spread

pytest_plugins = "pytester"
CONFTEST = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")
SOME = CASES["."]

TESTS = """
import pytest

def test_fast():
    assert True

@pytest.mark.slow
def test_slow():
    assert True

@pytest.mark.parametrize("number", range(20))
def test_of_many_cases(number):
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
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  cases")
    pytester.makepyfile(test_some=TESTS)
    return pytester


@pytest.mark.parametrize("processes", [[], ["-n", "2"]], ids=["one process", "two processes"])
def test_slow_tests_and_further_cases_wait_for_all(project, processes):
    done = project.runpytest_subprocess(*processes)
    left_out = 21 - SOME
    done.assert_outcomes(passed=1 + SOME, skipped=1, deselected=0 if processes else left_out)
    counts = f"1 for want of a package (-rs names them), {left_out} slow ones and further cases (--all runs them)"
    done.stdout.fnmatch_lines([f"not run: {counts}"])


def test_all_runs_them(project):
    project.runpytest_subprocess("--all").assert_outcomes(passed=22, skipped=1)


def test_no_skip_where_packages_are_required(project):
    done = project.runpytest_subprocess("--require-packages")
    done.assert_outcomes(passed=1 + SOME, failed=1, deselected=21 - SOME)
    done.stdout.fnmatch_lines(["*--require-packages allows no skip*no_such_package_at_all*"])


def test_no_skip_of_a_module_either(project):
    project.makepyfile(test_module=MODULE)
    done = project.runpytest_subprocess("--require-packages")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*--require-packages allows no skip*"])


MANY = """
import pytest

numbers = pytest.mark.parametrize("number", range(40))

@numbers
def test_as_its_folder_says(number): ...

@numbers
@pytest.mark.cases(25)
def test_as_its_mark_says(number): ...

@numbers
@pytest.mark.cases(float("inf"))
def test_whole(number): ...

@pytest.mark.parametrize("number", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 40))])
def test_that_is_slow_but_once(number): ...

class TestOne:
    @numbers
    def test_in_a_class(self, number): ...

class TestOther:
    @numbers
    def test_in_a_class(self, number): ...
"""
FOLDERS = {"": ".", "benchmarks": ".", "numeric": ".", "numeric/checker/contracts": "numeric/checker",
           "proofs": "proofs", "proofs/rules": "proofs", "proofs/render/site": "proofs/render"}  # fmt: skip


def test_as_many_cases_run_as_the_mark_or_the_folder_says(project):
    for folder in FOLDERS:
        path = project.path / folder / f"test_in_{folder.replace('/', '_')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MANY, encoding="utf-8")
    lines = project.runpytest_subprocess("--collect-only", "-q").outlines
    found = Counter(line.partition("[")[0] for line in lines if "[" in line)
    for folder, by in FOLDERS.items():
        file = f"{folder}/test_in_{folder.replace('/', '_')}.py".removeprefix("/")
        some = min(CASES[by], 40)
        counts = {
            "test_as_its_folder_says": some, "test_as_its_mark_says": 25, "test_whole": 40, "test_that_is_slow_but_once": 1,
            "TestOne::test_in_a_class": some, "TestOther::test_in_a_class": some,
        }  # fmt: skip
        assert {name: found[f"{file}::{name}"] for name in counts} == counts


def test_a_case_that_is_asked_for_runs(project):
    project.runpytest_subprocess("test_some.py::test_of_many_cases[17]").assert_outcomes(passed=1)


@pytest.mark.cases(inf)
@pytest.mark.parametrize(("length", "count"), [(400, 25), (17, 4), (5, 4), (4, 4), (4, 9), (1, 1)])
def test_cases_are_spread_over_the_list(length, count):
    """One of each stretch, in order, and the same each time."""
    found = spread(range(length), count, "a test")
    assert list(found) == list(spread(range(length), count, "a test"))
    kept = min(length, count)
    ends = [k * length // kept for k in range(kept + 1)]
    assert all(low <= place < high for place, (low, high) in zip(found, pairwise(ends), strict=True))


def test_no_stride_falls_in_with_the_order_of_the_cases():
    products = [(number, dtype) for number in range(100) for dtype in "abcd"]
    counts = Counter(dtype for name in "abc" for _, dtype in spread(products, 50, name))
    assert set(counts) == set("abcd") and min(counts.values()) > 20

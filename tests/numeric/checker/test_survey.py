"""A library's subjects in a line each: none is listed as passed that was not judged, and the worst verdict is the exit code."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from numeric.__main__ import app
from numeric.checker import UsageError, subjects
from numeric.checker.ready import Ready
from numeric.checker.survey import Surveyed, survey, surveyed

LIBRARY = """
import numpy as np
from numeric.checker.ready import Ready


def softmax(z, axis=-1):
    p = np.exp(z - z.max(axis, keepdims=True))
    return p / p.sum(axis, keepdims=True)


def ready():
    return [
        Ready("nn.functional.softmax", "softmax", softmax),
        Ready("softmax_of_rows", "softmax", lambda z: softmax(z, -1), {"axis": -1}),
        Ready("wrong", "softmax", lambda z, axis=-1: np.log(softmax(z, axis))),
        Ready("of_the_future", "time_travel", softmax),
    ]
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Subjects in a folder searched beside our own, for the adapter of NumPy."""
    (tmp_path / "numpy.py").write_text(LIBRARY)
    monkeypatch.setattr(subjects, "__path__", [*subjects.__path__, str(tmp_path)])


def run(*arguments):
    return CliRunner().invoke(app, ["check", *arguments])


def test_each_subject_has_its_line_and_the_worst_verdict_counts(library):
    result = run("numpy")
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [
        ["pass", "softmax"],
        ["pass", "softmax_of_rows"],
        ["fail", "wrong"],
    ]
    assert lines[3].startswith("not run      of_the_future")
    assert lines[3].endswith("there is no contract time_tra…")
    assert "softmax.logarithm" in lines[2] and "inf" in lines[2]
    assert max(map(len, lines[:4])) <= 80
    assert "verdict: fail" in lines
    assert "as softmax in float64: fail" in result.stdout and "it returns the logarithm of softmax" in result.stdout
    assert result.exit_code == 1


@pytest.mark.slow
def test_json_has_all_of_it_and_nothing_that_was_not_run_passes(library):
    result = run("numpy", "--json", "--dtype", "float32")
    told = json.loads(result.stdout)
    assert [each["verdict"] for each in told] == ["pass", "pass", "fail", "not run"]
    assert told[0]["subject"] == "numpy.nn.functional.softmax"
    assert told[0]["report"]["dtype"] == "float32"
    assert told[3]["report"] is None
    assert told[3]["reason"] == "there is no contract time_travel"


def test_what_was_not_run_is_not_known():
    one = surveyed("numpy", Ready("of_the_future", "time_travel", np.sin))
    assert (one.verdict, one.ratio, one.report) == ("inconclusive", None, None)


def test_options_that_are_built_in_are_fixed(library):
    first, second, *_ = survey("numpy")
    assert first.report.finding("option temperature").verdict == "not run"
    assert second.report.options == {"axis": -1}
    left = [each.check for each in first.report.findings if not each.ran]
    assert first.reason == f"all checks but {len(left)}, not run" and "gradients" in left
    assert 0 < first.ratio < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tensorflow"], "unknown group of subjects 'tensorflow'"),
        (["mine:softmax"], "mine:softmax needs a contract to be judged by: --as CONTRACT"),
        (["torch", "--probe", "ties"], "check torch judges all its subjects, each with its own options"),
        (["torch", "--accept", "gelu.tanh"], "check torch judges all its subjects, each with its own options"),
    ],
)
def test_wrong_use_is_told(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_library_that_is_not_installed_is_told(library, tmp_path, monkeypatch):
    monkeypatch.setattr("numeric.checker.adapter.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the package jax, which is not installed; install it first"):
        list(survey("jax"))


def test_a_long_line_is_cut():
    line = Surveyed("numpy", Ready("x" * 60, "time_travel", np.sin), None, "because " * 20).line
    assert len(line) == 80 and line.count("…") == 2

"""python -m numeric gradients: the table of 80 columns, JSON, exit codes."""

import json

import pytest
from typer.testing import CliRunner

from numeric.__main__ import app
from numeric.layers import rms_norm, softmax


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, ["gradients", *map(str, arguments)])


def test_the_table(run):
    result = run("-k", "softmax or rms_norm")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["layer", "case", "numbers", "exact", "difference", "complex", "step"]
    first = lines[1].split()
    assert first[:3] == ["softmax", "rows", "12"] and float(first[3]) < 1e-40
    assert 0 < float(first[4]) <= 1 and 0 < float(first[5]) < 1e-9 and float(first[7]) < 1e-12
    assert lines[2].split()[0] == "columns_cooler"
    assert lines[-1] == "Cases whose gradients agree in all three ways: 6 of 6"


def test_json(run):
    result = run("--json", "--seed", 3, "-k", "softmax.rows and not log")
    assert result.exit_code == 0
    data = json.loads(result.output)
    assert (data["verdict"], data["seed"], data["expression"]) == ("agrees", 3, "softmax.rows and not log")
    (case,) = data["cases"]
    assert case["layer"] == "softmax" and case["case"] == "rows" and case["parameters"] == 12 and case["entry_by_entry"]
    assert case["widest_radius"] < 1e-40 and case["difference_ratio"] <= 1 and case["complex_step_ratio"] <= 1
    assert case["step"] == 2.0**-17 and case["difference_floor"] < 1e-9 and case["complex_step_bound"] < 1e-12
    assert case["findings"] == [] and data["layers_without_case"] == []


def test_a_wrong_gradient_exits_1_and_is_told(run, monkeypatch):
    right = softmax.backward
    monkeypatch.setattr(softmax, "backward", lambda dy, cache: -right(dy, cache))
    result = run("-k", "softmax")
    assert result.exit_code == 1
    assert "softmax.rows disagrees: exact: d z[0, 0]: forward's derivative is" in result.output
    assert "more such findings; --json has them all" in result.output
    assert "Cases whose gradients agree in all three ways: 2 of 4" in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    data = json.loads(run("--json", "-k", "softmax.rows and not log").output)
    assert data["verdict"] == "disagrees" and len(data["cases"][0]["findings"]) == 14


def test_infinite_numbers_are_null_in_json(run, monkeypatch):
    right = rms_norm.forward

    def undecided(x, *parameters):
        if x.dtype == float:
            x = x + 1e9 - 1e9
        return right(x, *parameters)

    monkeypatch.setattr(rms_norm, "forward", undecided)
    result = run("--json", "-k", "rms_norm.rows")
    (case,) = json.loads(result.output)["cases"]
    assert result.exit_code == 1 and case["difference_floor"] is None


def test_a_case_that_raises_has_empty_cells(run, monkeypatch):
    def raises(*arguments):
        raise RuntimeError("planted")

    monkeypatch.setattr(rms_norm, "backward", raises)
    result = run("-k", "rms_norm.rows")
    assert result.exit_code == 1
    assert "rms_norm.rows disagrees: raised RuntimeError: planted" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "sofmax"], "error: -k 'sofmax' matches none of the"),
        (["-k", "softmax and"], "error: -k 'softmax and' is no expression"),
        (["--seed", -1], "Invalid value for '--seed'"),
    ],
)
def test_wrong_use_exits_2(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output + result.stderr
    assert "Traceback" not in result.output + result.stderr


@pytest.mark.slow
def test_everything_agrees(run):
    result = run()
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert "Layers without a case" not in result.output

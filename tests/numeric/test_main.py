"""python -m numeric: exit codes, tables, JSON, and messages for wrong use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from numeric.__main__ import app

SUBJECTS = """
import numpy as np


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def backward(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def identity(dy, z, axis=-1, temperature=1.0):
    return dy.copy()


def wrong_axis(z, axis=-1, temperature=1.0):
    return softmax(z, 0, temperature)


def random(z):
    return softmax(z) * np.random.default_rng().random()


def nothing(z):
    pass
"""
FEW = ["--probe", "generic*draw 0", "--probe", "slices sum to 1"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "subjects_for_a_test.py").write_text(SUBJECTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])
    sys.modules.pop("subjects_for_a_test", None)


def check(name, *more):
    return "check", f"subjects_for_a_test:{name}", "--as", "softmax", *FEW, *more


@pytest.mark.parametrize(
    ("name", "code", "verdict"),
    [("softmax", 0, "pass"), ("wrong_axis", 1, "fail"), ("nothing", 1, "error"), ("random", 3, "inconclusive")],
)
def test_the_exit_code_is_that_of_the_verdict(run, name, code, verdict):
    result = run(*check(name))
    assert result.exit_code == code
    assert result.output.startswith(f"{verdict}: ")
    assert max(map(len, result.output.splitlines())) <= 80


def test_a_backward_is_found_beside_its_forward(run):
    right = run(*check("softmax", "--backward", "backward"))
    assert right.exit_code == 0
    assert run(*check("softmax", "--backward", "subjects_for_a_test:identity")).exit_code == 1


def test_json_is_the_report(run):
    result = run(*check("wrong_axis", "--json", "--seed", 3, "--dtype", "float32", "--option", "temperature=0.5"))
    data = json.loads(result.output)
    assert result.exit_code == 1
    assert (data["verdict"], data["seed"], data["dtype"], data["options"]) == (
        "fail",
        3,
        "float32",
        {"temperature": 0.5},
    )
    assert {finding["check"]: finding["verdict"] for finding in data["findings"]}["slices sum to 1"] == "fail"


def test_options_reach_the_run(run):
    assert run(*check("softmax", "--dtype", "bfloat16", "--precision", "bfloat16/bfloat16")).exit_code == 0
    assert "numpy" in run(*check("softmax", "--adapter", "numpy")).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (check("sofmax"), "error: unknown name in subjects_for_a_test 'sofmax'; did you mean 'softmax'?"),
        (check("softmax", "--dtype", "float23"), "error: unknown dtype 'float23'; did you mean 'float32'?"),
        (check("softmax", "--option", "axes=0"), "error: unknown option of softmax 'axes'; did you mean 'axis'?"),
        (check("softmax", "--accept", "softmax.x"), "error: unknown variant of softmax 'softmax.x'"),
        (check("softmax", "--adapter", "jacks"), "error: unknown adapter 'jacks'"),
        (check("softmax", "--probe", "xyz"), "error: unknown probe 'xyz'"),
        (
            ("check", "subjects_for_a_test:softmax", "--as", "softmx"),
            "error: unknown contract 'softmx'; did you mean 'softmax'?",
        ),
        (
            ("check", "subject_for_a_test:softmax", "--as", "softmax"),
            "error: unknown module 'subject_for_a_test'; did you mean",
        ),
        (("check", "subjects_for_a_test:softmax"), "needs a contract to be judged by: --as CONTRACT"),
    ],
)
def test_wrong_use_exits_2_and_is_told(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output + result.stderr
    assert "Traceback" not in result.output + result.stderr


def test_contracts_are_listed(run):
    output = run("contracts").output
    assert "softmax(z, *, axis=-1, temperature=1.0)" in output
    assert "temperature  default 1.0; probed 0.5, 1.0, 3.0" in output
    assert "positional_encoding(length: int, d_model: int, *, base=10000.0)" in output


def test_contracts_are_listed_as_json(run):
    data = {each["name"]: each for each in json.loads(run("contracts", "--json").output)}
    assert {"log_softmax", "positional_encoding", "rotary", "softmax"} <= set(data)
    assert data["rotary"]["inputs"] == [
        {"name": "x", "shape": "(..., n, d)", "gradient": True},
        {"name": "positions", "shape": "(n,) integers", "gradient": False},
    ]
    assert data["softmax"]["options"][0]["probed"] == [-1, 0]
    assert "gradient sums to 0" in data["softmax"]["checks"]


def test_the_module_runs_as_a_command_from_the_directory_of_the_subject(run, tmp_path):
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": str(root), "PATH": ""}
    command = [sys.executable, "-m", "numeric", *check("softmax")]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("pass: subjects_for_a_test.softmax as softmax in float64\n")

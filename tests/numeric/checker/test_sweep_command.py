"""python -m numeric sweep: a file of configurations, as a user runs it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from numeric.__main__ import app

HERE = Path(__file__).parent
ENVIRONMENT = {"PYTHONPATH": f"{HERE}:{Path(__file__).parents[3]}", "PATH": "", "OPENBLAS_NUM_THREADS": "1"}
RIGHT = {"contract": "softmax", "forward": "sweep_subjects:softmax", "probes": ["generic*draw 0"], "dtype": "float32"}
WRONG = {**RIGHT, "forward": "sweep_subjects:first_axis", "seed": 2}
LOST = {**RIGHT, "forward": "sweep_subjects:dies"}
LOUD = {**RIGHT, "forward": "sweep_subjects:prints"}


@pytest.fixture
def swept(tmp_path):
    def run(configurations, *more):
        (tmp_path / "many.json").write_text(json.dumps(configurations))
        command = [sys.executable, "-m", "numeric", "sweep", "many.json", *map(str, more)]
        return subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)

    return run


def test_a_line_for_each_and_the_exit_code_of_the_worst(swept):
    ran = swept([RIGHT, WRONG, LOST, LOUD, {"contract": "softmx"}], "--jobs", 2)
    *lines, summary = ran.stdout.splitlines()
    assert ran.returncode == 1
    assert summary == "5 of 5 judged: 2 pass, 1 fail, 2 error"
    assert "pass: sweep_subjects.softmax as softmax in float32" in lines
    assert "fail: sweep_subjects.first_axis as softmax in float32, seed 2: softmax.first_axis" in lines
    assert any("sweep_subjects:dies as softmax" in line and "its process died" in line for line in lines)
    assert "printed in Python" in ran.stderr and "printed in C" in ran.stderr
    assert "printed" not in ran.stdout and "Traceback" not in ran.stderr


@pytest.mark.slow
def test_json_lines_and_the_files_for_ci(swept, tmp_path):
    ran = swept([RIGHT, LOUD], "--json", "--junit", "j.xml", "--html", "h.html")
    data = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0
    assert sorted(each["configuration"]["forward"] for each in data) == sorted([RIGHT["forward"], LOUD["forward"]])
    assert {each["report"]["verdict"] for each in data} == {"pass"}
    assert len(ElementTree.parse(tmp_path / "j.xml").getroot()) == 2
    assert "2 checks" in (tmp_path / "h.html").read_text()


@pytest.mark.slow
def test_an_interrupt_keeps_what_it_has(tmp_path):
    sleepy = "import time\ndef sleeps(z, axis=-1, temperature=1.0):\n    time.sleep(30)\n    return z\n"
    (tmp_path / "sleepy_subject.py").write_text(sleepy)
    (tmp_path / "many.json").write_text(json.dumps([RIGHT, *[{**RIGHT, "forward": "sleepy_subject:sleeps"}] * 3]))
    command = [sys.executable, "-m", "numeric", "sweep", "many.json", "--junit", "j.xml"]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert running.stdout.readline() == "pass: sweep_subjects.softmax as softmax in float32\n"
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, errors = running.communicate(timeout=20)
    assert running.returncode == 130
    assert out == "1 of 4 judged: 1 pass\n"
    assert "Traceback" not in errors
    assert len(ElementTree.parse(tmp_path / "j.xml").getroot()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "many.json is no JSON"),
        ("{}", "holds a dict, needed a list such as"),
        ("[]", "holds an empty list, needed a list such as"),
        (None, "cannot read"),
    ],
)
def test_a_file_that_is_no_sweep_exits_2(tmp_path, text, message):
    file = tmp_path / "many.json"
    if text is not None:
        file.write_text(text)
    result = CliRunner().invoke(app, ["sweep", str(file)])
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_that_cannot_be_written_is_told_before_the_run(tmp_path):
    file = tmp_path / "many.json"
    file.write_text(json.dumps([LOST]))
    result = CliRunner().invoke(app, ["sweep", str(file), "--html", str(tmp_path / "none" / "h.html")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "needed a file in a folder that exists" in result.stderr

"""One test for each check, as pytest users write it: these are such tests, and a file of theirs is run."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numeric.checker import check, checks_of

ROOT = Path(__file__).parents[3]
FILE = """
import numpy as np, pytest
from numeric.checker import check, checks_of

def log_softmax(z, axis=-1, temperature=1.0):
    y = z / temperature
    m = y.max(axis, keepdims=True)
    return y - m - np.log(np.exp(y - m).sum({axis}, keepdims=True))

REPORT = check("log_softmax", log_softmax)

@pytest.mark.parametrize("name", checks_of("log_softmax"))
def test_log_softmax(name):
    if not REPORT.finding(name).ran:
        pytest.skip(REPORT.finding(name).message)
    REPORT.raise_if_failed(name)
"""


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def backward(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


@pytest.fixture(scope="module")
def report():
    return check("softmax", softmax, backward=backward, dtype="float32")


@pytest.mark.parametrize("name", checks_of("softmax"))
def test_softmax(report, name):
    report.raise_if_failed(name)


@pytest.mark.slow
def test_a_file_of_a_user_passes_where_it_is_right_and_fails_where_it_is_wrong(tmp_path):
    for axis, failing in (("axis", set()), ("0", {"values", "exponentials sum to 1"})):
        (tmp_path / "test_mine.py").write_text(FILE.replace("{axis}", axis))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rf", "test_mine.py"]
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        failed = set(
            re.findall(r"FAILED test_mine\\.py::test_log_softmax\\[(.*?)\\]".replace("\\\\", "\\"), ran.stdout)
        )
        assert bool(failing) == bool(failed) == (ran.returncode == 1), ran.stdout
        assert failing <= failed or not failing
        assert "log_softmax as log_softmax in float64: values: fail" in ran.stdout or not failing

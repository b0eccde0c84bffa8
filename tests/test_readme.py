"""The README's examples run as they are written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from numeric.parameters import flatten
from proofs.registry import claims_in_file

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_there_are_three_examples():
    assert len(BLOCKS) == 3


def test_model_example():
    names = {}
    exec(BLOCKS[1], names)
    assert flatten(names["gradients"]).keys() == flatten(names["params"]).keys()
    assert 0 < float(names["loss"]) < 10


def test_own_theorem_is_proved(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BLOCKS[0], encoding="utf-8")
    (claim,) = claims_in_file(path)
    assert claim.theorem.name == "mine.scaled_weights_sum_to_the_scale"
    assert len(BLOCKS[0].split("@theorem")[1].strip().splitlines()) <= 10


def test_own_theorem_on_the_command_line(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BLOCKS[0], encoding="utf-8")
    run = [sys.executable, "-m", "proofs", "check", str(path)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=README.parent, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scaled_weights_sum_to_the_scale" in done.stdout


@pytest.mark.slow
def test_check_example(tmp_path):
    path = tmp_path / "example.py"
    path.write_text(BLOCKS[2], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False,
        env={"PYTHONPATH": str(README.parent), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass" in done.stdout

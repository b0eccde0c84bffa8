"""The README's examples run as they are written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from numeric.parameters import flatten
from proofs.registry import claims_in_file

from .latex import needs, problems, words_of

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


@pytest.mark.slow
def test_paper_example(tmp_path):
    needs("pdflatex", "latexmk", "pdftotext")
    section = README.read_text(encoding="utf-8").split("## Use 2")[1].split("## Use 3")[0]
    render, compile_ = (
        re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[k].splitlines()[0].split("#")[0] for k in (0, 1)
    )
    (paper,) = re.findall(r"```latex\n(.*?)```", section, re.DOTALL)
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    for command, where in ((render, README.parent), (compile_, tmp_path)):
        words = [sys.executable if word == "python" else word for word in command.split()]
        words = [str(tmp_path / "theorems") if word == "theorems" else word for word in words]
        done = subprocess.run(words, capture_output=True, text=True, cwd=where, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert problems(tmp_path / "paper.log") == []
    text = words_of(tmp_path / "paper.pdf")
    assert "The Jacobian of softmax is (1), by Theorem 1:" in text
    assert "Theorem 1 (jacobian). The Jacobian of softmax, derived from its definition." in text
    assert "Attention Is All You Need" in text

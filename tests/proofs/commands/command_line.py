"""Runs the command line in this process, over the catalogue or over a file."""

from pathlib import Path

from typer.testing import CliRunner

from proofs.commands.app import app

GOOD = """
from proofs import theorem
from proofs.notation import eq, exp, n, sum_, variable
from proofs.theorems.softmax import i, softmax, sums_to_one, z

x = variable("x")


@theorem(eq(x + x, 2 * x), near_miss=3 * x)
def doubled(proof):
    "Twice x."
    proof.closes("ring")


@theorem(eq(sum_(i, x * softmax(z, i)), x), near_miss=n * x)
def scaled_sum(proof):
    "A scaled sum of weights."
    proof.equals(x * sum_(i, softmax(z, i)), "finite_sum")
    proof.closes(sums_to_one)
"""
WRONG = """

@theorem(eq(exp(x) * exp(x), exp(2 * x)), near_miss=exp(x))
def wrong_rule(proof):
    "True, but not by this rule."
    proof.closes("ring")
"""


def run(*arguments, code=0):
    """The result of a command that must end with this exit code."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(a) for a in arguments], prog_name="python -m proofs")
    assert result.exit_code == code, result.output
    return result


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path

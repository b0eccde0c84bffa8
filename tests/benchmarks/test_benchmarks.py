"""The benchmarks run, count every attempt once, and end what does not come back; their figures are for people to read."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.attempts import Attempt, attempt
from benchmarks.rules_beside_sympy import OUTCOMES, Proof, Try, summary

ROOT = Path(__file__).resolve().parents[2]


def spin():
    while True:
        pass


def fail():
    raise ValueError("no such thing")


@pytest.mark.slow
def test_an_attempt_ends_in_one_of_four_ways():
    start = time.perf_counter()
    assert attempt(spin, limit=1) == Attempt("timed out", "after 1 s")
    assert time.perf_counter() - start < 30
    assert attempt(os._exit, 3, limit=5) == Attempt("died", "exit code 3")
    assert attempt(fail, limit=5) == Attempt("raised", "ValueError: no such thing")
    assert attempt(divmod, 7, 2, limit=5) == Attempt("returned", (3, 1))


def test_a_summary_counts_and_takes_medians():
    proofs = [Proof(name, "proved", 0.01, 0.1) for name in "abc"]
    general = [
        Try("a", "simplify", 0, "settled", 1.0),
        Try("b", "simplify", 0, "wrong", 1.0),
        Try("c", "simplify", 0, "timed out", 9.0),
    ]
    others = [Try(name, "expand().doit()", 0, "settled" if name == "c" else "left over", 1.0) for name in "abc"]
    sized = [Try(name, "simplify", n, "settled", k + n / 2) for n in (2, 4, 6) for k, name in enumerate("abc")]
    found = summary([*proofs, *general, *others, *sized], 9)
    assert found["proved"] == found["equations"] == 3
    assert {o: c for o, c in found["general"]["simplify"].items() if c} == {"settled": 1, "wrong": 1, "timed out": 1}
    assert found["general"]["any"] == 2
    assert found["sizes"][4]["ratio"] == pytest.approx(300)
    assert found["sizes"][4]["ratio_to_whole"] == pytest.approx(30)
    assert found["sizes"][4]["slower"] == 3
    assert summary(proofs, 9)["sizes"] == {}


@pytest.mark.slow
def test_rules_beside_sympy_runs():
    found = json.loads(_run("rules_beside_sympy.py", "--only", "2", "--limit", "1", "--json"))
    assert found["proved"] == found["equations"] == 2
    assert sum(found["general"]["simplify"][o] for o in OUTCOMES) == 2
    assert {t["outcome"] for t in found["tries"]} <= set(OUTCOMES)
    assert "In general" in _run("rules_beside_sympy.py", "--only", "1", "--limit", "1")


@pytest.mark.slow
def test_rendering_runs():
    for package in ("jinja2", "math_core", "typst"):
        pytest.importorskip(package, reason="every target is written")
    found = json.loads(_run("rendering.py", "softmax", "--runs", "1", "--json"))
    assert set(found) == {"pages", "html", "tex", "markdown", "pdf"}
    assert all(cost["writing"] > 0 and cost["proving"] > 0 for cost in found.values())
    assert found["pages"]["writing"] < found["html"]["writing"]


@pytest.mark.slow
def test_catalogue_runs():
    found = json.loads(_run("catalogue.py", "--runs", "1", "--only", "1", "--json"))
    assert found["ratios"]["python -c pass"] == 1
    assert found["seconds"]["every theorem proved"] > found["seconds"]["import proofs"]
    assert len(found["families"]) == 1
    assert {name.rpartition(".")[0] for name in found["theorems"]} == set(found["families"])
    assert all(t["seconds"] > 0 for t in found["theorems"].values())


@pytest.mark.slow
def test_checker_beside_gradcheck_runs():
    pytest.importorskip("torch", reason="gradcheck is PyTorch's")
    printed = _run("checker_beside_gradcheck.py", "--quick")
    assert max(map(len, printed.splitlines())) <= 80
    one_probe = next(line for line in printed.splitlines() if "check, one probe" in line).split("│")
    assert all(float(error) < 1e-10 for error in one_probe[4:6])
    alarms = next(line for line in printed.splitlines() if "false alarms" in line).split("│")
    assert int(alarms[2]) >= 10 and int(alarms[5]) == 0


def _run(script, *arguments):
    done = subprocess.run(
        [sys.executable, f"benchmarks/{script}", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout

"""The command line, as a person or a script meets it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

import proofs
from proofs.commands.app import app
from proofs.registry import all_claims

PACKAGE = Path(proofs.__file__).parent
RUNNER = CliRunner()

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


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def run(*arguments, code=0):
    result = RUNNER.invoke(app, [str(a) for a in arguments], prog_name="python -m proofs")
    assert result.exit_code == code, result.output
    return result


def file_of(tmp_path, text, name="mine.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# --- check ------------------------------------------------------------------------------------------------------------


def test_no_command_checks():
    plain, named = (run(*arguments, "-k", "rotary").stdout for arguments in ((), ("check",)))
    timeless = [re.sub(r"\d+\.\d+", "", text) for text in (plain, named)]
    assert timeless[0] == timeless[1]
    assert "rotary, 6 of 6 proved" in plain
    assert re.search(r"^  isometry +general +\d\.\d{3} +-$", plain, re.MULTILINE)
    assert "\n    Σ_m Σ_a rotated(ω, x, p)_ma² = Σ_m Σ_a x_ma²\n" in plain
    refused = sum(len(c.theorem.near_misses) for c in all_claims() if c.family == "rotary")
    assert f"6 proved, 0 failed; {refused} near misses refused" in plain
    assert re.search(r"proofs \d+\.\d\d s, near misses \d+\.\d\d s, elapsed \d+\.\d\d s", plain)


def test_check_everything():
    found = json.loads(run("--json").stdout)
    assert [t["name"] for t in found["theorems"]] == [c.name for c in all_claims()]
    assert found["summary"]["proved"] == len(all_claims())
    assert found["summary"]["failed"] == 0
    assert {c["id"] for c in found["claims"]} == {f"C{k}" for k in range(1, 23)}
    assert all(set(c) == {"id", "verdict", "theorems"} for c in found["claims"])
    keys = {"name", "family", "statement", "general", "status", "seconds", "near_misses", "rules", "axioms", "uses"}
    assert all(set(t) == keys for t in found["theorems"])


def test_claims_of_a_selection_are_those_it_decides():
    found = json.loads(run("-k", "softmax_jacobian", "--json").stdout)
    decided = [c["id"] for c in found["claims"] if c["verdict"] != "open"]
    assert "C11" in decided
    assert "C1" not in decided


def test_axioms_and_instances_are_marked():
    text = run("-k", "positions_are_distinct or instance_of_two").stdout
    assert re.search(r"positions_are_distinct +general +\d+\.\d+ +1$", text, re.MULTILINE)
    assert re.search(r"instance_of_two +instance ", text)
    assert "rests on axioms.cosine_is_one_at_full_turns_only: 1 theorem\n" in text


def test_own_file(tmp_path):
    path = file_of(tmp_path, GOOD)
    text = run("check", path).stdout
    assert "mine, 2 of 2 proved" in text
    assert "softmax, " not in text  # its theorems only
    found = json.loads(run("check", path, "--json", "-k", "doubled").stdout)
    assert [t["statement"] for t in found["theorems"]] == ["x + x = 2 x"]
    assert found["claims"] == []


def test_failing_theorem(tmp_path):
    path = file_of(tmp_path, GOOD + WRONG)
    text = run("check", path, code=1).stdout
    assert "mine, 2 of 3 proved" in text
    assert re.search(r"^  wrong_rule +failed ", text, re.MULTILINE)
    assert "FAILED mine.wrong_rule\n  mine.wrong_rule: what is left over: −exp(2 x) + exp(x)²" in text
    assert "2 proved, 1 failed" in text
    found = json.loads(run("check", path, "--json", code=1).stdout)
    assert found["summary"]["failed"] == 1
    assert found["theorems"][2]["message"] == "mine.wrong_rule: what is left over: −exp(2 x) + exp(x)²"


def test_two_processes(tmp_path):
    path = file_of(tmp_path, GOOD + WRONG)
    alone, together = (json.loads(run("check", path, "--jobs", jobs, "--json", code=1).stdout) for jobs in (1, 2))
    assert [(t["name"], t["status"]) for t in alone["theorems"]] == [
        (t["name"], t["status"]) for t in together["theorems"]
    ]
    assert alone["theorems"][2]["message"] == together["theorems"][2]["message"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nimport nothing_such\n", "mine.py, line 2: ModuleNotFoundError: No module named 'nothing_such'\n    import nothing_such"),
        ("x = (\n", "mine.py, line 1: SyntaxError: '(' was never closed"),
        ("from proofs.notation import variable\nvariable('1x')\n", "line 2: TermError: '1x' is not a name"),
        ("raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        ("x = 1\n", "mine.py states no theorem; write one with `from proofs import theorem` and @theorem"),
    ],
)  # fmt: skip
def test_file_that_does_not_import(tmp_path, text, message):
    result = run("check", file_of(tmp_path, text), code=2)
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_no_such_file(tmp_path):
    assert f"{tmp_path / 'none.py'}: no such file" in run("check", tmp_path / "none.py", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "nothing_such"], "matches none of the"), (["-k", "a and"], "it ends where a name should stand"),
        (["show", "jacobain"], "did you mean softmax_jacobian.jacobian"), (["trust", "nothing"], "no theorem is named 'nothing'"),
        (["--jobs", "0"], "--jobs"), (["--json", "list"], "options stand after the command: python -m proofs list"),
        (["prove"], "prove"), (["show"], "NAME"), (["list", "-k", "nothing_such"], "matches none of the"),
    ],
)  # fmt: skip
def test_wrong_usage(arguments, message):
    assert message in run(*arguments, code=2).stderr


def test_interrupted_in_one_process(tmp_path):
    stopped = "\n\n@theorem(eq(3 * x, x + 2 * x), near_miss=x)\ndef stopped(proof):\n    'Stopped.'\n    raise KeyboardInterrupt\n"
    path = file_of(tmp_path, GOOD + stopped + WRONG)
    text = run("check", path, code=130).stdout
    assert "mine, 2 of 2 proved" in text
    assert "interrupted: 2 theorems not tried, the first is mine.stopped" in text
    found = json.loads(run("check", path, "--json", code=130).stdout)
    assert found["summary"]["interrupted"] is True
    assert [t["name"] for t in found["theorems"]] == ["mine.doubled", "mine.scaled_sum"]


def running_in_group(group):
    """The commands of a group of processes that have not ended."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [row for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_by_the_terminal(tmp_path, jobs):
    """Ctrl-C reaches the whole group of processes; what was begun is not waited for, and nothing is left running."""
    mark = tmp_path / "begun"
    sleeper = (
        f"\n\n@theorem(eq(3 * x, x + 2 * x), near_miss=x)\ndef slow(proof):\n    'Slow.'\n    import pathlib, time\n"
        f"    pathlib.Path({str(mark)!r}).touch()\n    time.sleep(120)\n"
    )
    path = file_of(tmp_path, GOOD + sleeper)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    begun = subprocess.Popen(
        [sys.executable, "-m", "proofs", "check", str(path), "--jobs", str(jobs)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert mark.exists()
    time.sleep(0.5)  # the other process finishes what it has
    os.killpg(begun.pid, signal.SIGINT)
    out, err = begun.communicate(timeout=30)
    assert begun.returncode == 130, out + err
    assert "the first is mine.slow" in out
    assert "Traceback" not in err
    while running_in_group(begun.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_in_group(begun.pid) == []


# --- list, show, trust, claims ----------------------------------------------------------------------------------------


def test_list_proves_nothing(monkeypatch):
    monkeypatch.setattr("proofs.registry.prove", lambda *a, **k: pytest.fail("list must not prove"))
    text = run("list").stdout
    assert all(f"  {c.name.rpartition('.')[2]}\n" in text for c in all_claims())
    assert f"{len(all_claims())} theorems" in text
    found = json.loads(run("list", "-k", "isometry", "--json").stdout)
    assert [t["name"] for t in found["theorems"]] == ["rotary.isometry"]
    assert found["theorems"][0]["statement"] == "Σ_m Σ_a rotated(ω, x, p)_ma² = Σ_m Σ_a x_ma²"


def test_show():
    text = run("show", "softmax_jacobian.symmetric").stdout
    for part in (
        "softmax_jacobian.symmetric (for every size)", "1 ≤ n; i, j < n; z_k ∈ ℝ for k < n", "J(z)_ij = J(z)_ji",
        "  1.   = softmax(z)_i (δ_ij − softmax(z)_j)\n           by softmax_jacobian.jacobian", "  2.   = softmax(z)_j (δ_ji",
        "Near miss, which the same steps refuse\n  J(z)_ij = −J(z)_ji", "rules: finite_sum", "axioms: none",
    ):  # fmt: skip
        assert part in text, part
    assert run("show", "quadratic_form_is_variance").stdout.startswith("softmax_jacobian.quadratic_form_is_variance")


def test_show_hypotheses():
    text = run("show", "preserves_order").stdout
    assert "if\n  z_i ≤ z_j\n\nthen\n  softmax(z)_i ≤ softmax(z)_j\n" in text


def test_show_latex_and_json():
    source = run("show", "trace", "--latex").stdout
    assert (
        r"\sum_{i=0}^{n - 1} \operatorname{J}(z)_{i i} = 1 - \sum_{i=0}^{n - 1} \operatorname{softmax}(z)_{i}^{2}"
        in source
    )
    found = json.loads(run("show", "trace", "--json").stdout)
    assert found["conclusion"] == "Σ_i J(z)_ii = 1 − Σ_i softmax(z)_i²"
    assert found["steps"][0]["reason"] == "by softmax_jacobian.jacobian"
    assert found["near_misses"][0]["residue"] == "1 − n"
    latex = json.loads(run("show", "trace", "--json", "--latex").stdout)
    assert latex["steps"][1]["relation"] == "="
    assert r"\sum" in latex["start"]


def test_trust():
    text = run("trust", "positions_are_distinct").stdout
    for part in (
        "relative_position.positions_are_distinct rests on", "rules", "axioms.cosine_is_one_at_full_turns_only", "Functions, section 4.14",
        "relative_position.gap_is_positive", "Trusted in every proof, ", "proofs/terms.py", "proofs/binders.py", "proofs/definitions.py",
        "proofs/kernel.py", "proofs/axioms.py", "proofs/rules/__init__.py",
    ):  # fmt: skip
        assert part.replace("Functions, section 4.14", "section 4.14") in text, part
    found = json.loads(run("trust", "positions_are_distinct", "--json").stdout)
    assert found["axioms"][0]["source"].startswith("NIST Digital Library")
    assert {"name": "ring", "says": "by expanding and collecting"} in found["rules"]
    assert "axioms: none" in run("trust", "softmax.positive").stdout


def test_claims():
    text = run("claims").stdout
    assert re.search(r"^C1 +proved ", text, re.MULTILINE)
    assert "22 claims: " in text
    rows = json.loads(run("claims", "--json").stdout)["claims"]
    assert [r["id"] for r in rows] == [f"C{k}" for k in range(1, 23)]
    assert all(set(r) == {"id", "claim", "verdict", "sentence", "theorems", "counterexample"} for r in rows)


def test_failing_claim(monkeypatch):
    monkeypatch.setattr("proofs.claims._holds", lambda claim: claim.name != "softmax_jacobian.symmetric")
    text = run("claims", code=1).stdout
    assert re.search(r"^C12 +failed ", text, re.MULTILINE)
    assert not re.search(r"^C11 +failed ", text, re.MULTILINE)


def test_failed_theorem_of_the_catalogue(monkeypatch):
    """Where a theorem of the catalogue fails, show and trust say so, and check counts the claims that it decides."""
    claim = next(c for c in all_claims() if c.name == "softmax_jacobian.symmetric")
    monkeypatch.setattr(claim, "_theorem", None)
    monkeypatch.setattr(claim, "_failure", None)

    def broken(proof):
        "Broken."
        proof.closes("ring")

    broken.__module__ = claim.write.__module__
    monkeypatch.setattr(claim, "write", broken)
    text = run("show", "symmetric", code=1).stdout
    assert "FAILED softmax_jacobian.symmetric" in text
    assert "what is left over: J(z)_ij − J(z)_ji" in text
    found = json.loads(run("-k", "softmax_jacobian", "--json", code=1).stdout)
    assert [c["verdict"] for c in found["claims"] if c["id"] == "C12"] == ["failed"]


# --- the page, the process --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["list"], ["claims"], ["--help"], *([c, "--help"] for c in ("check", "list", "show", "trust", "claims")),
        *(["show", claim.name] for claim in all_claims()),
        *(["trust", name] for name in ("positions_are_distinct", "jacobian_vanishes", "softmax.positive")),
    ],
    ids=lambda a: " ".join(a) or "check",
)  # fmt: skip
def test_no_line_is_wider_than_the_terminal(arguments):
    for line in run(*arguments).stdout.splitlines():
        assert cell_len(line) <= 80, line


def test_failures_fit_too(tmp_path):
    long = WRONG.replace("exp(2 * x)", " + ".join(f"exp({k} * x)" for k in range(2, 30))).replace(
        "near_miss=exp(x)", "near_miss=1 - x"
    )
    for line in run("check", file_of(tmp_path, GOOD + long), code=1).stdout.splitlines():
        assert cell_len(line) <= 80, line


def subprocess_run(*arguments, cwd=None, path=PACKAGE.parent):
    environment = {**os.environ, "PYTHONPATH": str(path), "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False, env=environment, cwd=cwd
    )


def test_as_a_process(tmp_path):
    done = subprocess_run("-m", "proofs", "-k", "isometry", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 proved, 0 failed" in done.stdout
    assert done.stderr == ""


def test_import_is_light_and_proves_nothing():
    code = (
        "import sys, time; start = time.perf_counter(); import proofs, proofs.kernel; seconds = time.perf_counter() - start\n"
        "heavy = [m for m in ('typer', 'rich', 'numpy', 'sympy', 'torch', 'proofs.theorems', 'proofs.render') if m in sys.modules]\n"
        "print(seconds < 1.5, heavy, len(proofs.kernel._proved))"
    )
    assert subprocess_run("-c", code).stdout.strip() == "True [] 0"


@pytest.mark.parametrize(
    ("module", "text"), [("__init__.py", "'A stranger.'\n"), ("render/__init__.py", "")], ids=["package", "submodule"]
)  # fmt: skip
def test_a_stranger_of_our_name(tmp_path, module, text):
    """Two distributions may both install a package `proofs`; their files then mix, and the later one wins file by file."""
    shutil.copytree(PACKAGE, tmp_path / "proofs", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "proofs" / module).write_text(text, encoding="utf-8")
    done = subprocess_run("-m", "proofs", "list", cwd=tmp_path, path=tmp_path)
    assert done.returncode == 2
    name = "proofs" if module == "__init__.py" else "proofs.render"
    assert f"error: {name} in {tmp_path / 'proofs'} is not of transformer-proofs" in done.stderr
    assert "pip install --force-reinstall transformer-proofs" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_strangers_distribution_is_named(monkeypatch):
    from proofs import __main__ as main

    monkeypatch.setattr(
        "importlib.metadata.packages_distributions", lambda: {"proofs": ["other-proofs", "transformer-proofs"]}
    )
    monkeypatch.setattr(main, "_OURS", {".terms": "NoSuchThing"})
    assert "pip uninstall other-proofs, then" in main.shadowed()

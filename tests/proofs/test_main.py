"""`python -m proofs` as a program: usage, widths, processes, Ctrl-C, imports, and a stranger of the same name."""

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

import proofs
from proofs.registry import all_claims

from .commands.command_line import GOOD, WRONG, file_of, run

PACKAGE = Path(proofs.__file__).parent


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
    assert re.search(r"^interrupted: \d theorems? not tried, the first is mine\.", out, re.MULTILINE)
    assert "Traceback" not in err
    while running_in_group(begun.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_in_group(begun.pid) == []


@pytest.mark.parametrize(
    "arguments",
    [
        *(pytest.param(one, marks=pytest.mark.slow) for one in ([], ["claims"])), ["-k", "softmax"], ["list"], ["--help"], *([c, "--help"] for c in ("check", "list", "show", "trust", "claims")),
        *(["trust", name] for name in ("positions_are_distinct", "jacobian_vanishes", "softmax.positive")),
    ],
    ids=lambda a: " ".join(a) or "check",
)  # fmt: skip
def test_no_line_is_wider_than_the_terminal(arguments):
    for line in run(*arguments).stdout.splitlines():
        assert cell_len(line) <= 80, line


@pytest.mark.cases(12)
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_no_page_is_wider_than_the_terminal(claim):
    for line in run("show", claim.name).stdout.splitlines():
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

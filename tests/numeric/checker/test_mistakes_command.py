import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest
from typer.testing import CliRunner

from numeric.__main__ import app
from numeric.checker import Finding, Report, Verdict, mistakes_command
from numeric.checker.contracts import contract_named, contract_names


def run(*arguments):
    return CliRunner().invoke(app, ["mistakes", *map(str, arguments)])


def judged_as(*findings):
    return lambda contract, known, dtype, seed: Report(contract.name, "f", "numpy", dtype, "", {}, seed, findings, {})


@pytest.fixture
def nothing_runs(monkeypatch):
    monkeypatch.setattr(mistakes_command, "judged", None)


def test_the_catalogue_is_listed_without_running(nothing_runs):
    result = run("--list")
    every = [known for name in contract_names() for known in contract_named(name).mistakes]
    assert result.exit_code == 0
    assert f"{len(every)} in all" in result.output
    for known in every:
        assert f"{known.id} (" in result.output


def test_the_catalogue_as_json(nothing_runs):
    data = json.loads(run("softmax", "rotary", "--list", "--json").output)
    assert {each["contract"] for each in data} == {"softmax", "rotary"}
    assert list(data[0]) == ["contract", "id", "kind", "of", "says", "theorem", "twins"]
    assert {each["kind"] for each in data} == {"mistake", "variant", "unstable"}


def test_all_of_a_contract_are_found():
    result = run("relu", "--json")
    data = json.loads(result.output)
    assert result.exit_code == 0
    shown = [each.id for each in contract_named("relu").mistakes if "float64" in getattr(each, "dtypes", ("float64",))]
    assert [each["id"] for each in data] == shown
    assert all(each["recognised"] and each["detected"] and each["seen_by"] for each in data)


@pytest.mark.parametrize(
    ("finding", "told"),
    [
        (Finding("values", Verdict.PASS, ""), ("NOTHING", "NOT itself:")),
        (Finding("values", Verdict.FAIL, "", mistake="softmax.none"), ("values", "NOT itself:")),
        (Finding("values", Verdict.FAIL, ""), ("values", "NOT itself:")),
    ],
)
def test_what_is_missed_or_misnamed_exits_1(monkeypatch, finding, told):
    monkeypatch.setattr(mistakes_command, "judged", judged_as(finding))
    result = run("softmax")
    assert result.exit_code == 1
    assert all(word in result.output for word in told)
    assert "0 of " in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_what_does_not_show_in_a_dtype_is_listed_as_not_run(monkeypatch):
    def recognised(contract, known, dtype, seed):
        return judged_as(Finding("values", Verdict.FAIL, "", mistake=known.id))(contract, known, dtype, seed)

    monkeypatch.setattr(mistakes_command, "judged", recognised)
    hidden = [
        each for each in contract_named("softmax").mistakes if "float16" not in getattr(each, "dtypes", ("float16",))
    ]
    result = run("softmax", "--dtype", "float16")
    assert result.exit_code == 0
    assert (f"not run: {len(hidden)}" in result.output) == bool(hidden)


def test_rows_are_shown_as_they_come_and_kept_at_an_interrupt(monkeypatch):
    first, second, *rest = contract_named("relu").mistakes

    def interrupted(contract, known, dtype, seed):
        if known is second:
            raise KeyboardInterrupt
        return judged_as(Finding("values", Verdict.FAIL, "", mistake=known.id))(contract, known, dtype, seed)

    monkeypatch.setattr(mistakes_command, "judged", interrupted)
    result = run("relu")
    assert result.exit_code == 130
    assert first.id.removeprefix("relu.") in result.output
    assert f"interrupted: {1 + len(rest)} not run" in result.output
    assert [each["id"] for each in json.loads(run("relu", "--json").output)] == [first.id]


def test_each_job_judges_a_mistake_that_it_is_told_the_name_of(monkeypatch):
    def recognised(contract, known, dtype, seed):
        return judged_as(Finding("values", Verdict.FAIL, dtype, mistake=known.id))(contract, known, dtype, seed)

    monkeypatch.setattr(mistakes_command, "judged", recognised)
    monkeypatch.setattr(mistakes_command, "processes", ThreadPoolExecutor)
    one, two = (run("relu", "rotary", "--dtype", "float32", "--json", "--jobs", jobs) for jobs in (1, 2))
    assert (one.exit_code, two.exit_code) == (0, 0)
    assert json.loads(one.output) == json.loads(two.output)


@pytest.mark.slow
def test_processes_find_the_same():
    command = [sys.executable, "-m", "numeric", "mistakes", "relu", "--json", "--jobs"]
    one, two = (subprocess.run([*command, jobs], capture_output=True, check=True).stdout for jobs in ("1", "2"))
    assert one == two
    assert all(each["recognised"] for each in json.loads(two))


def test_a_process_that_dies_is_told_of(monkeypatch):
    class Dying(ThreadPoolExecutor):
        def map(self, *_):
            raise BrokenProcessPool

    monkeypatch.setattr(mistakes_command, "processes", Dying)
    result = run("relu", "--jobs", 2)
    assert result.exit_code == 1
    assert "a process ended before its check did, perhaps for want of memory; try fewer --jobs" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("sofmax",), "unknown contract 'sofmax'; did you mean 'softmax'?"), (("--dtype", "float23"), "unknown dtype")],
)
def test_wrong_use_exits_2(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output + result.stderr

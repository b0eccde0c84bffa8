"""python -m numeric train: what it says and saves, exit codes, interruption, messages for wrong use."""

import json
import os
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("num2words")

from numeric import checkpoint, training, training_command, training_report
from numeric.__main__ import app
from numeric.parameters import flatten
from numeric.training_command import interruption_deferred

TINY = (
    "--language ko --rows 6 --warmup 20 --limit 1000 --held-out 20 --d-model 8 --d-ff 12 --heads 2 --layers 1".split()
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["train", *map(str, arguments)])


def parameters(path):
    return [array.tobytes() for array in flatten(training.resume(path).params).values()]


def test_it_trains_tests_and_says_so(run):
    result = run(*TINY, "--steps", 5, "--every", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    first, *lines = result.stdout.splitlines()
    assert first.startswith("the first loss should lie between 2.") or first.startswith(
        "the first loss should lie between 3."
    )
    assert [line.split()[:2] for line in lines[:3]] == [["step", "2"], ["step", "4"], ["step", "5"]]
    assert all(word in lines[0] for word in ("loss", "rate", "gradient", "tokens/s"))
    assert lines[3].startswith("held out: 20 numbers, loss ") and "of the tokens right, 0.00% of the names" in lines[3]
    assert [line.split() for line in lines[4:6]] == [["2", "digits", "0", "of", "4"], ["3", "digits", "0", "of", "16"]]
    held_out = training.spelling.split(0, 1000, 20).held_out
    for line, number in zip(lines[6:], held_out[:4], strict=True):
        assert line.split()[0] == str(number) and line.endswith(f"' is {training.spelling.spell(int(number), 'ko')!r}")
    assert os.listdir() == []


@pytest.mark.slow
def test_an_interrupted_and_resumed_run_ends_where_the_whole_one_does(run):
    assert run(*TINY, "--dropout", 0.25, "--steps", 6, "--save", "whole.npz").exit_code == 0
    assert run(*TINY, "--dropout", 0.25, "--steps", 4, "--save", "part.npz").exit_code == 0
    assert parameters("whole.npz") != parameters("part.npz")
    result = run("--resume", "part.npz", "--steps", 6)
    assert result.exit_code == 0 and parameters("whole.npz") == parameters("part.npz")
    assert run("--resume", "part.npz", "--steps", 7, "--save", "longer.npz").exit_code == 0
    assert [training.resume(f"{name}.npz").state.step for name in ("part", "longer")] == [6, 7]


def test_options_reach_the_run(run):
    more = "--seed 4 --micro-batches 3 --factor 2 --clip 0.5 --norm pre --smoothing 0.125 --dropout 0.25".split()
    assert run(*TINY, *more, "--steps", 1, "--save", "x.npz").exit_code == 0
    found = training.resume("x.npz")
    assert found.settings == training.Settings("ko", 6, 3, 20, 2.0, 0.5, 4, 1000, 20)
    assert found.config == training.config_for("ko", 8, 12, 2, 1, norm="pre", smoothing=0.125, dropout=0.25)


def test_json_is_plain_data(run):
    result = run(*TINY, "--steps", 3, "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["language"], report["step"]) == (0, "ko", 3)
    assert [each["step"] for each in report["steps"]] == [1, 2, 3] and report["steps"][0]["loss"] > 1
    assert sum(each["numbers"] for each in report["held_out"]["by_digits"]) == 20
    assert 0 <= report["held_out"]["tokens_right"] < 1 and report["held_out"]["names_right"] == 0


def test_right_names_stand_without_a_correction(run, monkeypatch):
    def perfect(run, numbers):
        return training.Score(0.0, 1.0, np.ones(len(numbers), np.bool_))

    monkeypatch.setattr(training, "score", perfect)
    monkeypatch.setattr(training_report, "names", lambda run, numbers: [f"name of {number}" for number in numbers])
    _, *lines = run(*TINY, "--steps", 1).stdout.splitlines()
    assert (
        lines[1].endswith("100.00% of the names")
        and lines[-1].split()[1:3] == ["name", "of"]
        and " is " not in lines[-1]
    )


@pytest.mark.slow
def test_the_loss_is_plotted(run):
    pytest.importorskip("matplotlib")
    assert run(*TINY, "--steps", 3, "--plot", "loss.svg").exit_code == 0
    with open("loss.svg") as file:
        assert "<svg" in file.read()
    result = run(*TINY, "--steps", 3, "--plot", "loss.txt")
    assert result.exit_code == 2 and "needed a name that ends in .svg, .png, .pdf" in result.stderr
    result = run(*TINY, "--steps", 3, "--plot", "nowhere/loss.svg")
    assert result.exit_code == 1 and "error: --plot: " in result.stderr


def test_the_first_loss_is_as_expected():
    losses, bounds = [], []
    for seed in range(5):
        settings = training.Settings("en", rows=64, seed=seed)
        run = training.begin(training.config_for("en"), settings)
        bounds.append(training_command.expected_at_first(run))
        losses.append(training.advance(run)[1].loss)
    # the bounds are on the expectation over seeds; Hoeffding's radius for a mean of 5 with a spread of up to 1, at 1e-9
    radius = float(np.sqrt(np.log(2e9) / (2 * len(losses))))
    assert min(low for low, _ in bounds) - radius <= np.mean(losses) <= max(high for _, high in bounds) + radius
    assert np.std(losses) < 0.5 and all(high - low < 1 for low, high in bounds)


# Interruption


def interrupting(at, monkeypatch, times=1):
    """Ctrl-C in the middle of a step."""

    def advance(run, original=training.advance):
        if run.state.step == at - 1:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return original(run)

    monkeypatch.setattr(training, "advance", advance)


def test_an_interruption_stops_after_the_step_and_saves(run, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    interrupting(3, monkeypatch)
    result = run(*TINY, "--steps", 9, "--save", "x.npz")
    assert result.exit_code == 130 and result.stderr == "stopped at step 3; it goes on with --resume x.npz\n"
    assert training.resume("x.npz").state.step == 3 and signal.getsignal(signal.SIGINT) is before
    result = run(*TINY, "--steps", 9)
    assert result.exit_code == 130 and result.stderr == "stopped at step 3, and nothing is saved; see --save\n"


def test_a_second_interruption_does_not_wait():
    with interruption_deferred() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_an_infinite_gradient_stops_and_leaves_the_last_save(run, monkeypatch):
    def failing(run, original=training.advance):
        if run.state.step == 4:
            raise FloatingPointError("the gradient of w is inf")
        return original(run)

    monkeypatch.setattr(training, "advance", failing)
    result = run(*TINY, "--steps", 9, "--every", 3, "--save", "x.npz")
    assert result.exit_code == 1
    assert result.stderr == "error: at step 4: the gradient of w is inf; x.npz holds the run at its last save\n"
    assert training.resume("x.npz").state.step == 3


def test_a_save_that_fails_is_told(run, monkeypatch):
    def full(path, saved, original=training.save):
        if saved.state.step:
            raise OSError(28, "No space left on device")
        original(path, saved)

    monkeypatch.setattr(training, "save", full)
    result = run(*TINY, "--steps", 1, "--save", "x.npz")
    assert (
        result.exit_code == 1 and "error: at step 1: [Errno 28] No space left on device; x.npz holds" in result.stderr
    )


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--language", "fr"], "language is 'fr', needed one of en, ko"),
        ([*TINY, "--d-model", 7], "d_model is 7, needed an even number"),
        ([*TINY, "--held-out", 50], "held_out is 50, needed at most 49"),
        ([*TINY, "--save", "x.pt"], "has the suffix '.pt', needed one of .npz, .safetensors"),
        ([*TINY, "--save", "away/x.npz"], "there is no folder"),
        ([*TINY, "--save", "there.npz"], "there.npz exists already; needed a new name, or --resume there.npz to go on"),
        (["--resume", "none.npz"], "none.npz does not exist"),
        (["--resume", "other.npz"], "other.npz is a checkpoint, but not of a run"),
        (["--resume", "there.npz", "--steps", 1], "--steps is 1, needed at least 2, the step that there.npz is at"),
        (
            ["--resume", "there.npz", "--micro-batches", 2],
            "--micro-batches and --resume exclude each other: there.npz says",
        ),
        (["--resume", "there.npz", "--save", "other.npz"], "other.npz exists already"),
    ],
)
def test_wrong_use_gets_a_clear_error(arguments, message, run):
    assert run(*TINY, "--steps", 2, "--save", "there.npz").exit_code == 0
    checkpoint.save("other.npz", {"x": np.ones(1)}, {})
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    result = run(*arguments)
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and message in result.stderr
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before

"""What a run makes of an implementation that is sound, but random, partial, or wrongly asked for."""

import numpy as np
import pytest

from numeric.checker import CheckFailed, Probe, UsageError, check

FEW = ("*draw 0", "strided", "read-only", "ties", "slices sum to 1")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def backward(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def test_keywords_that_are_passed_on_are_found_by_trying():
    def passes_on(z, **keywords):
        return without_temperature(z, **keywords)

    def without_temperature(z, axis=-1):
        return softmax(z, axis)

    report = check("softmax", passes_on, probes=FEW)
    report.raise_if_failed()
    assert report.finding("option temperature").verdict == "not run"
    assert not [finding for finding in report.findings if finding.check == "option axis"]


def test_randomness_is_inconclusive():
    rng = np.random.default_rng(0)

    def with_dropout(z, axis=-1, temperature=1.0):
        s = softmax(z, axis, temperature)
        return s * (rng.random(s.shape) > 0.1) / 0.9

    report = check("softmax", with_dropout, probes=FEW)
    assert report.verdict == "inconclusive"
    assert report.verdict.exit_code == 3
    assert report.finding("two calls equal").message.startswith(
        "random, not wrong: two calls with the same inputs differ by"
    )
    assert report.finding("values").verdict == "not run"
    with pytest.raises(CheckFailed, match="inconclusive"):
        report.raise_if_failed()


def test_a_changing_order_of_summation_passes_with_a_note():
    rng = np.random.default_rng(0)

    def shuffled(z, axis=-1, temperature=1.0):
        order = rng.permutation(z.shape[axis])
        p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
        return p / np.take(np.take(p, order, axis).cumsum(axis), [-1], axis)

    report = check("softmax", shuffled, probes=("generic*",))
    report.raise_if_failed()
    assert "two calls differ, but within rounding" in report.finding("two calls equal").message


def test_a_single_probe_is_asked_twice_and_then_judged():
    z, calls = np.array([[0.5, 1.0, 2.0]]), []

    def counted(given, axis=-1, temperature=1.0):
        calls.append(np.array_equal(given, z))
        return softmax(given, axis, temperature)

    report = check("softmax", counted, probes=[Probe("mine", (z,))])
    report.raise_if_failed()
    assert report.finding("two calls equal").verdict == "pass"
    assert sum(calls) == 3


def test_probes_at_which_anything_passes_decide_nothing():
    report = check("softmax", lambda z: np.ones_like(z), probes=("single entry",))
    assert report.verdict == "inconclusive"
    assert "constants and noise would have passed" in report.finding("values").message


def test_nothing_judged_is_no_pass():
    report = check("softmax", softmax, probes=("slices sum to 1",))
    assert report.finding("slices sum to 1").verdict == "pass"
    assert report.verdict == "inconclusive"


def test_wrong_use_is_told_before_anything_runs():
    calls = [
        ({"contract": "sofmax"}, "unknown contract 'sofmax'; did you mean 'softmax'?"),
        ({"dtype": "float8"}, "unknown dtype 'float8'"),
        ({"adapter": "tensorflow"}, "unknown adapter 'tensorflow'. Known: jax, numpy, torch."),
        ({"options": {"axes": 0}}, "unknown option of softmax 'axes'; did you mean 'axis'?"),
        (
            {"options": {"temperature": -1.0}},
            "options of softmax: softmax: temperature is -1.0, needed a finite number above 0",
        ),
        ({"options": {"axis": 9}}, "axis=9: the probes have up to 4 axes, so needed an integer from -4 to 3"),
        ({"accept": ("softmax.base2",)}, "unknown variant of softmax 'softmax.base2'. Known: none yet."),
        ({"accept": "softmax.base2"}, "accept is the string 'softmax.base2', needed a tuple of ids"),
        ({"probes": ["generik*"]}, "unknown probe 'generik*'"),
        ({"precision": "half"}, "unknown dtype 'half'"),
        ({"seed": -1}, "seed is -1, needed an integer from 0 on"),
        ({"forward": 3}, "forward is 3, needed a function"),
        ({"forward": dict}, "forward is the class dict, needed a function or an instance that can be called"),
        ({"contract": "positional_encoding", "backward": backward}, "positional_encoding has no floating-point input"),
    ]
    for changes, message in calls:
        arguments = {"contract": "softmax", "forward": softmax} | changes
        with pytest.raises(UsageError) as error:
            check(arguments.pop("contract"), arguments.pop("forward"), **arguments)
        assert message in str(error.value)

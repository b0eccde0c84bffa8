"""Whatever an implementation does, the report says so in a sentence: never a traceback of ours, never a pass."""

import time

import numpy as np
import pytest

from numeric.checker import CheckFailed, Verdict, check, watch

FEW = ("*draw 0", "strided", "read-only", "ties", "slices sum to 1")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def backward(dy, z, axis=-1, temperature=1.0):
    s = softmax(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True)) / z.dtype.type(temperature)


def raising(z, axis=-1, temperature=1.0):
    raise RuntimeError("out of registers")


def listing(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).tolist()


def forgetting(z, axis=-1, temperature=1.0):
    softmax(z, axis, temperature)


def with_its_cache(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature), z


def flat(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).ravel()


def without_axis_kept(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).sum(axis)


def narrowed(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).astype(np.float32)


def complex_valued(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature) + 0j


def in_place(z, axis=-1, temperature=1.0):
    z -= z.max(axis, keepdims=True)
    return softmax(z, axis, temperature)


def quitting(z, axis=-1, temperature=1.0):
    raise SystemExit("goodbye")


def missing_a_parameter(z, weights, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature)


def sometimes_raising(z, axis=-1, temperature=1.0):
    if z.shape == (4, 33):
        raise ValueError("a (4, 33) will not do")
    return softmax(z, axis, temperature)


def only_when_contiguous(z, axis=-1, temperature=1.0):
    if not z.flags.c_contiguous:
        raise ValueError("needs contiguous memory")
    return softmax(z, axis, temperature)


BROKEN = [
    (raising, "it raised RuntimeError: out of registers (test_robustness.py, line"),
    (listing, "it returned a list, needed a NumPy array"),
    (forgetting, "it returned None (is a return statement missing?), needed a NumPy array"),
    (with_its_cache, "it returned a tuple of 2 (ndarray, ndarray), needed a NumPy array"),
    (flat, "it returned shape (105,), needed (3, 5, 7)"),
    (without_axis_kept, "it returned shape (3, 5), needed (3, 5, 7)"),
    (
        narrowed,
        'it returned dtype float32, needed float64, the dtype of this check; if it always returns float32, check it with dtype="float32"',
    ),
    (complex_valued, "it returned dtype complex128, needed float64"),
    (in_place, "it changed its input z in place; it must leave its inputs as they were"),
    (quitting, "it raised SystemExit: goodbye"),
    (
        missing_a_parameter,
        "it raised TypeError: missing_a_parameter() missing 1 required positional argument: 'weights'",
    ),
    (sometimes_raising, "it raised ValueError: a (4, 33) will not do"),
    (only_when_contiguous, "it raised ValueError: needs contiguous memory"),
]


@pytest.mark.parametrize(("forward", "message"), BROKEN, ids=lambda each: getattr(each, "__name__", None))
def test_a_broken_call_is_an_error_that_says_how(forward, message):
    report = check("softmax", forward, probes=FEW)
    assert report.verdict is Verdict.ERROR
    assert message in report.finding("calls").message
    assert report.finding("values").verdict == (
        "pass" if forward in (sometimes_raising, only_when_contiguous) else "not run"
    )
    assert "Traceback" not in str(report)
    with pytest.raises(CheckFailed, match="calls: error: it "):
        report.raise_if_failed()


def test_where_and_how_often_it_broke_is_told():
    asked = []

    def counted(z, axis=-1, temperature=1.0):
        asked.append(z)
        return only_when_contiguous(z, axis, temperature)

    message = check("softmax", counted, probes=FEW).finding("calls").message
    judged = len(asked) - 1  # the first call only finds out which library it speaks
    assert message.endswith(f"(1 of {judged} calls, first at 'strided')")


def test_a_write_into_a_read_only_input_is_told():
    def shifts_in_place_and_back(z, axis=-1, temperature=1.0):
        z += 0.0
        return softmax(z, axis, temperature)

    report = check("softmax", shifts_in_place_and_back, probes=FEW)
    assert report.verdict == "error"
    assert "ValueError: output array is read-only" in report.finding("calls").message
    assert "first at 'read-only'" in report.finding("calls").message


def test_not_a_number_fails():
    def nan_at_one_place(z, axis=-1, temperature=1.0):
        s = softmax(z, axis, temperature)
        s.flat[3] = np.nan
        return s

    report = check("softmax", nan_at_one_place, probes=FEW)
    assert report.verdict == "fail"
    assert "NaN at" in report.finding("values").message
    assert "found nan" in report.finding("values").message


def test_infinity_fails():
    def infinite(z, axis=-1, temperature=1.0):
        return softmax(z, axis, temperature) / 0

    report = check("softmax", infinite, probes=FEW)
    assert report.verdict == "fail"
    assert "found inf" in report.finding("values").message


def test_a_hang_is_an_error_after_the_time_limit(monkeypatch):
    monkeypatch.setattr(watch, "TIME_LIMIT", 0.2)

    def endless(z, axis=-1, temperature=1.0):
        while z.shape == (3, 5, 7):
            time.sleep(0.01)
        return softmax(z, axis, temperature)

    started = time.monotonic()
    report = check("softmax", endless)
    assert time.monotonic() - started < 5
    assert report.verdict == "error"
    assert report.finding("calls").message == "it did not return within 0.2 s; the run stopped there"
    assert report.finding("values").verdict == report.finding("shift invariance").verdict == "not run"


def test_a_hang_late_in_the_run_keeps_what_was_found(monkeypatch):
    monkeypatch.setattr(watch, "TIME_LIMIT", 0.2)

    def endless_when_strided(z, axis=-1, temperature=1.0):
        while not z.flags.c_contiguous:
            time.sleep(0.01)
        return softmax(z, axis, temperature)

    report = check("softmax", endless_when_strided, probes=FEW)
    assert report.verdict == "error"
    assert "it did not return within 0.2 s" in report.finding("calls").message
    assert report.finding("values").verdict == "pass"


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda dy, z, axis=-1, temperature=1.0: None, "backward returned None"),
        (lambda dy, z, axis=-1, temperature=1.0: (dy, dy), "backward returned 2 gradients, needed 1: z"),
        (lambda dy, z, axis=-1, temperature=1.0: dy[..., :1], "backward returned shape"),
        (
            lambda dy, z, axis=-1, temperature=1.0: np.multiply(dy, 2, out=dy),
            "backward changed its cotangent dy in place",
        ),
        (lambda z: z, "backward raised TypeError"),
    ],
)
def test_a_broken_backward_is_an_error_beside_values_that_pass(gradient, message):
    report = check("softmax", softmax, backward=gradient, probes=FEW)
    assert report.verdict == "error"
    assert message in report.finding("calls").message
    assert report.finding("values").verdict == "pass"


def test_a_tuple_of_one_gradient_will_do():
    check(
        "softmax",
        softmax,
        backward=lambda dy, z, axis=-1, temperature=1.0: (backward(dy, z, axis, temperature),),
        probes=FEW,
    ).raise_if_failed()


def test_a_backward_without_options_is_probed_without_them():
    report = check("softmax", softmax, backward=lambda dy, z: backward(dy, z), probes=FEW)
    report.raise_if_failed()
    assert report.finding("gradients").evidence["probes"] < report.finding("values").evidence["probes"]
    assert report.finding("option axis, gradients").message == "axis=0: backward takes no keyword axis"

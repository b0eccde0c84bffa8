"""Files of answers are judged as implementations are; what is wrong with a file is told, and never a pass."""

import json

import ml_dtypes
import numpy as np
import pytest
from typer.testing import CliRunner

from numeric.__main__ import app
from numeric.checker import UsageError
from numeric.checker.answers import check_answers
from numeric.checker.array_files import read_arrays, write_arrays
from numeric.checker.questions import setting_of
from numeric.checker.vectors import vectors

FEW = ("generic*draw 0", "ties", "huge logits", "gradient sums to 0", "slices sum to 1")


def total(x, axis):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def softmax(z, axis, temperature):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / total(p, axis)


def gradient(dy, z, axis, temperature):
    s = softmax(z, axis, temperature)
    return s * (dy - total(s * dy, axis)) / z.dtype.type(temperature)


def asked_of(dtype="float32", options=None):
    arrays = {}
    for case in vectors(setting_of("softmax", dtype, options or {}, 0, FEW))[1]:
        arrays |= case
    return arrays


def answered(asked, forward=softmax, backward=gradient):
    answers = {"vectors": asked["vectors"]}
    for number, case in enumerate(json.loads(asked["vectors"].tobytes())["cases"]):
        z = asked[f"{number}/input/z"]
        answers[f"{number}/output"] = forward(z, **case["options"])
        if backward and case["gradients"]:
            answers[f"{number}/gradient/z"] = backward(asked[f"{number}/cotangent"], z, **case["options"])
    return answers


@pytest.fixture(scope="module")
def asked():
    return asked_of()


@pytest.fixture
def judged(tmp_path):
    def judge(answers, suffix=".npz", **more):
        path = tmp_path / f"answers{suffix}"
        write_arrays(path, answers)
        return check_answers(path, "softmax", **more)

    return judge


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_right_answers_pass(judged, dtype, suffix):
    report = judged(answered(asked_of(dtype)), suffix)
    report.raise_if_failed()
    assert (report.dtype, report.subject, report.adapter) == (dtype, f"answers{suffix}", "file")
    assert report.finding("values").evidence["probes"] == 14
    assert report.finding("gradients").evidence["worst"]["ratio"] < 1
    assert {each.check for each in report.findings if not each.ran} >= {"two calls equal", "shift invariance"}
    assert report.finding("slices sum to 1").verdict == report.finding("gradient sums to 0").verdict == "pass"
    assert "all there" in report.finding("calls").message
    assert report.finding("two calls equal").message == "a file is asked once"


def test_wrong_ones_are_named(judged, asked):
    def multiplying(z, axis, temperature):
        return softmax(z, axis, 1 / temperature)

    report = judged(answered(asked, multiplying))
    assert report.verdict == "fail"
    assert report.mistakes[0] == "softmax.temperature_multiplies"

    def without_sum(dy, z, axis, temperature):
        return softmax(z, axis, temperature) * dy / z.dtype.type(temperature)

    report = judged(answered(asked, backward=without_sum))
    assert "softmax.gradient_without_sum" in report.mistakes
    assert report.finding("gradient sums to 0").verdict == "fail"


def test_a_fixed_option_need_not_be_read(judged):
    report = judged(answered(asked_of(options={"axis": -1, "temperature": 1.0}), lambda z, **_: softmax(z, -1, 1.0)))
    report.raise_if_failed("values")
    assert report.options == {"axis": -1, "temperature": 1.0}


def test_without_gradients_they_are_not_run(judged, asked):
    report = judged(answered(asked, backward=None))
    assert report.verdict == "pass"
    assert report.finding("gradients").message == "the file has no gradients"
    assert report.finding("gradient sums to 0").verdict == "not run"


def changed(answers, **changes):
    return {**answers, **{name.replace("_", "/"): array for name, array in changes.items()}}


@pytest.mark.parametrize(
    ("change", "verdict", "message"),
    [
        (lambda z: z.astype(np.float64), "error", "'3/output' has dtype float64, needed float32"),
        (lambda z: z.ravel(), "error", "'3/output' has shape (132,), needed (4, 33)"),
        (lambda z: z[:1], "error", "'3/output' has shape (1, 33), needed (4, 33)"),
        (lambda z: None, "error", "the file has no array '3/output'"),
        (lambda z: z * np.float32(np.nan), "fail", "NaN at"),
        (lambda z: z + np.float32(1e-3), "fail", "1 of 14 probes fail"),
        (lambda z: z.astype(np.complex64), "error", "'3/output' has dtype complex64, needed float32"),
    ],
)
def test_one_bad_answer_is_no_pass(judged, asked, change, verdict, message):
    answers = answered(asked)
    wrong = change(answers.pop("3/output"))
    report = judged(answers if wrong is None else {**answers, "3/output": wrong})
    assert report.verdict == verdict
    assert message in report.diagnosis()


def test_no_answers_are_no_pass(judged, asked):
    for answers in ({"vectors": asked["vectors"]}, asked):
        report = judged(answers)
        assert report.verdict == "error"
        assert report.finding("values").verdict == "not run"


def tampered(asked, **changes):
    document = json.loads(asked["vectors"].tobytes()) | changes
    return {**answered(asked), "vectors": np.frombuffer(json.dumps(document).encode(), np.uint8)}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (lambda asked: {"0/output": np.ones(2)}, "it has no array 'vectors'; copy it from the file of vectors"),
        (
            lambda asked: {**answered(asked), "0/outputs": np.ones(2)},
            "unknown array '0/outputs'; did you mean '0/output'",
        ),
        (lambda asked: {**answered(asked), "99/output": np.ones(2)}, "unknown array '99/output'"),
        (lambda asked: {**answered(asked), "vectors": np.ones(2)}, "is no JSON in bytes"),
        (lambda asked: {**answered(asked), "vectors": np.uint8([123])}, "is no JSON in bytes"),
        (lambda asked: {**answered(asked), "vectors": np.frombuffer(b"[]", np.uint8)}, "is not that of"),
        (lambda asked: tampered(asked, version=2), "its vectors have version 2, needed 1; write them anew"),
        (lambda asked: tampered(asked, seed=1), "its vectors ask something else than these do"),
        (lambda asked: tampered(asked, probes=["ties"]), "its vectors ask something else than these do"),
        (lambda asked: tampered(asked, digest="0"), "its vectors ask something else than these do"),
        (
            lambda asked: tampered(asked, contract="rotary"),
            "it answers the vectors of 'rotary', needed those of 'softmax'",
        ),
        (lambda asked: tampered(asked, options=3), "its array 'vectors' was changed"),
        (lambda asked: tampered(asked, dtype="float8"), "unknown dtype 'float8'"),
    ],
)
def test_a_file_that_answers_nothing_asked_is_refused(judged, asked, answers, message):
    with pytest.raises(UsageError, match=message):
        judged(answers(asked))


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_the_commands(tmp_path):
    out, back = tmp_path / "v.safetensors", tmp_path / "a.npz"
    probes = [word for name in FEW for word in ("--probe", name)]
    written = run("vectors", "softmax", out, "--dtype", "bfloat16", "--option", "axis=-1", *probes)
    assert written.exit_code == 0, written.output
    assert f"{out}: " in written.output.replace("\n", "")
    asked = read_arrays(out)
    assert asked["0/input/z"].dtype == ml_dtypes.bfloat16
    write_arrays(back, answered(asked))
    result = run("check", back, "--as", "softmax", "--json")
    assert result.exit_code == 0
    assert json.loads(result.output)["options"] == {"axis": -1}
    write_arrays(back, answered(asked, lambda z, axis, temperature: softmax(z, 0, temperature)))
    assert run("check", back, "--as", "softmax").exit_code == 1
    back.write_bytes(back.read_bytes()[:100])
    for arguments, message in (
        (("check", back, "--as", "softmax"), "cannot be read as .npz"),
        (("check", back), "add --as CONTRACT"),
        (("check", back, "--as", "softmax", "--seed", 1), "--seed is not for a file of answers"),
        (("check", back, "--as", "softmax", "--option", "axis=1"), "--option is not for a file of answers"),
        (("vectors", "softmax", tmp_path / "v.txt"), "needed an .npz or a .safetensors"),
        (("vectors", "softmax", tmp_path / "none" / "v.npz"), "in a folder that exists"),
        (("vectors", "softmx", out), "unknown contract 'softmx'"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert message in " ".join(result.stderr.split())
        assert "Traceback" not in result.stderr

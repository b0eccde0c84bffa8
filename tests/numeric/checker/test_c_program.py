"""A program in C, compiled here, reads vectors and is judged; with a mistake in it, the mistake is named."""

import shutil
import subprocess
from pathlib import Path

import pytest

from numeric.checker.answers import check_answers
from numeric.checker.array_files import write_arrays
from numeric.checker.questions import setting_of
from numeric.checker.vectors import vectors

SOURCE = Path(__file__).parent / "c" / "softmax.c"
SMALL = ("generic*draw 0", "[!46g]*", "gap*", "gradient sums to 0")

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler: neither cc, gcc nor clang is installed")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")

    def answer(dtype, *flags, probes=SMALL):
        arrays = {}
        for case in vectors(setting_of("softmax", dtype, {}, 0, probes))[1]:
            arrays |= case
        program, asked, answers = folder / "softmax", folder / "v.safetensors", folder / "a.safetensors"
        write_arrays(asked, arrays)
        strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
        subprocess.run([compiler, *strict, *flags, str(SOURCE), "-lm", "-o", str(program)], check=True)
        subprocess.run([str(program), str(asked), str(answers)], check=True, timeout=60)
        return check_answers(answers, "softmax")

    return answer


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_right_program_passes(answered, dtype):
    report = answered(dtype)
    report.raise_if_failed()
    for name in ("values", "gradients"):
        assert 0.01 < report.finding(name).evidence["worst"]["ratio"] < 1
    assert report.dtype == dtype


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_right_program_passes_everywhere(answered, dtype):
    answered(dtype, probes=None).raise_if_failed()


@pytest.mark.parametrize(
    ("flag", "mistake", "check"),
    [
        ("-DUNSHIFTED", "softmax.unshifted", "values"),
        ("-DGRADIENT_WITHOUT_SUM", "softmax.gradient_without_sum", "gradients"),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_a_wrong_program_fails_and_its_mistake_is_named(answered, flag, mistake, check, dtype):
    report = answered(dtype, flag)
    assert report.verdict == "fail"
    assert report.mistakes[0] == mistake
    assert report.finding(check).mistake == mistake


def test_the_program_tells_what_it_cannot_read(answered, tmp_path):
    answered("float32", probes=("ties",))
    program = SOURCE.parent  # a folder is no file of vectors
    cut = tmp_path / "v.safetensors"
    cut.write_bytes(b"12")
    built = tmp_path / "softmax"
    subprocess.run([compiler, "-O2", str(SOURCE), "-lm", "-o", str(built)], check=True)
    for path in (cut, tmp_path / "none", program):
        ran = subprocess.run([str(built), str(path), str(tmp_path / "a")], capture_output=True, text=True, check=False)
        assert ran.returncode == 1
        assert ran.stderr.startswith("softmax: ")

"""What a program in another language is asked, and what the exact answers are."""

import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from numeric.checker import UsageError
from numeric.checker.contracts import contract_names
from numeric.checker.questions import asked, setting_of
from numeric.checker.vectors import digest_of, document_in, vectors

FEW = ("generic*draw 0", "ties", "gradient sums to 0")


def made(contract="softmax", dtype="float32", options=None, seed=0, probes=FEW):
    count, cases = vectors(setting_of(contract, dtype, options or {}, seed, probes))
    arrays = {}
    for number, case in enumerate(cases):
        assert all(name == "vectors" or name.startswith(f"{number}/") for name in case)
        arrays |= case
    return count, arrays


@pytest.fixture(scope="module")
def softmax():
    return made()


def test_every_case_has_all_its_arrays(softmax):
    count, arrays = softmax
    document = document_in(arrays["vectors"])
    assert len(document["cases"]) == count == 12 + 1 + 2
    expected = {"vectors"}
    for number, case in enumerate(document["cases"]):
        parts = ["input/z", "option/axis", "option/temperature", "output/high", "output/low", "output/allowance"]
        if case["gradients"]:
            parts += ["cotangent", "gradient/z/high", "gradient/z/low", "gradient/z/allowance"]
        expected |= {f"{number}/{part}" for part in parts}
        assert arrays[f"{number}/option/axis"] == case["options"]["axis"]
    assert set(arrays) == expected
    assert arrays["0/input/z"].dtype == arrays["0/cotangent"].dtype == np.float32
    assert arrays["0/output/high"].dtype == np.float64 and arrays["0/option/axis"].dtype == np.int64
    assert document["cases"][0]["name"].startswith("generic (3, 5, 7), axis=-1, temperature=0.5")
    assert document["cases"][-1]["name"] == "gradient sums to 0"


def test_the_document_says_what_it_is(softmax):
    document = json.loads(softmax[1]["vectors"].tobytes())
    assert list(document) == ["format", "version", "contract", "dtype", "seed", "options", "probes", "digest", "cases"]
    assert (document["format"], document["version"]) == ("transformer-proofs vectors", 1)
    assert (document["contract"], document["dtype"], document["seed"]) == ("softmax", "float32", 0)


def test_high_plus_low_is_the_truth_to_30_digits(softmax):
    arrays = softmax[1]
    with mpmath.workdps(60):
        z = [mpmath.mpf(float(each)) / mpmath.mpf("0.5") for each in arrays["0/input/z"][1, 2]]
        total = sum(map(mpmath.exp, z))
        for j, each in enumerate(z):
            high, low = (float(arrays[f"0/output/{part}"][1, 2, j]) for part in ("high", "low"))
            truth = mpmath.exp(each) / total
            found = Fraction(high) + Fraction(low)
            assert abs(mpmath.mpf(found.numerator) / found.denominator - truth) < mpmath.mpf("1e-30") * truth
            assert abs(low) <= np.spacing(high) / 2
            assert 0 < arrays["0/output/allowance"][1, 2, j] < 1e-5


def test_the_questions_are_the_same_every_time_and_others_with_another_seed(softmax):
    count, again = made()
    assert count == softmax[0]
    for name, array in softmax[1].items():
        np.testing.assert_array_equal(array, again[name])
    one, other = (setting_of("softmax", "float32", {}, seed, FEW) for seed in (0, 1))
    assert digest_of(one, asked(one).cases) != digest_of(other, asked(other).cases)


def test_masks_are_arrays_and_words_stand_in_the_document():
    _, arrays = made("feed_forward", probes=("generic*draw 0",))
    options = {case["options"]["activation"] for case in document_in(arrays["vectors"])["cases"]}
    assert options == {"relu", "gelu", "silu"}
    assert "0/option/activation" not in arrays
    _, arrays = made("scaled_dot_product_attention", probes=("generic*draw 0",))
    cases = document_in(arrays["vectors"])["cases"]
    masked = next(number for number, case in enumerate(cases) if case["options"]["mask"] == "array")
    assert arrays[f"{masked}/option/mask"].dtype == np.bool_
    assert any(case["options"]["mask"] is None for case in cases)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "transformer" else ()) for name in contract_names()]
)
def test_every_contract_can_be_asked(name):
    cases = asked(setting_of(name, "bfloat16", {}, 0, None)).cases
    assert cases
    assert all(isinstance(value, np.ndarray | int | np.integer) for case in cases for value in case.inputs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("softmx", "float32", {}, 0, None), "unknown contract 'softmx'"),
        (("softmax", "float23", {}, 0, None), "unknown dtype"),
        (("softmax", "float32", {"axes": 0}, 0, None), "unknown option of softmax 'axes'"),
        (("softmax", "float32", {"axis": np.ones(2)}, 0, None), "needed a number, a string, a truth value or None"),
        (("softmax", "float32", {}, -1, None), "seed is -1"),
        (("softmax", "float32", {}, 0, ("no such",)), "unknown probe"),
        (("softmax", "float32", {"temperature": 0}, 0, None), "options of softmax"),
    ],
)
def test_wrong_use_is_told(arguments, message):
    with pytest.raises(UsageError, match=message):
        asked(setting_of(*arguments))

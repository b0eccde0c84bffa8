"""What is told of a wrong sinusoidal encoding as people write it: names, converters that work, fitted constants."""

import math

import ml_dtypes
import numpy as np
import pytest

from numeric.arithmetic import precision, to_floats
from numeric.checker import check
from numeric.checker.contracts._positional_encoding_mistakes import MISTAKES, angles, encoded
from numeric.layers.positional_encoding import encode

CODE = encode(np.arange(9), 6)


def values(id, length=9, d_model=6, base=10000.0):
    [known] = [each for each in MISTAKES if each.id == f"positional_encoding.{id}"]
    with precision(128):
        return to_floats(known.formula(length, d_model, base=base))


def test_the_formulas_start_from_the_right_one():
    with precision(128):
        assert np.allclose(to_floats(encoded(angles(np.arange(9), 6, 10000.0))), CODE, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("id", "convert"),
    [
        ("concatenated", lambda code: code[:, np.arange(6).reshape(2, -1).T.ravel()]),
        ("cosine_first", lambda code: code.reshape(9, -1, 2)[..., ::-1].reshape(9, -1)),
        ("concatenated_cosine_first", lambda code: code[:, np.roll(np.arange(6), -3).reshape(2, -1).T.ravel()]),
        ("from_one", lambda code: np.concatenate([[[0, 1] * 3], code[:-1]])),
    ],
)
def test_converters_give_what_was_asked_for(id, convert):
    assert np.allclose(convert(values(id)), CODE, rtol=0, atol=1e-15)


@pytest.mark.parametrize("id", ["last_frequency_is_1_over_base", "tensor2tensor"])
def test_another_base_converts_the_last_frequency(id):
    found = values(id, base=10000.0 ** (1 - 2 / 6))
    if id == "tensor2tensor":
        found = found[:, np.arange(6).reshape(2, -1).T.ravel()]
    assert np.allclose(found, CODE, rtol=0, atol=1e-14)


def annotated_transformer(length, d_model, base=10000.0, columns=lambda sin, cos: np.stack([sin, cos], -1), start=0):
    rates = np.exp(np.arange(0, d_model, 2) * -(math.log(base) / d_model))
    theta = np.arange(start, start + length)[:, None] * rates
    return columns(np.sin(theta), np.cos(theta)).reshape(length, -1)


def concatenated(length, d_model, base=10000.0):
    return annotated_transformer(length, d_model, base, lambda sin, cos: np.concatenate([sin, cos], -1))


def fairseq(length, d_model, base=10000.0):
    half = d_model // 2
    rates = np.exp(np.arange(half) * -(math.log(base) / max(half - 1, 1)))
    theta = np.arange(length)[:, None] * rates
    return np.concatenate([np.sin(theta), np.cos(theta)], -1)


def by_column(length, d_model, base=10000.0):
    c = np.arange(d_model)
    theta = np.arange(length)[:, None] / np.power(base, 2 * c / d_model)
    return np.where(c % 2 == 0, np.sin(theta), np.cos(theta))


def two_exponents(length, d_model, base=10000.0):
    code = np.zeros((length, d_model))
    for p in range(length):
        for i in range(0, d_model, 2):
            code[p, i] = math.sin(p / base ** (2 * i / d_model))
            code[p, i + 1] = math.cos(p / base ** (2 * (i + 1) / d_model))
    return code


def position_of_the_end(length, d_model, base=10000.0):
    return np.repeat(annotated_transformer(1, d_model, base, start=length), length, 0)


@pytest.mark.parametrize(
    ("forward", "verdict", "id"),
    [
        (concatenated, "variant", "concatenated"),  # field case PE5
        (fairseq, "variant", "tensor2tensor"),
        (lambda n, d, base=10000.0: annotated_transformer(n, d, base, start=1), "variant", "from_one"),
        (by_column, "fail", "exponent_by_column"),  # field case PE1
        (two_exponents, "fail", "even_index_doubled_cosine_one_on"),  # field case PE2
        (position_of_the_end, "fail", "length_for_position"),  # field case PE7
    ],
)
def test_named_as_people_write_it(forward, verdict, id):
    probes = ("[!l]*", "length*")  # all but "long", for loops in Python
    report = check("positional_encoding", forward, probes=probes)
    assert report.verdict == verdict
    assert f"positional_encoding.{id}" in report.mistakes
    if verdict == "variant":
        check("positional_encoding", forward, probes=probes, accept=report.mistakes).raise_if_failed()


def test_two_source_mistakes_that_are_one_function_are_both_printed():
    message = check("positional_encoding", by_column, probes=("generic*",)).finding("values").message
    assert "exponent_by_column" in message and "even_index_doubled_cosine_one_on" in message


def test_an_offset_of_positions_is_told():
    """As in field case PE10, position t + padding_idx + 1, for a padding_idx that no known convention has."""
    report = check("positional_encoding", lambda n, d, base=10000.0: annotated_transformer(n, d, base, start=3))
    assert "it is what an offset of the positions = 3 gives, where 0 is right" in report.finding("values").message


def test_another_base_is_fitted():
    report = check("positional_encoding", lambda n, d: annotated_transformer(n, d, 1234.5), options={"base": 10000.0})
    assert "it is what base = 1234.5 gives" in report.finding("values").message


def test_an_odd_width_is_not_asked_for():
    """Field case PE6: the contract declares even widths, so that an implementation is never called with an odd one."""
    widths = set()

    def spy(length, d_model, base=10000.0):
        widths.add(d_model)
        return annotated_transformer(length, d_model, base)

    check("positional_encoding", spy, probes=("generic*", "one pair*", "wide*")).raise_if_failed()
    assert widths and not any(width % 2 for width in widths)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_angles_in_bfloat16_are_told_as_such(dtype):
    def coarse(length, d_model, base=10000.0):
        rates = (base ** (-np.arange(0, d_model, 2) / d_model)).astype(ml_dtypes.bfloat16)
        theta = (np.arange(length).astype(ml_dtypes.bfloat16)[:, None] * rates).astype(np.float64)
        target = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(length, -1).astype(target)

    report = check("positional_encoding", coarse, dtype=dtype)
    assert report.mistakes[0] == "positional_encoding.angles_in_bfloat16"

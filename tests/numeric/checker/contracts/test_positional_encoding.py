"""Right and wrong sinusoids: frequencies come in three ways, and go wrong in more."""

import math

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Probe, UsageError, check

slow = pytest.mark.slow
SEEDS = [0, pytest.param(1, marks=slow), pytest.param(2, marks=slow)]


def by_exp(dtype):
    def encoding(length, d_model, base=10000.0):
        rate = dtype(-math.log(base) / d_model)
        angles = np.arange(length, dtype=dtype)[:, None] * np.exp(np.arange(0, d_model, 2, dtype=dtype) * rate)
        return interleaved(angles)

    return encoding


def by_power(dtype):
    def encoding(length, d_model, base=10000.0):
        exponent = np.arange(0, d_model, 2, dtype=dtype) / dtype(d_model)
        return interleaved(np.arange(length, dtype=dtype)[:, None] / dtype(base) ** exponent)

    return encoding


def by_negative_power(dtype):
    def encoding(length, d_model, base=10000.0):
        exponent = -dtype(2) * np.arange(d_model // 2, dtype=dtype) / dtype(d_model)
        return interleaved(np.arange(length, dtype=dtype)[:, None] * dtype(base) ** exponent)

    return encoding


def by_reciprocal(dtype):
    def encoding(length, d_model, base=10000.0):
        frequency = dtype(1) / np.power(dtype(base), np.arange(0, d_model, 2, dtype=dtype) / dtype(d_model))
        return interleaved(np.outer(np.arange(length, dtype=dtype), frequency))

    return encoding


def by_loops(dtype):
    def encoding(length, d_model, base=10000.0):
        result = np.empty((length, d_model), dtype)
        for p in range(length):
            for c in range(d_model):
                angle = p / base ** (2 * (c // 2) / d_model)
                result[p, c] = math.cos(angle) if c % 2 else math.sin(angle)
        return result

    return encoding


def with_a_phase(dtype):
    def encoding(length, d_model, base=10000.0):
        column = np.arange(d_model)
        frequency = dtype(base) ** (-(2 * (column // 2)).astype(dtype) / dtype(d_model))
        return np.sin(
            np.arange(length, dtype=dtype)[:, None] * frequency + (column % 2).astype(dtype) * dtype(np.pi / 2)
        )

    return encoding


def interleaved(angles):
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(len(angles), -1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", [by_exp, by_power, by_negative_power, by_reciprocal, by_loops])
def test_right_ones_pass(way, dtype, seed):
    probes = ("[!l]*", "length*") if way is by_loops else None  # "long" would take a loop too long
    report = check("positional_encoding", way(dtype), dtype=np.dtype(dtype).name, seed=seed, probes=probes)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("way", [by_exp, by_power])
def test_angles_in_float32_rounded_at_the_end_pass_in_16_bits(way, dtype):
    check(
        "positional_encoding",
        lambda n, d, base=10000.0: way(np.float32)(n, d, base).astype(dtype),
        dtype=np.dtype(dtype).name,
    ).raise_if_failed()


def test_a_cosine_as_a_sine_with_a_phase_passes_in_float32():
    check("positional_encoding", with_a_phase(np.float32), dtype="float32").raise_if_failed()


def planted(**changes):
    """An encoding with one thing changed."""

    def encoding(length, d_model, base=10000.0):
        base = changes.get("base", base)
        pair = np.arange(d_model // 2)
        exponent = changes.get("exponent", lambda i, d: 2 * i / d)(pair, d_model)
        positions = np.arange(length) + changes.get("offset", 0)
        positions = changes.get("positions", lambda p: p)(positions)
        angles = (positions[:, None] / base**exponent) * changes.get("factor", 1.0)
        pairs = changes.get("pairs", lambda sin, cos: [sin, cos])(np.sin(angles), np.cos(angles))
        if changes.get("half_split"):
            return np.concatenate(pairs, -1)
        return np.stack(pairs, -1).reshape(length, d_model)

    return encoding


def angle_by_column(length, d_model, base=10000.0):
    """2c/d with c the column, where 2 floor(c/2) / d is right."""
    column = np.arange(d_model)
    angles = np.arange(length)[:, None] / base ** (2 * column / d_model)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


def cosine_one_frequency_on(length, d_model, base=10000.0):
    i = np.arange(0, d_model, 2)
    p = np.arange(length)[:, None]
    return np.stack([np.sin(p / base ** (2 * i / d_model)), np.cos(p / base ** (2 * (i + 1) / d_model))], -1).reshape(
        length, d_model
    )


WRONG = {
    "angle by column": (angle_by_column, "pairs have norm 1", "sin^2 + cos^2 = 1 fails"),  # field case PE1
    "cosine one frequency on": (
        cosine_one_frequency_on,
        "pairs have norm 1",
        "sin^2 + cos^2 = 1 fails",
    ),  # field case PE2
    "half-split": (planted(half_split=True), "shift is a rotation", "PE(t + k) = T^(k) PE(t) fails"),  # field case PE5
    "positions from 1": (planted(offset=1), "values", "probes fail"),  # field case PE10
    "reversed positions": (planted(positions=lambda p: p[::-1]), "length is immaterial", "changes with the length"),
    "one position for all": (  # field case PE7
        planted(positions=lambda p: 0 * p + len(p)),
        "length is immaterial",
        "changes with the length",
    ),
    "exponent i/d": (planted(exponent=lambda i, d: i / d), "shift is a rotation", "PE(t + k) = T^(k) PE(t) fails"),
    "exponent 2i/(d-2)": (planted(exponent=lambda i, d: 2 * i / max(d - 2, 1)), "shift is a rotation", "T^(k)"),
    "cosine first": (planted(pairs=lambda sin, cos: [cos, sin]), "shift is a rotation", "T^(k)"),
    "minus sine": (planted(pairs=lambda sin, cos: [-sin, cos]), "shift is a rotation", "T^(k)"),
    "turns in place of radians": (planted(factor=2 * math.pi), "shift is a rotation", "T^(k)"),
    "base built in": (planted(base=10000.0), "values", "base=500.0"),
    "base 1000": (planted(base=1000.0), "shift is a rotation", "T^(k)"),
    "positions scaled by length": (planted(positions=lambda p: p / max(len(p), 1)), "length is immaterial", "length"),
    "positions in bfloat16": (
        planted(positions=lambda p: p.astype(ml_dtypes.bfloat16).astype(float)),
        "values",
        "probes fail, just 'past 256 (300",
    ),
}


CONVENTIONS = ("half-split", "positions from 1", "exponent 2i/(d-2)", "cosine first")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize(
    "dtype", ["float32", pytest.param("float64", marks=slow), pytest.param("bfloat16", marks=slow)]
)
def test_wrong_ones_fail(name, dtype, seed):
    encoding, broken, words = WRONG[name]
    target = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    report = check(
        "positional_encoding", lambda n, d, base=10000.0: encoding(n, d, base).astype(target), dtype=dtype, seed=seed
    )
    expected = "variant" if name in CONVENTIONS else "fail"
    assert report.verdict == expected
    assert report.finding("values").verdict == expected
    assert report.finding(broken).verdict == expected
    assert words in report.finding(broken).message


def test_positions_in_bfloat16_are_seen_from_257_on():
    encoding = planted(positions=lambda p: p.astype(ml_dtypes.bfloat16).astype(float))
    assert check("positional_encoding", encoding, probes=("past 256*",)).verdict == "fail"
    check("positional_encoding", encoding, probes=("generic*",)).raise_if_failed()


@slow
def test_a_frequency_off_by_1e_minus_10_fails_in_float64():
    encoding = planted(base=10000.0 * (1 + 1e-10))
    assert check("positional_encoding", encoding, options={"base": 10000.0}).verdict == "fail"


def test_an_odd_width_is_refused_as_a_probe_of_ones_own():
    with pytest.raises(UsageError, match="d_model is 5, needed an even number"):
        check("positional_encoding", by_exp(np.float64), probes=[Probe("odd", (3, 5))])

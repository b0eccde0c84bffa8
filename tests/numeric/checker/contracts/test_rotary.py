"""Right and wrong rotary embeddings; positions, pairs and signs are what goes wrong."""

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import check

slow = pytest.mark.slow
EVERY_DTYPE = [*(pytest.param(each, marks=slow) for each in ("float64", "float32", "float16")), "bfloat16"]
SEEDS = [0, pytest.param(1, marks=slow), pytest.param(2, marks=slow)]


def angles_of(x, positions, base):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype.type
    d = x.shape[-1]
    return positions.astype(wide)[:, None] / wide(base) ** (np.arange(0, d, 2, dtype=wide) / wide(d))


def turned(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def stored_cosines(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    return turned(x, np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype))


def complex_product(x, positions, base=10000.0):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    pairs = x.astype(wide)
    numbers = pairs[..., 0::2] + 1j * pairs[..., 1::2]
    product = numbers * np.exp(1j * angles_of(x, positions, base))
    return np.stack([product.real, product.imag], -1).reshape(x.shape).astype(x.dtype)


def rotate_half_by_pairs(x, positions, base=10000.0):
    angles = np.repeat(angles_of(x, positions, base), 2, -1)
    swapped = np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
    return x * np.cos(angles).astype(x.dtype) + swapped * np.sin(angles).astype(x.dtype)


def matrices(x, positions, base=10000.0):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    cos, sin = (f(angles_of(x, positions, base)) for f in (np.cos, np.sin))
    turns = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    pairs = x.astype(wide).reshape(*x.shape[:-1], -1, 2)
    return (turns @ pairs[..., None])[..., 0].reshape(x.shape).astype(x.dtype)


def turned_back(dy, x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    return turned(dy, np.cos(angles).astype(x.dtype), -np.sin(angles).astype(x.dtype))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", [stored_cosines, complex_product, rotate_half_by_pairs, matrices])
def test_right_ones_pass(forward, dtype, seed):
    report = check("rotary", forward, backward=turned_back, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] < 1
    assert report.finding("gradients").verdict == "pass"


def half_split(x, positions, base=10000.0):
    cos, sin = (f(angles_of(x, positions, base)).astype(x.dtype) for f in (np.cos, np.sin))
    first, second = np.split(x, 2, -1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], -1)


def other_way_round(x, positions, base=10000.0):
    return stored_cosines(x, -positions, base)


def positions_by_row(x, positions, base=10000.0):
    return stored_cosines(x, np.arange(len(positions)), base)


def positions_from_one(x, positions, base=10000.0):
    return stored_cosines(x, positions + 1, base)


def base_built_in(x, positions, base=10000.0):
    return stored_cosines(x, positions)


def angles_in_bfloat16(x, positions, base=10000.0):
    angles = angles_of(x, positions, base).astype(ml_dtypes.bfloat16).astype(np.float32)
    return turned(x, np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype))


def sine_of_one_sign(x, positions, base=10000.0):
    cos, sin = (f(angles_of(x, positions, base)).astype(x.dtype) for f in (np.cos, np.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos + odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def frequencies_tiled(x, positions, base=10000.0):
    """The frequencies of the half-split layout on neighbouring pairs."""
    angles = np.tile(angles_of(x, positions, base), 2)
    swapped = np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
    return x * np.cos(angles).astype(x.dtype) + swapped * np.sin(angles).astype(x.dtype)


def added(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    return x + np.stack([np.sin(angles), np.cos(angles)], -1).reshape(x.shape[-2:]).astype(x.dtype)


WRONG = [
    (half_split, "isometry", "the norms of the pairs (2i, 2i + 1) are not kept"),
    (other_way_round, "values", "probes fail"),
    (positions_by_row, "values", "probes fail"),
    (positions_from_one, "position 0 is the identity", "rows at position 0 do not stay as they are"),
    (base_built_in, "values", "base=500.0"),
    (sine_of_one_sign, "isometry", "norms"),
    (frequencies_tiled, "isometry", "norms"),
    (added, "relative positions", "changes when both positions move by the same amount"),
]


CONVENTIONS = (half_split, other_way_round, positions_from_one)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=slow)])
@pytest.mark.parametrize(("forward", "broken", "words"), WRONG, ids=lambda each: getattr(each, "__name__", None))
def test_wrong_ones_fail(forward, broken, words, dtype, seed):
    report = check("rotary", forward, dtype=dtype, seed=seed)
    expected = "variant" if forward in CONVENTIONS else "fail"
    assert report.verdict == expected
    assert report.finding("values").verdict == expected
    assert report.finding(broken).verdict == expected
    assert words in report.finding(broken).message


def test_angles_in_bfloat16_are_a_mistake_even_in_bfloat16():
    report = check("rotary", angles_in_bfloat16, dtype="bfloat16")
    assert report.verdict == "fail"
    assert "far positions" in report.finding("values").evidence["failed_probes"]
    check("rotary", angles_in_bfloat16, dtype="bfloat16", precision="bfloat16/bfloat16").raise_if_failed()


def turned_on(dy, x, positions, base=10000.0):
    return stored_cosines(dy, positions, base)


def passed_through(dy, x, positions, base=10000.0):
    return dy.copy()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", [turned_on, passed_through])
def test_a_wrong_backward_fails(backward, dtype, seed):
    report = check("rotary", stored_cosines, backward=backward, dtype=dtype, seed=seed)
    assert report.verdict == "fail"
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").verdict == "fail"
    assert "it is not the inverse rotation" in report.finding("gradient turns back").message


def test_positions_reach_the_implementation_as_integers_unrounded():
    seen = []

    def spy(x, positions, base=10000.0):
        seen.append(positions)
        return stored_cosines(x, positions, base)

    check("rotary", spy, dtype="bfloat16").raise_if_failed()
    assert {each.dtype.name for each in seen} == {"int64"}
    assert max(each.max() for each in seen) == 4095

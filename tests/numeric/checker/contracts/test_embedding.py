"""Right and wrong embeddings: a look-up, a scale that is a convention, and a gradient that adds."""

import math

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Probe, check

torch = pytest.importorskip("torch")

slow = pytest.mark.slow
EVERY_DTYPE = ["float64", pytest.param("float32", marks=slow), pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]
F = torch.nn.functional


def times(rows, scale):
    return rows if scale is None else rows * rows.dtype.type(scale)


def indexed(ids, table, scale=None):
    return times(table[ids], scale)


def taken(ids, table, scale=None):
    return times(np.take(table, ids, axis=0), scale)


def scaled_table(ids, table, scale=None):
    return times(table, scale)[ids]


def one_hot(ids, table, scale=None):
    wide = np.float32 if table.dtype.itemsize == 2 else table.dtype
    return times(
        ((ids[..., None] == np.arange(len(table))).astype(wide) @ table.astype(wide)).astype(table.dtype), scale
    )


def in_wide(ids, table, scale=None):
    wide = np.float32 if table.dtype.itemsize == 2 else table.dtype
    return times(table[ids].astype(wide), scale).astype(table.dtype)


def added(dy, ids, table, scale=None):
    wide = np.float32 if table.dtype.itemsize == 2 else table.dtype
    found = np.zeros(table.shape, wide)
    np.add.at(found, ids, dy.astype(wide))
    return times(found.astype(table.dtype), scale)


def one_hot_product(dy, ids, table, scale=None):
    wide = np.float32 if table.dtype.itemsize == 2 else table.dtype
    hot = (ids.reshape(-1, 1) == np.arange(len(table))).astype(wide)
    return (hot.T @ times(dy, scale).astype(wide).reshape(-1, dy.shape[-1])).astype(table.dtype)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", [added, one_hot_product])
@pytest.mark.parametrize("forward", [indexed, taken, scaled_table, one_hot, in_wide])
def test_right_ones_pass(forward, backward, dtype, seed):
    report = check("embedding", forward, backward=backward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


def of_torch(ids, table, scale=None):
    rows = F.embedding(ids, table)
    return rows if scale is None else rows * scale


def one_hot_of_torch(ids, table, scale=None):
    rows = F.one_hot(ids, len(table)).to(table.dtype) @ table
    return rows if scale is None else rows * scale


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("forward", [of_torch, one_hot_of_torch])
def test_pytorch_passes_with_its_gradients(forward, dtype, seed):
    check("embedding", forward, adapter="torch", dtype=dtype, seed=seed).raise_if_failed()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_pytorch_adds_up_in_16_bits(dtype):
    report = check("embedding", of_torch, adapter="torch", dtype=dtype)
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").mistake == "embedding.gradient_accumulated_in_16_bits"
    stated = check("embedding", of_torch, adapter="torch", dtype=dtype, precision=f"{dtype}/{dtype}")
    stated.raise_if_failed()


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_built_in_scale_is_a_variant(dtype):
    """Field case SC10: the ratio is sqrt(d), and no error."""

    def vaswani(ids, table):
        return table[ids] * table.dtype.type(math.sqrt(table.shape[-1]))

    report = check("embedding", vaswani, dtype=dtype)
    assert (report.verdict, report.mistakes) == ("variant", ("embedding.scaled",))
    assert "or ask for it with scale = sqrt(d)" in report.finding("values").message
    four = [Probe("d = 4", (np.array([[0, 2, 1]]), np.arange(12.0).reshape(3, 4) - 5.5))]
    check("embedding", vaswani, dtype=dtype, options={"scale": 2.0}, probes=four).raise_if_failed()


def test_a_scale_in_bfloat16():
    """Field case SC11: sqrt(3072) becomes 55.5, which is 1.00134 times too large."""
    assert float(ml_dtypes.bfloat16(math.sqrt(3072))) == 55.5
    table = np.random.default_rng(2).standard_normal((3, 3072))
    wide = [Probe("d = 3072", (np.array([2, 0, 1]), table), {"scale": math.sqrt(3072)})]

    def gemma(ids, table, scale=None):
        return table[ids] * table.dtype.type(1 if scale is None else ml_dtypes.bfloat16(scale))

    report = check("embedding", gemma, dtype="float32", probes=wide)
    assert report.finding("values").mistake == "embedding.scale_in_bfloat16"
    assert "sqrt(3072) = 55.426 to 55.5, which is 1.00134 times too large" in report.finding("values").message
    check("embedding", gemma, dtype="bfloat16", probes=wide).raise_if_failed()


def test_another_scale_is_fitted():
    report = check("embedding", lambda ids, table, scale=None: table[ids] * 1.7)
    assert "it is what scale = 1.7 gives" in report.finding("values").message


def test_a_gradient_that_overwrites_is_named_in_pytorch_too():
    def backward(dy, ids, table, scale=None):
        found = torch.zeros_like(table)
        found[ids.reshape(-1)] = dy.reshape(-1, dy.shape[-1])
        return found if scale is None else found * scale

    report = check("embedding", of_torch, backward=backward, adapter="torch")
    assert report.finding("gradients").mistake == "embedding.gradient_overwritten"
    assert report.finding("gradient keeps the sum").verdict == "fail"

"""Right and wrong gated units: three products in any order, and a gate that is the first input."""

import numpy as np
import pytest
from scipy import special

from numeric.checker import check

torch = pytest.importorskip("torch")

slow = pytest.mark.slow
EVERY_DTYPE = [pytest.param("float64", marks=slow), "float32", pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def sigmoid(a):
    return special.expit(a.astype(np.float64)).astype(a.dtype)


def in_wide(a, b):
    wide = np.float32 if a.dtype.itemsize == 2 else a.dtype
    return (a.astype(wide) * sigmoid(a.astype(wide)) * b.astype(wide)).astype(a.dtype)


RIGHT = {
    "gate first": lambda a, b: a * sigmoid(a) * b,
    "value first": lambda a, b: a * (sigmoid(a) * b),
    "product first": lambda a, b: a * b * sigmoid(a),
    "quotient": lambda a, b: a / (a.dtype.type(1) + np.exp(-a)) * b,
    "wide": in_wide,
}
TORCH = {
    "functional": lambda a, b: torch.nn.functional.silu(a) * b,
    "value first": lambda a, b: a * (torch.sigmoid(a) * b),
    "product first": lambda a, b: (a * b) * torch.sigmoid(a),
    "glu": lambda a, b: a * torch.nn.functional.glu(torch.cat([b, a], -1), -1),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_pass(name, dtype, seed):
    report = check("swiglu", RIGHT[name], dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", TORCH)
def test_pytorch_passes_with_its_gradients(name, dtype, seed):
    report = check("swiglu", TORCH[name], adapter="torch", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_gate_in_second_place_is_a_variant_and_so_are_its_gradients(dtype):
    def exchanged(a, b):
        return a * torch.nn.functional.silu(b)

    report = check("swiglu", exchanged, adapter="torch", dtype=dtype)
    assert report.finding("values").mistake == report.finding("gradients").mistake == "swiglu.gate_second"
    assert report.verdict == "variant"
    check("swiglu", exchanged, adapter="torch", dtype=dtype, accept=("swiglu.gate_second",)).raise_if_failed()


def test_two_mistakes_at_once_are_two_findings():
    def of_sigmoid(a, b):
        return sigmoid(a) * b

    def without_value(dy, a, b):
        s = sigmoid(a)
        return dy * s * (1 - s), dy * s

    report = check("swiglu", of_sigmoid, backward=without_value)
    assert report.finding("values").mistake == "swiglu.sigmoid_gate"
    assert report.finding("gradients").mistake != "swiglu.sigmoid_gate"
    assert "and not the gradients of swiglu.sigmoid_gate either" in report.finding("gradients").message

"""Right and wrong silus; sigmoids are written in many ways, and some overflow or lose digits."""

import numpy as np
import pytest
from scipy import special

from numeric.checker import check

torch = pytest.importorskip("torch")

slow = pytest.mark.slow
EVERY_DTYPE = [pytest.param("float64", marks=slow), "float32", pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def quotient(x):
    return x / (x.dtype.type(1) + np.exp(-x))


def by_branches(x):
    one, powers = x.dtype.type(1), np.exp(-np.abs(x))
    return x * np.where(x >= 0, one / (one + powers), powers / (one + powers))


def in_wide(x):
    return quotient(x.astype(np.float32) if x.dtype.itemsize == 2 else x).astype(x.dtype)


def through_tanh(x):
    kind = x.dtype.type
    return x * ((kind(1) + np.tanh(x * kind(0.5))) * kind(0.5))


RIGHT = {
    "quotient": quotient,
    "product": lambda x: x * (x.dtype.type(1) / (x.dtype.type(1) + np.exp(-x))),
    "expit": lambda x: x * special.expit(x.astype(np.float64)).astype(x.dtype),
    "branches": by_branches,
    "wide": in_wide,
    "tanh": through_tanh,
}
TORCH = {
    "functional": torch.nn.functional.silu,
    "module": torch.nn.SiLU(),
    "product": lambda x: x * torch.sigmoid(x),
    "tanh": lambda x: x * (torch.tanh(x / 2) + 1) / 2,
    "log": lambda x: x * torch.exp(torch.nn.functional.logsigmoid(x.double())).to(x.dtype),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_pass(name, dtype, seed):
    report = check("silu", RIGHT[name], dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", TORCH)
def test_pytorch_passes_with_its_gradients(name, dtype, seed):
    report = check("silu", TORCH[name], adapter="torch", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.01 < report.finding("gradients").evidence["worst"]["ratio"] < 1


def slope_of_product(dy, x):
    s = special.expit(x)
    return dy * s + dy * x * s * (1 - s)


def slope_of_output(dy, x):
    s = special.expit(x)
    y = x * s
    return dy * (y + s * (1 - y))


@pytest.mark.parametrize("backward", [slope_of_product, slope_of_output])
def test_right_gradients_pass(backward):
    check("silu", quotient, backward=backward).raise_if_failed()


def test_what_loses_digits_is_told():
    finding = check("silu", through_tanh).finding("values")
    assert (finding.verdict, finding.mistake) == ("pass", "silu.through_tanh")
    assert check("silu", quotient).finding("values").mistake is None


def test_autograd_of_the_quotient_is_unstable():
    report = check("silu", lambda x: x / (1 + torch.exp(-x)), adapter="torch")
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").mistake == "silu.gradient_of_quotient"
    assert "right formula, unstable at 'far out'" in report.finding("gradients").message


def test_another_beta_is_fitted():
    report = check("silu", lambda x: x * special.expit(1.5 * x))
    assert "the factor of x inside the sigmoid = 1.5 gives, where 1 is right" in report.finding("values").message

"""Right and wrong rectifiers. Every right one is exact; what it makes of the gradient at 0 may be any subgradient."""

import numpy as np
import pytest

from numeric.checker import check

slow = pytest.mark.slow
EVERY_DTYPE = ["float64", pytest.param("float32", marks=slow), pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]

RIGHT = {
    "maximum": lambda x: np.maximum(x, x.dtype.type(0)),
    "where": lambda x: np.where(x > 0, x, x.dtype.type(0)),
    "mask": lambda x: x * (x > 0).astype(x.dtype),
    "half of x + |x|": lambda x: (x + np.abs(x)) * x.dtype.type(0.5),
    "minus the negative part": lambda x: x - np.minimum(x, x.dtype.type(0)),
    "clipped": lambda x: np.clip(x, x.dtype.type(0), None),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_are_exact(name, dtype, seed):
    report = check("relu", RIGHT[name], dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert report.finding("values").evidence["worst"]["error"] == 0


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_any_subgradient_at_0_passes(slope):
    def backward(dy, x):
        return dy * np.where(x == 0, slope, x > 0)

    check("relu", RIGHT["maximum"], backward=backward).raise_if_failed()


@pytest.mark.parametrize("slope", [-0.25, 1.25])
def test_a_slope_at_0_that_is_no_subgradient_fails(slope):
    def backward(dy, x):
        return dy * np.where(x == 0, slope, x > 0)

    report = check("relu", RIGHT["maximum"], backward=backward)
    assert report.verdict == "fail"
    assert "it lies outside [0, dy]" in report.finding("subgradient at 0").message


def test_pytorch_takes_0_half_and_1_at_0():
    torch = pytest.importorskip("torch")
    for forward in (
        torch.relu,
        torch.nn.ReLU(),
        lambda x: torch.clamp(x, min=0),
        lambda x: torch.maximum(x, 0 * x),
    ):
        for dtype in ("float64", "float32", "float16", "bfloat16"):
            check("relu", forward, adapter="torch", dtype=dtype).raise_if_failed()


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (lambda x: np.where(x > 0, x, 0.2 * x), "the slope of negative x = 0.2"),
        (lambda x: 3 * np.maximum(x, 0), "the slope of positive x = 3"),
        (lambda x: np.maximum(x, -0.5), "no known mistake"),
    ],
)
def test_what_has_no_name_is_fitted(forward, words):
    report = check("relu", forward)
    assert report.verdict == "fail"
    assert words in report.finding("values").message

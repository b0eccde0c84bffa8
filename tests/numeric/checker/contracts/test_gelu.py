"""Right gelus, accurate and not, and wrong ones; and the approximations, which are conventions of their own."""

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from numeric.checker import Probe, check

torch = pytest.importorskip("torch")

slow = pytest.mark.slow
EVERY_DTYPE = [pytest.param("float64", marks=slow), "float32", pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def rounded(function, x):
    return function(x.astype(np.float64)).astype(x.dtype)


def with_erf(x):
    kind = x.dtype.type
    return kind(0.5) * x * (kind(1) + rounded(special.erf, x * kind(0.5**0.5)))


def with_erfc(x):
    return x.dtype.type(0.5) * x * rounded(special.erfc, -x / x.dtype.type(2**0.5))


def with_normal_distribution(x):
    return x * rounded(special.ndtr, x)


def in_float32_at_least(x):
    return with_erf(x.astype(np.float32) if x.dtype.itemsize == 2 else x).astype(x.dtype)


ACCURATE = {"erfc": with_erfc, "normal distribution": with_normal_distribution}
LOSING = {"erf": with_erf, "erf in float32 at least": in_float32_at_least}
TORCH = {
    "functional": torch.nn.functional.gelu,
    "module": torch.nn.GELU(),
    "with erf": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "with erfc": lambda x: x * (torch.erfc(-x * math.sqrt(0.5)) / 2),
    "with ndtr": lambda x: x * torch.special.ndtr(x),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", [*ACCURATE, *LOSING])
def test_right_ones_pass(name, dtype, seed):
    report = check("gelu", (ACCURATE | LOSING)[name], dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", TORCH)
def test_pytorch_passes_with_its_gradients(name, dtype, seed):
    report = check("gelu", TORCH[name], adapter="torch", dtype=dtype, seed=seed)
    report.raise_if_failed()
    for kind in ("values", "gradients"):
        assert 0.05 < report.finding(kind).evidence["worst"]["ratio"] < 1


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_plus_erf_passes_and_is_told_to_lose_digits(dtype):
    for name, forward in LOSING.items():
        finding = check("gelu", forward, dtype=dtype).finding("values")
        assert (finding.verdict, finding.mistake) == ("pass", "gelu.one_plus_erf"), name
        assert "Accuracy, not an error: gelu.one_plus_erf: right formula that loses digits" in finding.message
    for name, forward in ACCURATE.items():
        finding = check("gelu", forward, dtype=dtype).finding("values")
        assert (finding.verdict, finding.mistake) == ("pass", None), name
        assert "Accuracy" not in finding.message


def test_the_tail_in_float32():
    """Field case AC3."""
    tail = Probe("tail", (np.array([[-5.5, -0.5, 1.0, 2.0, 0.25]]),))
    finding = check("gelu", with_erf, dtype="float32", probes=[tail]).finding("values")
    assert (finding.verdict, finding.mistake) == ("pass", "gelu.one_plus_erf")
    assert "found -1.6391e-07, exact -1.0444e-07, a relative error of 0.57" in finding.message
    check("gelu", with_erfc, dtype="float32", probes=[tail]).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_the_approximations_are_variants(dtype):
    """Field case AC2: in bfloat16 the negative tail tells, and the positive one cannot."""

    def tanh(x):
        return torch.nn.functional.gelu(x, approximate="tanh")

    def sigmoid(x):
        wide = x.double() if x.dtype == torch.float64 else x.float()
        return (wide * torch.sigmoid(1.702 * wide)).to(x.dtype)

    for forward, name in ((tanh, "gelu.tanh"), (sigmoid, "gelu.sigmoid")):
        report = check("gelu", forward, adapter="torch", dtype=dtype)
        assert (report.verdict, report.mistakes[0]) == ("variant", name)
        assert report.finding("gradients").verdict == "variant"
        check("gelu", forward, adapter="torch", dtype=dtype, accept=(name,)).raise_if_failed()
    if dtype == "bfloat16":
        assert check("gelu", tanh, adapter="torch", dtype=dtype, probes=("negative tail",)).verdict == "variant"
        check("gelu", tanh, adapter="torch", dtype=dtype, probes=("positive tail",)).raise_if_failed()


@slow
def test_a_sigmoid_with_every_intermediate_in_bfloat16_is_still_a_sigmoid():
    def quick(x):
        return x * torch.sigmoid(1.702 * x)

    assert check("gelu", quick, adapter="torch", dtype="bfloat16").mistakes[0] == "gelu.sigmoid"


def test_the_slope_in_the_tail():
    """Field case AC5: at -3.7 it is -0.001464, and a gradient without the density has the other sign."""
    at = np.array([[-3.7, 0.3, -0.2, 1.1]])
    assert special.ndtr(-3.7) - 3.7 * np.exp(-(3.7**2) / 2) / np.sqrt(2 * np.pi) == pytest.approx(-0.001464, abs=1e-6)

    def right(dy, x):
        return dy * (rounded(special.ndtr, x) + x * np.exp(x * x / -2) / np.float32(np.sqrt(2 * np.pi)))

    def without_density(dy, x):
        return dy * rounded(special.ndtr, x)

    probes = [Probe("tail", (at,))]
    check("gelu", with_erfc, backward=right, dtype="float32", probes=probes).raise_if_failed()
    report = check("gelu", with_erfc, backward=without_density, dtype="float32", probes=probes)
    assert report.finding("gradients").mistake == "gelu.gradient_without_density"
    assert "has the wrong sign below -0.7518" in report.finding("gradients").message


def test_stored_erf_in_bfloat16_passes_at_any_size_from_1_to_1024():
    rng = np.random.default_rng(5)
    sizes = [Probe(f"generic {n}", (3 * rng.standard_normal((2, n)),)) for n in (1, 2, 17, 300, 1024)]
    assert with_erf(np.ones(3, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    check("gelu", with_erf, dtype="bfloat16", probes=sizes).raise_if_failed()


def test_a_factor_that_is_no_known_one_is_fitted():
    report = check("gelu", lambda x: 0.5 * x * (1 + special.erf(0.9 * x)))
    assert "the factor of x inside erf = 0.9 gives, where 1 / sqrt 2" in report.finding("values").message


def test_a_small_change_of_the_cubic_coefficient_fails():
    def other(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.0447 * x**3)))

    report = check("gelu", other)
    assert report.verdict == "fail" and not report.mistakes

"""PyTorch's own normalisations, and composites of its operations with autograd, never exceed the bound, and come near it.

Run with `-s` to see the largest ratio of error to allowance for each.
"""

import numpy as np
import pytest

from numeric.checker import Probe, check

torch = pytest.importorskip("torch", reason="the subjects are PyTorch's")
functional = torch.nn.functional

slow = pytest.mark.slow
DTYPES = ["float32", *(pytest.param(dtype, marks=slow) for dtype in ("float64", "float16", "bfloat16"))]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in (1, 2))]


def wide(x):
    """Squares overflow in float16; bfloat16 stays as it is, so that every step is stored in it."""
    return x.float() if x.dtype == torch.float16 else x


def layer_norm(x, gain, bias, eps=1e-5):
    return functional.layer_norm(x, x.shape[-1:], gain, bias, eps)


def layer_norm_module(x, gain, bias, eps=1e-5):
    module = torch.nn.LayerNorm(x.shape[-1], eps, dtype=x.dtype)
    return torch.func.functional_call(module, {"weight": gain, "bias": bias}, (x,))


def layer_norm_by_variance(x, gain, bias, eps=1e-5):
    z = wide(x)
    v, m = torch.var_mean(z, -1, correction=0, keepdim=True)
    return ((z - m) * torch.rsqrt(v + eps)).to(x.dtype) * gain + bias


def layer_norm_by_steps(x, gain, bias, eps=1e-5):
    z = wide(x)
    c = z - z.mean(-1, keepdim=True)
    return (wide(gain) * (c / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + eps)) + wide(bias)).to(x.dtype)


def layer_norm_by_group(x, gain, bias, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return functional.group_norm(rows, 1, gain, bias, eps).reshape(x.shape)


def rms_norm(x, gain, eps=1e-5):
    return functional.rms_norm(x, x.shape[-1:], gain, eps)


def rms_norm_by_steps(x, gain, eps=1e-5):
    z = wide(x)
    return ((z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + eps)) * wide(gain)).to(x.dtype)


def rms_norm_llama(x, gain, eps=1e-5):
    z = x if x.dtype == torch.float64 else x.float()
    return gain * (z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)


def rms_norm_by_length(x, gain, eps=1e-5):
    z = wide(x)
    return (z / torch.sqrt(torch.linalg.vector_norm(z, dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps)).to(
        x.dtype
    ) * gain


def add_and_norm(x, sublayer, gain, bias, order="post", eps=1e-5):
    if order == "post":
        return layer_norm(x + sublayer(x), gain, bias, eps)
    return x + sublayer(layer_norm(x, gain, bias, eps))


def add_and_norm_by_steps(x, sublayer, gain, bias, order="post", eps=1e-5):
    if order == "post":
        return layer_norm_by_steps(sublayer(x) + x, gain, bias, eps)
    return sublayer(layer_norm_by_steps(x, gain, bias, eps)) + x


SUBJECTS = [
    ("layer_norm", layer_norm),
    ("layer_norm", layer_norm_module),
    ("layer_norm", layer_norm_by_variance),
    ("layer_norm", layer_norm_by_steps),
    ("layer_norm", layer_norm_by_group),
    ("rms_norm", rms_norm),
    ("rms_norm", rms_norm_by_steps),
    ("rms_norm", rms_norm_llama),
    ("rms_norm", rms_norm_by_length),
    ("add_and_norm", add_and_norm),
    ("add_and_norm", add_and_norm_by_steps),
]


BY_DEFAULT = (layer_norm_by_variance, rms_norm, add_and_norm)
NARROW = (layer_norm, layer_norm_module, add_and_norm)  # whose dgain and dbias are added up in 16 bits


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("contract", "subject"),
    [each if each[1] in BY_DEFAULT else pytest.param(*each, marks=slow) for each in SUBJECTS],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_is_never_exceeded_nor_out_of_reach(contract, subject, dtype, seed):
    report = check(contract, subject, adapter="torch", dtype=dtype, seed=seed)
    kinds = ["values", "gradients"]
    if subject in NARROW and dtype in ("float16", "bfloat16"):
        kinds.remove("gradients")
        assert report.mistakes == (f"{contract}.gradient_narrow_sums",)
        assert report.finding("values").verdict == "pass"
    else:
        report.raise_if_failed()
    for kind in kinds:
        ratio = report.finding(kind).evidence["worst"]["ratio"]
        print(f"{contract:13} {subject.__name__:24} {dtype:9} {kind:9} largest error / allowance {ratio:.3f}")
        assert 0.05 < ratio <= 1


@slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_pytorch_adds_up_the_gradients_of_gain_and_bias_in_16_bits(dtype):
    report = check("layer_norm", layer_norm, adapter="torch", dtype=dtype)
    assert "right formula, unstable at" in report.finding("gradients").message
    assert report.finding("gradient sums to 0").verdict == "pass"
    stated = check("layer_norm", layer_norm, adapter="torch", dtype=dtype, precision=f"{dtype}/{dtype}")
    assert stated.finding("gradients").verdict == "pass"


@pytest.mark.parametrize("eps", [1e-6, pytest.param(1e-4, marks=slow)])
def test_another_eps_is_fitted_in_values_and_gradients(eps):
    report = check("layer_norm", lambda x, gain, bias: layer_norm(x, gain, bias, eps), adapter="torch")
    for kind in ("values", "gradients"):
        fitted = float(report.finding(kind).message.split("eps = ")[1].split(" ")[0])
        assert fitted == pytest.approx(eps, rel=1e-6)


@slow
def test_a_variance_without_gradient_is_told_by_the_gradients_only():
    def detached(x, gain, bias, eps=1e-5):
        v, m = torch.var_mean(x, -1, correction=0, keepdim=True)
        return (x - m) * torch.rsqrt(v.detach() + eps) * gain + bias

    report = check("layer_norm", detached, adapter="torch")
    assert report.finding("values").verdict == "pass"
    assert report.mistakes == ("layer_norm.gradient_without_x_hat",)


def test_a_sublayer_without_gradient_is_told():
    def detached(x, sublayer, gain, bias, order="post", eps=1e-5):
        return add_and_norm(x, lambda u: sublayer(u).detach(), gain, bias, order, eps)

    report = check("add_and_norm", detached, adapter="torch", probes=("generic*post*", "generic*pre*"), dtype="float32")
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").verdict != "pass"


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_64_rows_of_4096_features(dtype):
    rng = np.random.default_rng(0)
    inputs = (rng.standard_normal((64, 4096)), rng.standard_normal(4096), rng.standard_normal(4096))
    check(
        "layer_norm", layer_norm_by_steps, adapter="torch", dtype=dtype, probes=[Probe("long", inputs)]
    ).raise_if_failed()

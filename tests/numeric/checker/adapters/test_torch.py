"""PyTorch's own functions pass in every dtype, with gradients by autograd; common slips in PyTorch code do not."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numeric.checker import Probe, check, checks_of

torch = pytest.importorskip("torch", reason="these subjects are PyTorch's")
torch.set_num_threads(1)  # small arrays: a second thread only waits
slow = pytest.mark.slow
DTYPES = ["float64", "float32", "float16", "bfloat16"]
SOME_DTYPES = [pytest.param("float64", marks=slow), "float32", pytest.param("float16", marks=slow), "bfloat16"]
ONE_DTYPE = [pytest.param("float64", marks=slow), "float32", *(pytest.param(each, marks=slow) for each in DTYPES[2:])]
SMALL = ("*draw 0", "[!46g]*", "gap*", "gradient*")  # all but two draws in three, "4 x 4096" and "4096 x 3"


@pytest.mark.parametrize("contract", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", SOME_DTYPES)
def test_the_functions_of_torch_pass(contract, dtype):
    report = check(contract, getattr(torch, contract), dtype=dtype, probes=SMALL)
    report.raise_if_failed()
    assert report.adapter == "torch"
    assert report.finding("gradients").verdict == "pass"
    assert report.finding("option temperature").verdict == "not run"


@slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("contract", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_functions_of_torch_pass_up_to_64_x_4096(contract, dtype, seed):
    functional = getattr(torch.nn.functional, contract)
    check(contract, functional, dtype=dtype, seed=seed).raise_if_failed()  # takes `dim`, which is known for `axis`
    large = Probe("64 x 4096", (4 * np.random.default_rng(seed).standard_normal((64, 4096)),))
    report = check(contract, functional, dtype=dtype, seed=seed, probes=[large])
    report.raise_if_failed()
    assert report.finding("gradients").evidence["entries"] == 64 * 4096


def composite(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = torch.exp(y - y.max(axis, keepdim=True).values)
    return p / p.sum(axis, keepdim=True)


def composite_with_amax(z, axis=-1, temperature=1.0):
    p = torch.exp((z - z.amax(axis, keepdim=True)) / temperature)
    return p / p.sum(axis, keepdim=True)


def composite_without_gradient_of_the_maximum(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = torch.exp(y - y.detach().amax(axis, keepdim=True))
    return p / p.sum(axis, keepdim=True)


def through_log_softmax(z, axis=-1, temperature=1.0):
    return torch.log_softmax(z / temperature, axis).exp()


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.parametrize(
    "forward",
    [composite, composite_with_amax, composite_without_gradient_of_the_maximum, through_log_softmax],
)
def test_composites_pass_with_their_autograd(forward, dtype):
    check("softmax", forward, dtype=dtype, probes=SMALL).raise_if_failed()


def test_modules_pass():
    check("softmax", torch.nn.Softmax(dim=-1), dtype="float32", probes=SMALL).raise_if_failed()


def slices(dtype):
    def encoding(length, d_model):
        position = torch.arange(length, dtype=dtype).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, dtype=dtype) * -(math.log(10000.0) / d_model))
        pe = torch.zeros(length, d_model, dtype=dtype)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe

    return encoding


def stacked(dtype):
    def encoding(length, d_model, base=10000.0):
        frequency = 1.0 / base ** (torch.arange(0, d_model, 2, dtype=dtype) / d_model)
        angles = torch.outer(torch.arange(length, dtype=dtype), frequency)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    return encoding


def divided(dtype):
    def encoding(length, d_model, base=10000.0):
        even = torch.arange(0, d_model, 2, dtype=dtype)
        angles = torch.arange(length, dtype=dtype)[:, None] / torch.pow(torch.tensor(base, dtype=dtype), even / d_model)
        pe = torch.empty(length, d_model, dtype=dtype)
        pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()
        return pe

    return encoding


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", [slices, stacked, divided])
def test_the_usual_encodings_pass(way, dtype):
    check("positional_encoding", way(getattr(torch, dtype)), dtype=dtype).raise_if_failed()


def test_an_encoding_computed_in_bfloat16_fails():
    report = check("positional_encoding", slices(torch.bfloat16), dtype="bfloat16")
    assert report.verdict == "fail"
    assert "past 256 (300, 4)" in report.finding("values").evidence["failed_probes"]


def test_an_encoding_of_the_wrong_dtype_is_told():
    report = check("positional_encoding", slices(torch.float32), dtype="float64")
    assert report.verdict == "error"
    assert "it returned dtype float32, needed float64" in report.finding("calls").message
    assert 'check it with dtype="float32"' in report.finding("calls").message


def concatenated(length, d_model):
    angles = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()], -1)


def rotary(x, positions, base=10000.0):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    angles = positions.to(wide)[:, None] / base ** (torch.arange(0, d, 2, dtype=wide) / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


@pytest.mark.parametrize("dtype", SOME_DTYPES)
def test_a_rotary_embedding_passes_with_its_autograd(dtype):
    report = check("rotary", rotary, dtype=dtype)
    report.raise_if_failed()
    assert report.finding("gradients").verdict == "pass"


class WithoutInnerProduct(torch.autograd.Function):
    @staticmethod
    def forward(context, z):
        s = torch.softmax(z, -1)
        context.save_for_backward(s)
        return s

    @staticmethod
    def backward(context, dy):
        return dy * context.saved_tensors[0]


class HalfSplitPassedOff(torch.autograd.Function):
    """Right values; the gradient turns on instead of back."""

    @staticmethod
    def forward(context, x, positions):
        context.save_for_backward(positions)
        return rotary(x, positions)

    @staticmethod
    def backward(context, dy):
        return rotary(dy, context.saved_tensors[0]), None


@pytest.mark.parametrize("dtype", ONE_DTYPE)
@pytest.mark.parametrize(
    ("contract", "forward", "broken"),
    [
        ("softmax", lambda z: torch.softmax(z, 0), "slices sum to 1"),
        ("softmax", lambda z: torch.softmax(z.flatten(), 0).view(z.shape), "slices are independent"),
        ("softmax", lambda z: torch.exp(z) / torch.exp(z).sum(-1, keepdim=True), "values"),
        ("softmax", lambda z: torch.softmax(z.detach(), -1) + 0 * z, "gradients"),
        ("softmax", WithoutInnerProduct.apply, "gradient sums to 0"),
        ("log_softmax", lambda z: torch.log(torch.softmax(z, -1)), "values"),
        ("positional_encoding", concatenated, "shift is a rotation"),
        ("rotary", HalfSplitPassedOff.apply, "gradient turns back"),
    ],
)
def test_slips_fail(contract, forward, broken, dtype):
    if contract == "positional_encoding":
        report = check(contract, lambda n, d: forward(n, d).to(getattr(torch, dtype)), dtype=dtype)
    else:
        report = check(contract, forward, dtype=dtype, adapter="torch", probes=None if contract == "rotary" else SMALL)
    assert report.verdict in ("fail", "variant")
    assert report.finding(broken).verdict == report.verdict


def test_a_detached_output_is_told():
    report = check("softmax", lambda z: torch.softmax(z.detach(), -1), adapter="torch", probes=("generic*draw 0",))
    assert report.verdict == "error"
    assert "its output does not depend on its inputs as far as autograd knows" in report.finding("calls").message
    assert report.finding("values").verdict == "pass"


def test_an_implementation_under_no_grad_is_told():
    @torch.no_grad()
    def forward(z):
        return torch.softmax(z, -1)

    assert check("softmax", forward, adapter="torch", probes=("generic*draw 0",)).verdict == "error"


def test_a_backward_of_ones_own_comes_before_autograd():
    report = check("softmax", lambda z: torch.softmax(z, -1), backward=lambda dy, z: dy, adapter="torch", probes=SMALL)
    assert report.finding("gradients").verdict == "fail"


def test_numpy_from_a_torch_subject_is_told():
    report = check(
        "softmax", lambda z: torch.softmax(z, -1).detach().numpy(), adapter="torch", probes=("generic*draw 0",)
    )
    assert report.verdict == "error"
    assert "it returned a ndarray, needed a torch.Tensor" in report.finding("calls").message


def test_the_checker_does_not_import_torch():
    program = "import sys, numeric.checker as c; c.check('softmax', lambda z: z, probes=['ties']); print('torch' in sys.modules)"
    root = Path(__file__).parents[4]
    ran = subprocess.run([sys.executable, "-c", program], check=True, cwd=root, capture_output=True, text=True)
    assert ran.stdout == "False\n"


def test_a_strided_tensor_reaches_the_subject():
    seen = []

    def spy(z):
        seen.append(z.is_contiguous())
        return torch.softmax(z, -1)

    check("softmax", spy, adapter="torch", probes=("strided", "ties")).raise_if_failed()
    assert False in seen
    assert True in seen


def test_the_names_of_checks_are_those_of_the_report():
    names = [finding.check for finding in check("softmax", torch.softmax, probes=SMALL).findings]
    assert names[: len(checks_of("softmax"))] == checks_of("softmax")

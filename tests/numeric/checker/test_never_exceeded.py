"""The evidence for the bound: PyTorch's and NumPy's own arithmetic, over dtypes and seeds, never exceeds it.

Run with `-s` to see the largest ratio of error to allowance for each subject. A bound that is never exceeded could still be far
too wide, so each ratio must also reach a tenth at least once, that is, the allowance is within ten times of what was met.
"""

import numpy as np
import pytest

from numeric.checker import check

torch = pytest.importorskip("torch", reason="most subjects are PyTorch's")
DTYPES = ["float64", "float32", "float16", "bfloat16"]


def softmax_numpy(z, axis=-1, temperature=1.0):
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    y = z / z.dtype.type(temperature)
    p = np.exp(y - y.max(axis, keepdims=True))
    return p / p.sum(axis, keepdims=True, dtype=wide).astype(z.dtype)


def softmax_composite(z, axis=-1, temperature=1.0):
    y = z / temperature
    p = torch.exp(y - y.amax(axis, keepdim=True))
    return p / p.sum(axis, keepdim=True)


def softmax_torch(z, axis=-1, temperature=1.0):
    return torch.softmax(z / temperature, axis)


def log_softmax_torch(z, axis=-1, temperature=1.0):
    return torch.log_softmax(z / temperature, axis)


def log_softmax_composite(z, axis=-1, temperature=1.0):
    y = z / temperature
    x = y - y.amax(axis, keepdim=True)
    return x - x.exp().sum(axis, keepdim=True).log()


def encoding(dtype):
    wide = torch.float64 if dtype == "float64" else torch.float32

    def positional_encoding(length, d_model, base=10000.0):
        angles = torch.arange(length, dtype=wide)[:, None] / base ** (torch.arange(0, d_model, 2, dtype=wide) / d_model)
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(getattr(torch, dtype))

    return positional_encoding


def rotary(x, positions, base=10000.0):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    angles = positions.to(wide)[:, None] * base ** (-torch.arange(0, d, 2, dtype=wide) / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def swiglu(a, b):
    return torch.nn.functional.silu(a) * b


def feed_forward(x, w1, b1, w2, b2, activation="relu"):
    return getattr(torch.nn.functional, activation)(x @ w1 + b1) @ w2 + b2


SUBJECTS = [
    ("softmax", lambda dtype: softmax_numpy),
    ("softmax", lambda dtype: softmax_composite),
    ("softmax", lambda dtype: softmax_torch),
    ("log_softmax", lambda dtype: log_softmax_torch),
    ("log_softmax", lambda dtype: log_softmax_composite),
    ("positional_encoding", encoding),
    ("rotary", lambda dtype: rotary),
    ("gelu", lambda dtype: torch.nn.functional.gelu),
    ("silu", lambda dtype: torch.nn.functional.silu),
    ("swiglu", lambda dtype: swiglu),
    ("feed_forward", lambda dtype: feed_forward),
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("contract", "subject"), SUBJECTS)
def test_the_bound_is_never_exceeded_nor_out_of_reach(contract, subject, dtype, record_property):
    ratios = {"values": [], "gradients": []}
    for seed in range(2):
        report = check(contract, subject(dtype), dtype=dtype, seed=seed)
        report.raise_if_failed()
        for kind, found in ratios.items():
            found += [each.evidence["worst"]["ratio"] for each in report.findings if each.check == kind and each.ran]
    for kind, found in ratios.items():
        if found:
            record_property(kind, max(found))
            print(
                f"{contract:20} {subject(dtype).__name__:22} {dtype:9} {kind:9} largest error / allowance {max(found):.3f}"
            )
            assert 0.05 < max(found) <= 1

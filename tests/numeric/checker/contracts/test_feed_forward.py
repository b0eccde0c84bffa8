"""Right and wrong feed-forward layers: products in any order, and five gradients."""

import math

import numpy as np
import pytest
from scipy import special

from numeric.checker import Probe, UsageError, check

torch = pytest.importorskip("torch")

slow = pytest.mark.slow
EVERY_DTYPE = [*(pytest.param(each, marks=slow) for each in ("float64", "float16")), "float32", "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def product(x, w):
    """Accumulated in float32 at least."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return (x.astype(wide) @ w.astype(wide)).astype(x.dtype)


def activated(name, a):
    kind = a.dtype.type
    if name == "relu":
        return np.maximum(a, kind(0))
    if name == "gelu":
        return kind(0.5) * a * (kind(1) + special.erf((a * kind(0.5**0.5)).astype(np.float64)).astype(a.dtype))
    return a / (kind(1) + np.exp(-a))


def plain(x, w1, b1, w2, b2, activation="relu"):
    return product(activated(activation, product(x, w1) + b1), w2) + b2


def bias_among_the_products(x, w1, b1, w2, b2, activation="relu"):
    def linear(rows, w, b):
        ones = np.ones((*rows.shape[:-1], 1), rows.dtype)
        return product(np.concatenate([ones, rows], -1), np.concatenate([b[None], w]))

    return linear(activated(activation, linear(x, w1, b1)), w2, b2)


def in_blocks_of_the_hidden_layer(x, w1, b1, w2, b2, activation="relu"):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    total = np.zeros(x.shape, wide)
    for start in range(0, len(b1), 3):
        part = slice(start, start + 3)
        h = activated(activation, product(x, w1[:, part]) + b1[part])
        total += h.astype(wide) @ w2[part].astype(wide)
    return total.astype(x.dtype) + b2


def einsum(x, w1, b1, w2, b2, activation="relu"):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    a = np.einsum("...d,df->...f", x.astype(wide), w1.astype(wide)).astype(x.dtype) + b1
    h = activated(activation, a)
    return np.einsum("...f,fd->...d", h.astype(wide), w2.astype(wide)).astype(x.dtype) + b2


def in_wide(*arrays, activation="relu"):
    wide = np.float32 if arrays[0].dtype.itemsize == 2 else arrays[0].dtype
    return plain(*(each.astype(wide) for each in arrays), activation=activation).astype(arrays[0].dtype)


RIGHT = [plain, bias_among_the_products, in_blocks_of_the_hidden_layer, einsum, in_wide]

F = torch.nn.functional
KERNELS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}
COMPOSITES = {
    "relu": lambda a: torch.clamp(a, min=0),
    "gelu": lambda a: 0.5 * a * (1 + torch.erf(a / math.sqrt(2))),
    "silu": lambda a: a * torch.sigmoid(a),
}


def functional(x, w1, b1, w2, b2, activation="relu"):
    return F.linear(KERNELS[activation](F.linear(x, w1.T, b1)), w2.T, b2)


def composite(x, w1, b1, w2, b2, activation="relu"):
    h = COMPOSITES[activation](torch.einsum("...d,df->...f", x, w1) + b1)
    return torch.einsum("...f,fd->...d", h, w2) + b2


def modules(x, w1, b1, w2, b2, activation="relu"):
    """nn.Linear, with the parameters put into it."""
    first, second = torch.nn.Linear(*w1.shape), torch.nn.Linear(*w2.shape)
    h = KERNELS[activation](torch.func.functional_call(first, {"weight": w1.T, "bias": b1}, (x,)))
    return torch.func.functional_call(second, {"weight": w2.T, "bias": b2}, (h,))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT)
def test_right_ones_pass(forward, dtype, seed):
    report = check("feed_forward", forward, dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", [functional, composite, modules])
def test_pytorch_passes_with_its_gradients(forward, dtype, seed):
    report = check("feed_forward", forward, adapter="torch", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


def test_without_a_keyword_only_relu_is_asked_for():
    only_relu = check("feed_forward", lambda *arrays: functional(*arrays), adapter="torch")
    assert only_relu.finding("option activation").message == (
        "activation='gelu', activation='silu': it takes no keyword activation"
    )


@slow
def test_the_gelu_of_another_convention_is_a_variant():
    def forward(x, w1, b1, w2, b2, activation="relu"):
        a = x @ w1 + b1
        h = F.gelu(a, approximate="tanh") if activation == "gelu" else KERNELS[activation](a)
        return h @ w2 + b2

    report = check("feed_forward", forward, adapter="torch", dtype="float32")
    assert report.verdict == "variant"
    assert report.finding("values").mistake == report.finding("gradients").mistake == "feed_forward.gelu_tanh"


def test_two_mistakes_at_once_are_seen_and_located():
    def forward(x, w1, b1, w2, b2, activation="relu"):
        return activated(activation, x @ w1) @ w2

    report = check("feed_forward", forward)
    assert report.verdict == "fail" and report.mistakes == ("feed_forward.without_biases",)

    def two(x, w1, b1, w2, b2, activation="relu"):
        return 2 * (activated(activation, -(x @ w1 + b1)) @ w2) + b2

    assert check("feed_forward", two).verdict == "fail"


@slow
def test_one_wrong_gradient_among_five_is_located():
    def backward(dy, x, w1, b1, w2, b2, activation="relu"):
        tensors = [torch.tensor(each, requires_grad=True) for each in (x, w1, b1, w2, b2)]
        y = functional(*tensors, activation=activation)
        found = [each.numpy() for each in torch.autograd.grad(y, tensors, torch.tensor(dy))]
        found[3] = found[3] * 1.001
        return tuple(found)

    report = check("feed_forward", plain, backward=backward)
    assert report.finding("values").verdict == "pass"
    assert "wrong in dw2 only" in report.finding("gradients").message


def test_an_output_of_another_width_is_not_asked_for():
    probe = Probe("narrow", (np.ones((3, 2)), np.ones((2, 4)), np.ones(4), np.ones((4, 1)), np.ones(1)))
    with pytest.raises(UsageError, match=r"w2 has shape \(4, 1\), needed \(f, d\) with d = 2, as x has it"):
        check("feed_forward", plain, probes=[probe])

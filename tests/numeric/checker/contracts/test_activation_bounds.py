"""The bounds of activation functions against dense grids: never exceeded, within reach, and closed where a function saturates."""

import numpy as np
import pytest
from scipy import special

from numeric.arithmetic import precision, to_balls, to_floats
from numeric.checker.contracts._activation_bounds import (
    ACTIVATIONS,
    accurate_only,
    bound_of,
    gradient_bound_of,
    sigmoids,
)
from numeric.checker.contracts.gelu import CONTRACT as GELU
from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded, allowance, any_of
from numeric.layers import activations

torch = pytest.importorskip("torch")

GRID = np.concatenate([np.linspace(-9, 9, 4001), np.geomspace(1e-6, 1, 500), -np.geomspace(1e-6, 1, 500)])
KERNELS = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}


def enclosed(name, x, dy):
    with precision(128):
        y, cache = activations.forward(name, to_balls(x))
        (dx,) = activations.backward(to_balls(dy), cache)
        return to_floats(y), to_floats(dx)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gelu", "silu"])
def test_kernels_of_pytorch_stay_within_and_come_near(name, dtype):
    x = torch.tensor(GRID).to(getattr(torch, dtype)).requires_grad_(True)
    y = KERNELS[name](x)
    (dx,) = torch.autograd.grad(y.sum(), x)
    at = x.detach().double().numpy()
    right, slope = enclosed(name, at, np.ones_like(at))
    given, one = (Rounded.exact(each, precision_of(dtype)) for each in (at, np.ones_like(at)))
    ratios = np.abs(y.detach().double().numpy() - right) / allowance(bound_of(name, given).returned())
    assert 0.05 < ratios.max() < 1
    ratios = np.abs(dx.double().numpy() - slope) / allowance(gradient_bound_of(name, one, given).returned())
    assert 0.05 < ratios.max() < 1


@pytest.mark.slow
def test_the_kernel_with_abramowitz_and_stegun_stays_within_at_millions_of_places():
    x = np.concatenate([np.linspace(-0.5, 0.5, 2_000_001), np.linspace(-9, 9, 2_000_001)]).astype(np.float32)
    tensor = torch.tensor(x, requires_grad=True)
    y = torch.nn.functional.gelu(tensor)
    (dx,) = torch.autograd.grad(y.sum(), tensor)
    at = x.astype(np.float64)
    right = at * special.ndtr(at)
    slope = special.ndtr(at) + at * np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)
    model = precision_of("float32")
    assert 0.3 < (np.abs(y.detach().double().numpy() - right) / allowance(GELU.bound(model, at))).max() < 1
    bound = GELU.gradient_bounds(model, np.ones_like(at), at)[0]
    assert 0.3 < (np.abs(dx.double().numpy() - slope) / allowance(bound)).max() < 1


@pytest.mark.parametrize("name", ["gelu", "silu"])
def test_accurate_orders_keep_digits_in_the_tail_and_all_orders_need_not(name):
    x = Rounded.exact(np.array([-12.0, -8.0, -5.0]), precision_of("float32"))
    right = enclosed(name, x.value, np.ones(3))[0]
    accurate = any_of(ACTIVATIONS[name].value(x, True))
    assert (accurate.worst < 1e-4 * np.abs(right)).all()
    assert (bound_of(name, x).worst > 10 * accurate.worst).all()
    assert (bound_of(name, x).worst < 1e-5).all()


def test_in_16_bits_every_order_in_float32_is_accurate():
    assert not accurate_only(precision_of("bfloat16")) and not accurate_only(precision_of("float16"))
    assert accurate_only(precision_of("float32")) and accurate_only(precision_of("float64"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_far_out_little_is_left_to_err(dtype):
    """Where s is 1 or 0 in the dtype, the slope's bound does not grow with x, but for y + s (1 - y), which cancels."""
    model = precision_of(dtype)
    far, one = Rounded.exact(np.array([-800.0, 800.0]), model), Rounded.exact(np.ones(2), model)
    for name, ways in (
        ("gelu", ACTIVATIONS["gelu"].gradient(one, far, False)),
        ("silu", ACTIVATIONS["silu"].gradient(one, far, True)),
    ):
        worst = any_of(ways).worst
        assert worst[0] < 1e-30 and worst[1] < 20 * model.stored.unit, (name, worst)
    assert gradient_bound_of("silu", one, far).worst[0] < 1e-30
    assert gradient_bound_of("silu", one, far).worst[1] < 8 * 800 * model.stored.unit


def test_an_error_of_the_argument_moves_the_sigmoid_by_its_slope():
    exact = Rounded.exact(np.array([0.3]), precision_of("float64"))
    moved = Rounded(exact.value, np.array([1e-6]), exact.square, exact.precision)
    [way] = sigmoids(moved, True)
    slope = special.expit(0.3) * special.expit(-0.3)
    assert slope * 1e-6 <= way.worst[0] < 1.01 * slope * 1e-6


@pytest.mark.parametrize(
    ("x", "error", "passed", "open_slope"),
    [(1.0, 0.2, 1, False), (-1.0, 0.2, 0, False), (0.3, 0.2, 1, True), (0.0, 0.0, 0, True)],
)
def test_relu_passes_on_open_slopes_with_room_for_both(x, error, passed, open_slope):
    model = precision_of("float64")
    at = Rounded(np.array([x]), np.array([error]), np.array([0.0]), model)
    found = gradient_bound_of("relu", Rounded.exact(np.array([3.0]), model), at)
    assert found.value[0] == 3 * passed
    assert found.worst[0] == (3.0 if open_slope else 0.0)

"""What a layer gives on tapes is the derivative, swept forward and backward, of any order; in float64 as far as it goes."""

import numpy as np
import pytest
from flint import arb

from numeric.agreement.calls import Balls, Float64, LayerFunction, Unreadable
from numeric.agreement.differentials import ArrayLayer, LayerFunctions
from numeric.agreement.readings.log_softmax import FUNCTIONS as LOG_SOFTMAX
from numeric.agreement.readings.softmax import FUNCTIONS as SOFTMAX
from numeric.agreement.tape import Tape, add, multiply
from numeric.arithmetic import precision, to_balls


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def weights(z):
    powers = np.array([x.exp() for x in z], dtype=object)
    return powers / powers.sum()


# y_i = x_i^2 w_i and z = sum_i x_i w_i, by hand


def _forward(x, w):
    return x * x * w, np.asarray((x * w).sum(), dtype=x.dtype)


def _backward(x, w, dy, dz):
    return 2 * x * w * dy + w * dz, x * x * dy + x * dz


def _forward_bound(x, w):
    total = (x * w).sum(-1)
    return x * x * w, type(x)(total.value[0], total.worst[0], total.square[0], x.precision)


def _backward_bound(x, w, dy, dz):
    return x * w * dy + x * w * dy + w * dz, x * x * dy + x * dz


PRODUCTS = LayerFunctions(
    LayerFunction("products.forward", _forward, _forward_bound),
    LayerFunction("products.backward", _backward, _backward_bound),
)
ONE_WAY = LayerFunctions(PRODUCTS.forward)


def nested(order, functions, arithmetic, sweeps, x, directions, way="jvp"):
    """d/dt_1 .. d/dt_k of the outputs at x + t_1 v_1 + .. + t_k v_k, each variable on a tape of its own."""
    tapes = [Tape(level) for level in range(order)]
    variables = [tape.variable(arb(0)) for tape in tapes]
    moved = []
    for k, start in enumerate(x):
        array = np.empty(start.shape, dtype=object)
        for index in np.ndindex(start.shape):
            number = start[index]
            for t, v in zip(variables, directions, strict=True):
                number = add(number, multiply(t, v[k][index]))
            array[index] = number
        moved.append(array)
    outputs = ArrayLayer(functions, arithmetic, way)(*moved)
    found = [number for each in outputs for number in each.flat]
    for tape, variable, sweep in reversed(list(zip(tapes, variables, sweeps, strict=True))):
        found = [getattr(tape, sweep)(variable, number) if tape.holds(number) else arb(0) for number in found]
    return found


def derivative_by_hand(x, w, directions):
    """Of the products: the mixed derivatives of polynomials."""
    variables = len(directions)
    if variables == 1:
        [(dx, dw)] = directions
        return [*(2 * x * dx * w + x * x * dw), (dx * w + x * dw).sum()]
    if variables == 2:
        (dx, dw), (ex, ew) = directions
        return [*(2 * dx * ex * w + 2 * x * dx * ew + 2 * x * ex * dw), (dx * ew + ex * dw).sum()]
    (dx, dw), (ex, ew), (fx, fw) = directions
    return [*(2 * dx * ex * fw + 2 * dx * fx * ew + 2 * ex * fx * dw), arb(0)]


@pytest.mark.parametrize("functions", [PRODUCTS, ONE_WAY], ids=["with backward", "without"])
@pytest.mark.parametrize(
    "sweeps",
    [("forward",), ("backward",), ("forward", "forward"), ("forward", "backward"), ("backward", "forward"),
     ("backward", "backward"), ("backward", "forward", "backward"), ("forward",) * 3, ("backward",) * 3],
)  # fmt: skip
def test_derivatives_of_every_order_are_exact_in_balls(functions, sweeps):
    rng = np.random.default_rng(len(sweeps))
    x, w, *rest = (to_balls(each) for each in rng.normal(size=(2 + 2 * len(sweeps), 3)))
    directions = list(zip(rest[::2], rest[1::2], strict=True))
    found = nested(len(sweeps), functions, Balls(), sweeps, (x, w), directions)
    for number, true in zip(found, derivative_by_hand(x, w, directions), strict=True):
        assert number.overlaps(true)
        assert number.rad() < 1e-40
        assert not number.overlaps(true + arb("1e-20"))


@pytest.mark.parametrize("functions", [PRODUCTS, ONE_WAY], ids=["with backward", "without"])
@pytest.mark.parametrize("sweep", ["forward", "backward"])
def test_first_derivatives_in_float64_hold_the_truth(functions, sweep):
    x, w, dx, dw = (to_balls(each) for each in np.random.default_rng(0).normal(size=(4, 3)))
    found = nested(1, functions, Float64(), [sweep], (x, w), [(dx, dw)])
    for number, true in zip(found, derivative_by_hand(x, w, [(dx, dw)]), strict=True):
        assert number.contains(true)
        assert 0 < number.rad() < (1e-13 if functions is PRODUCTS else 1e-7)


@pytest.mark.parametrize("sweeps", [("forward", "backward"), ("backward", "backward")])
def test_second_derivatives_in_float64_are_quotients_of_backward(sweeps):
    x, w, *rest = (to_balls(each) for each in np.random.default_rng(1).normal(size=(6, 3)))
    directions = list(zip(rest[::2], rest[1::2], strict=True))
    found = nested(2, PRODUCTS, Float64(), sweeps, (x, w), directions)
    for number, true in zip(found, derivative_by_hand(x, w, directions), strict=True):
        assert number.contains(true)
        assert number.rad() < 1e-6


def test_a_third_derivative_in_float64_is_refused():
    x, w, *rest = (to_balls(each) for each in np.random.default_rng(1).normal(size=(8, 3)))
    with pytest.raises(Unreadable, match=r"a difference quotient of a difference quotient of products\."):
        nested(3, PRODUCTS, Float64(), ("backward",) * 3, (x, w), list(zip(rest[::2], rest[1::2], strict=True)))


def test_a_wrong_backward_is_seen_by_a_sweep_backward():
    wrong = PRODUCTS._replace(
        backward=LayerFunction(
            "products.backward", lambda x, w, dy, dz: (x * w * dy, x * x * dy + x * dz), _backward_bound
        )
    )
    x, w, dx, dw = (to_balls(each) for each in np.random.default_rng(0).normal(size=(4, 3)))
    right = nested(1, wrong, Balls(), ["forward"], (x, w), [(dx, dw)])
    found = nested(1, wrong, Balls(), ["backward"], (x, w), [(dx, dw)])
    assert not any(a.overlaps(b) for a, b in zip(found, right, strict=True))


def test_pulled_is_what_backward_makes_of_the_cotangents():
    x, w, dy = to_balls(np.random.default_rng(3).normal(size=(3, 3)))
    found = ArrayLayer(PRODUCTS, Balls()).pulled((x, w), (dy, to_balls(arb(2))))
    for array, true in zip(found, _backward(x, w, dy, arb(2)), strict=True):
        assert all(a.overlaps(b) for a, b in zip(array, true, strict=True))
    with pytest.raises(Unreadable, match=r"products\.forward has no backward"):
        ArrayLayer(ONE_WAY, Balls()).pulled((x, w), (dy, to_balls(arb(2))))


# Softmax, whose products have names of their own


@pytest.mark.parametrize("way", ["jvp", "backward", "jacobian"])
@pytest.mark.parametrize("temperature", [1.0, 0.75, 2.0])
@pytest.mark.parametrize("functions", [SOFTMAX, LOG_SOFTMAX], ids=["softmax", "log_softmax"])
def test_every_way_and_temperature_gives_the_same_derivatives(functions, way, temperature):
    z, v, w = to_balls(np.random.default_rng(2).normal(size=(3, 4)))
    s = weights(z)
    ds = s * (v - s @ v)
    if functions is SOFTMAX:
        first, second = ds, ds * (w - s @ w) - s * (ds @ w)
    else:
        first, second = v - s @ v, np.full(4, -(ds @ w), dtype=object)
    balls = Balls()
    for order, truth, directions in ((1, first, [v]), (2, second, [v, w])):
        sweeps = ["backward" if way == "backward" else "forward"] * order
        found = nested_softmax(functions, balls, sweeps, z, directions, way, temperature)
        for number, true in zip(found, truth, strict=True):
            assert number.overlaps(true)
            assert number.rad() < arb("1e-45")
    name = functions.forward.name.partition(".")[0]
    assert f"{name}.{way}" in balls.called


def nested_softmax(functions, arithmetic, sweeps, z, directions, way, temperature):
    with_temperature = LayerFunctions(*(_at(each, temperature) for each in functions))
    return nested(len(sweeps), with_temperature, arithmetic, sweeps, (z,), [(v,) for v in directions], way)


def _at(functions, temperature):
    if isinstance(functions, LayerFunction):
        run, bound = functions.run, functions.bound
        return functions._replace(
            run=lambda *x: run(*x, temperature=temperature), bound=lambda *x: bound(*x, temperature=temperature)
        )
    return {name: _at(each, temperature) for name, each in functions.items()}

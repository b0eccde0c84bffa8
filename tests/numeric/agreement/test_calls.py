"""Layers called in float64: the ball that comes back holds the true value, is narrow, and does not hold a wrong one."""

import importlib
import pkgutil

import numpy as np
import pytest
from flint import arb

from numeric.agreement import readings
from numeric.agreement.calls import Balls, Float64, LayerFailed, LayerFunction
from numeric.agreement.differentials import VectorFunctions
from numeric.arithmetic import UndecidedComparison, encloses, precision, radius, to_balls

POSITIONS = {"positional_encoding.encode", "positional_encoding.rotation"}


def layer_functions():
    for module in pkgutil.iter_modules(readings.__path__):
        for value in vars(importlib.import_module(f"{readings.__name__}.{module.name}")).values():
            if isinstance(value, LayerFunction):
                yield value
            elif isinstance(value, VectorFunctions):
                yield from value
            elif isinstance(value, dict):
                yield from (each for each in value.values() if isinstance(each, LayerFunction))


FUNCTIONS = {each.name: each for each in layer_functions()}


def drawn(name, rng):
    """Inputs of a layer's function, and its settings."""
    if name.startswith("rotary"):
        return (rng.normal(size=6), rng.normal(), 1 + 100 * rng.random()), {}
    if name in POSITIONS:
        return (3 * rng.normal(), 1 + 100 * rng.random()), {"width": 8}
    if name == "positional_encoding.frequencies":
        return (1 + 100 * rng.random(),), {"width": 8}
    vectors = 1 if name.endswith(("forward", "jacobian")) else 2
    return tuple(3 * rng.normal(size=5) for _ in range(vectors)), {"temperature": float(rng.choice([0.75, 1.0, 2.0]))}


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def test_every_function_that_is_read_is_tested():
    assert len(FUNCTIONS) == 13
    assert {"softmax.jacobian", "log_softmax.jvp", "rotary.backward", "positional_encoding.frequencies"} <= set(
        FUNCTIONS
    )


@pytest.mark.parametrize("spread", [0.0, 1e-12, 1e-7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_ball_holds_the_true_value(name, spread):
    """The inputs are somewhere in their balls, and so not what the layer is given."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        inputs, settings = drawn(name, rng)
        true = [to_balls(x) for x in inputs]
        near = [to_balls(x + spread * rng.uniform(-1, 1, np.shape(x))) + arb(0, spread) for x in inputs]
        near = [np.asarray(x, dtype=object) for x in near]
        exact = Balls().call(FUNCTIONS[name], *true, **settings)
        found = Float64().call(FUNCTIONS[name], *near, **settings)
        assert found.shape == exact.shape
        assert encloses(found, exact).all()
        assert radius(found).max() < 1e-13 + 1e3 * spread


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_ball_does_not_hold_a_value_of_float32(name):
    rng = np.random.default_rng(1)
    inputs, settings = drawn(name, rng)
    inputs = [to_balls(x) for x in inputs]
    coarse = FUNCTIONS[name]._replace(
        run=lambda *given, **options: FUNCTIONS[name].run(*given, **options).astype(np.float32).astype(np.float64)
    )
    assert not encloses(
        Float64().call(coarse, *inputs, **settings), Balls().call(FUNCTIONS[name], *inputs, **settings)
    ).all()


def test_the_same_call_is_made_once_and_another_is_another():
    calls = []

    def run(x, *, times):
        calls.append(times)
        return times * x

    balls, function = Balls(), LayerFunction("layer.twice", run, lambda x, *, times: x)
    one, two, wide = (to_balls(np.array([x])) for x in (arb(1), arb(2), arb(1, 0.5)))
    found = [balls.call(function, x, times=k)[0] for x, k in ((one, 2), (one, 2), (two, 2), (one, 3), (wide, 2))]
    assert [float(ball.mid()) for ball in found] == [2, 2, 4, 3, 2]
    assert found[4].rad() > 0.9
    assert calls == [2, 2, 3, 2]
    assert balls.called == {"layer.twice"}


def test_infinite_and_missing_numbers_can_be_called_with():
    function = LayerFunction("layer.same", lambda x: x, lambda x: x)
    for number in (arb("inf"), arb("nan"), arb(0, "inf")):
        assert not Balls().call(function, to_balls(number)).item().is_finite()


@pytest.mark.parametrize("arithmetic", [Balls, Float64])
def test_what_a_layer_raises_names_the_function(arithmetic):
    def run(x):
        raise IndexError("planted")

    with pytest.raises(LayerFailed, match=r"layer\.broken raised IndexError: planted"):
        arithmetic().call(LayerFunction("layer.broken", run, run), to_balls(1.0))


@pytest.mark.parametrize("arithmetic", [Balls, Float64])
@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: np.append(s, s[:1]), lambda s: s[None]])
def test_an_output_of_another_shape_is_refused(arithmetic, change):
    function = FUNCTIONS["softmax.forward"]
    wrong = function._replace(run=lambda z, **settings: change(function.run(z, **settings)))
    with pytest.raises(LayerFailed, match=r"softmax\.forward gave an array of shape \(.*\), needed \(3,\)"):
        arithmetic().call(wrong, to_balls(np.arange(3.0)), temperature=1.0)


def test_an_undecided_comparison_is_no_failure_of_the_layer():
    with pytest.raises(UndecidedComparison):
        Balls().call(FUNCTIONS["positional_encoding.frequencies"], to_balls(arb(0, 1)), width=4)


def test_a_float64_output_that_is_no_number_has_no_ball():
    function = LayerFunction("layer.nan", lambda x: x * np.nan, lambda x: x)
    assert not Float64().call(function, to_balls(np.ones(2)))[0].is_finite()

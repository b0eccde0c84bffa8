"""Layers called in float64: the ball that comes back holds the true value, is narrow, and does not hold a wrong one."""

import importlib
import pkgutil

import numpy as np
import pytest
from flint import arb

from numeric.agreement import readings
from numeric.agreement.calls import Balls, Float64, LayerFailed, LayerFunction, Unreadable, _shapes, in_tuple
from numeric.agreement.differentials import LayerFunctions
from numeric.arithmetic import UndecidedComparison, encloses, precision, radius, to_balls

N = 5  # in a row
ROWS, HEADS = ((3, 4), (4, 2), (2,)), ((3, 4), (5, 4), (4, 6), (4, 6), (4, 4), (4, 3))
WIDE = {"d": (3, 4), "attention": ((4, 6), (4, 6), (4, 4), (4, 4)), "norm": ((4,), (4,))}
FEED = ((4, 6), (6,), (6, 4), (4,))
TOKENS = ((3, 4), *WIDE["attention"], *WIDE["norm"])
CAUSAL = ((True, False, False), (True, True, False), (True, True, True))
SOME = ((True, False, True, True, False), (False, True, True, True, True), (True, True, True, True, True))

# The shapes that forward takes, last those of constants, and settings to choose from
CASES = {
    "softmax": (((N,),), [{"temperature": each} for each in (0.75, 1.0, 2.0)]),
    "log_softmax": (((N,),), [{"temperature": each} for each in (0.75, 1.0, 2.0)]),
    "rotary": (((6,), (), ()), [{"width": 6}]),
    "positional_encoding": (((), ()), [{"width": 8}]),
    "linear": (ROWS, [{}]),
    "activations": (((7,),), [{"activation": each} for each in ("relu", "silu", "gelu", "gelu_tanh")]),
    "feed_forward": (((3, 4), *FEED), [{}]),
    "layer_norm": (((3, 4), (4,), (4,), ()), [{}]),
    "rms_norm": (((3, 4), (4,), ()), [{}]),
    "residual": (((4,), (4,), (4,), (4,), ()), [{"placement": "post"}, {"placement": "pre"}]),
    "dropout": (((N,), ()), [{"keep": (True, False, True, True, False)}]),
    "masking": (((N,),), [{"keep": (True, False, True, True, False)}, {"keep": (True,) * N}]),
    "attention": (((3, 2), (5, 2), (5, 4)), [{"keep": None}, {"keep": SOME}]),
    "blocked_attention": (((3, 2), (5, 2), (5, 4)), [{"keep": None}, {"keep": SOME}]),
    "multi_head": (HEADS, [{"n_heads": 2, "keep": None}, {"n_heads": 2, "keep": SOME}]),
    "embedding": (((4, 3),), [{"tokens": (0, 2, 2, 1), "scaled": each} for each in (False, True)]),
    "unembedding": (((3, 4), (5, 4)), [{}]),
    "cross_entropy": (((4, 3), ()), [{"targets": (2, -100, 0, 2)}]),
    "encoder": ((*TOKENS, *FEED, *WIDE["norm"], ()), [{"n_heads": 2, "keep": None}]),
    "decoder": (
        ((3, 4), (5, 4), *TOKENS[1:], *TOKENS[1:], *FEED, *WIDE["norm"], ()),
        [{"n_heads": 2, "keep": CAUSAL}],
    ),
    "optimizer": (((), ()), [{}]),
}
OTHER_SHAPES = {
    "positional_encoding.frequencies": ((),),
    "attention.forward of weights": ((3, 2), (5, 2)),
    "multi_head.keys_and_values": ((5, 4), (4, 3), (4, 3), (4, 2), (2, 4)),
    "multi_head.attend": ((3, 4), (1, 1, 5, 3), (1, 1, 5, 2), (4, 3), (4, 3), (4, 2), (2, 4)),
    "optimizer.average": ((), (), ()),
    "optimizer.learning_rate": ((), (), ()),
    "optimizer.adam_step": ((), (), (), ()),
}
WITHOUT_SETTINGS = {"attention.forward of weights", "multi_head.keys_and_values", "multi_head.attend"}
# whose inputs lie between 0 and 1; below, the places of those that do in other layers
SHARES = {"optimizer"}
POSITIVE = {"layer_norm": [-1], "rms_norm": [-1], "residual": [-1], "dropout": [-1], "cross_entropy": [-1],
            "encoder": [-1], "decoder": [-1]}  # fmt: skip


def layer_functions():
    """Every function of a layer that is read, by name."""
    for module in pkgutil.iter_modules(readings.__path__):
        for value in vars(importlib.import_module(f"{readings.__name__}.{module.name}")).values():
            for each in value.values() if isinstance(value, dict) else [value]:
                if isinstance(each, LayerFunction):
                    yield each.name + (" of weights" if each.run.__name__ == "_weights" else ""), each
                elif isinstance(each, LayerFunctions):
                    products = each.products.values()
                    yield from ((f.name, f) for f in (each.forward, each.backward, *products) if f is not None)


FUNCTIONS = dict(layer_functions())


# by how much more what goes in may move what comes out
WIDENING = {"encoder": 1e3, "decoder": 1e6, "multi_head": 30, "feed_forward": 10, "residual": 30, "layer_norm": 30}


def layer_of(name):
    return name.partition(".")[0]


def drawn(name, rng, turn=0):
    """Inputs of a layer's function, and its settings."""
    layer, function = name.split(".")
    shapes, settings = CASES[layer]
    chosen = {} if name in WITHOUT_SETTINGS else settings[turn % len(settings)]
    shapes = OTHER_SHAPES.get(name, shapes)
    positive = range(len(shapes)) if layer in SHARES else [k % len(shapes) for k in POSITIVE.get(layer, [])]
    inputs = [rng.uniform(0.1, 0.9, s) if k in positive else rng.normal(size=s) for k, s in enumerate(shapes)]
    if layer in ("rotary", "positional_encoding"):
        inputs[-1] = np.asarray(1 + 100 * rng.random())  # the base
    if function in ("jvp", "jacobian", "backward") and layer != "rotary":
        forward = FUNCTIONS[f"{layer}.forward"]
        inputs += [rng.normal(size=s) for s in _shapes(forward, tuple(shapes), tuple(sorted(chosen.items())))[:1]]
    return tuple(inputs), chosen


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def test_every_function_that_is_read_is_tested():
    assert len(FUNCTIONS) == 51
    assert {layer_of(name) for name in FUNCTIONS} == set(CASES)
    assert {"softmax.jacobian", "log_softmax.jvp", "rotary.backward", "cross_entropy.backward"} <= set(FUNCTIONS)


@pytest.mark.parametrize("spread", [0.0, 1e-12, 1e-7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_ball_holds_the_true_value(name, spread):
    """The inputs are somewhere in their balls, and so not what the layer is given."""
    rng = np.random.default_rng(0)
    for turn in range(3):
        inputs, settings = drawn(name, rng, turn)
        true = [to_balls(x) for x in inputs]
        near = [to_balls(x + spread * rng.uniform(-1, 1, np.shape(x))) + arb(0, spread) for x in inputs]
        near = [np.asarray(x, dtype=object) for x in near]
        exact = Balls().calls(FUNCTIONS[name], *true, **settings)
        found = Float64().calls(FUNCTIONS[name], *near, **settings)
        for each, ball in zip(exact, found, strict=True):
            assert ball.shape == each.shape
            assert encloses(ball, each).all()
            assert radius(ball).max() < (1e-13 + 1e3 * spread) * WIDENING.get(layer_of(name), 1)


def in_float32(found):
    return tuple(each.astype(np.float32).astype(np.float64) for each in in_tuple(found))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_ball_does_not_hold_a_value_of_float32(name):
    rng = np.random.default_rng(1)
    inputs, settings = drawn(name, rng)
    inputs = [to_balls(x) for x in inputs]
    coarse = FUNCTIONS[name]._replace(run=lambda *given, **options: in_float32(FUNCTIONS[name].run(*given, **options)))
    found, exact = Float64().calls(coarse, *inputs, **settings), Balls().calls(FUNCTIONS[name], *inputs, **settings)
    assert not all(encloses(ball, each).all() for ball, each in zip(found, exact, strict=True))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.endswith(".backward") and "rotary" not in name])
def test_backward_is_the_gradient_of_forward(name):
    """By power series through forward: <dy, Df(x)[v]> = <backward(x, dy), v>; the constants stay."""
    rng, forward = np.random.default_rng(2), FUNCTIONS[layer_of(name) + ".forward"]
    for turn in range(2):
        (*inputs, dy), settings = drawn(name, rng, turn)
        gradients = Balls().calls(FUNCTIONS[name], *map(to_balls, (*inputs, dy)), **settings)
        along = [to_balls(rng.normal(size=each.shape)) for each in gradients]
        fixed = [None] * (len(inputs) - len(along))
        (moved,) = Balls().calls(forward, *map(to_balls, inputs), along=((*along, *fixed),), **settings)
        there = np.asarray(to_balls(dy) * moved).sum()
        back = sum((g * v).sum() for g, v in zip(gradients, along, strict=True))
        assert there.overlaps(back)
        assert (there - back).rad() < 1e-40
        assert not there.overlaps(2 * back)


# Derivatives that no function of the layer gives


CUBIC = LayerFunction("layer.cubic", lambda x, y: x * x * x * y, lambda x, y: x * x * x * y)


def test_mixed_derivatives_in_balls():
    x, y, u, v = (to_balls(np.array([each])) for each in (2.0, 3.0, 5.0, 7.0))
    found = Balls().calls(CUBIC, x, y, along=((u, None), (None, v)))[0][0]
    assert found.overlaps(arb(3 * 4 * 5 * 7))
    third = Balls().calls(CUBIC, x, y, along=((u, None), (u, None), (u, v)))[0][0]
    assert third.overlaps(arb(6 * 5 * 5 * 5 * 3 + 6 * 2 * 5 * 5 * 7))


def test_difference_quotients_in_float64_hold_the_derivative_for_their_remainder():
    curve = LayerFunction("layer.sin", lambda x: np.sin(2 * x), lambda x: (x + x).sin())
    for at in np.linspace(-2, 2, 9):
        found = Float64().calls(curve, to_balls(np.array([at])), along=((to_balls(np.array([100.0])),),))[0][0]
        true = 200 * (2 * arb(at)).cos()
        assert found.contains(true)
        assert not found.overlaps(true * (1 + 1e-4) + 1e-4)
    with pytest.raises(Unreadable, match=r"a difference quotient of a difference quotient of layer\.sin tells nothing"):
        Float64().calls(curve, to_balls(np.ones(1)), along=((to_balls(np.ones(1)),), (to_balls(np.ones(1)),)))


def test_the_remainder_is_needed():
    """At a step so large that it is what the ball consists of."""
    curve = LayerFunction("layer.sin", lambda x: np.sin(2 * x), lambda x: (x + x).sin())
    x, far = to_balls(np.array([0.5])), to_balls(np.array([10000.0]))
    found, true = Float64().calls(curve, x, along=((far,),))[0][0], 20000 * arb(1).cos()
    assert found.contains(true)
    assert abs(found.mid() - true) > found.rad() / 10


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

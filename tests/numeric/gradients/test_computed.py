"""A `Computed` holds the true number, what float64 computes for it and what a complex step gives, whatever the
order of sums."""

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import complex_steps, encloses, precision, radius, to_balls, to_floats
from numeric.derivatives import coefficient, derivative
from numeric.gradients import computed as module
from numeric.gradients.cases import POSITIONS
from numeric.gradients.computed import CONSTANT, STEP, UNIT, Computed, as_computed
from numeric.layers import activations, layer_norm, positional_encoding, softmax
from numeric.layers.positional_encoding import angles

FUNCTIONS = {
    "exp": (np.exp, lambda rng: rng.normal(size=200)),
    "log": (np.log, lambda rng: np.exp(rng.normal(size=200))),
    "log near 1": (np.log, lambda rng: 1 + rng.normal(size=200) * 1e-5),
    "sqrt": (np.sqrt, lambda rng: np.exp(rng.normal(size=200))),
    "sin": (np.sin, lambda rng: rng.normal(size=200)),
    "cos": (np.cos, lambda rng: rng.normal(size=200)),
    "erfc": (activations._erfc, lambda rng: 3 * rng.normal(size=200)),
    "square": (lambda x: x * x, lambda rng: rng.normal(size=200)),
    "quotient": (lambda x: x[:100] / x[100:], lambda rng: rng.normal(size=200)),
    "reciprocal": (lambda x: 1 / x, lambda rng: rng.normal(size=200)),
    "constant over": (lambda x: to_balls(3)[()] / x if x.dtype == object else 3 / x, lambda rng: rng.normal(size=200)),
    "constants": (lambda x: 2 - 3 * (x + 1.25) / 7, lambda rng: rng.normal(size=200)),
    "in floats": (lambda x: x * 0.1 - 0.3, lambda rng: rng.normal(size=200)),
    "sum": (lambda x: x.reshape(4, 50).sum(1), lambda rng: rng.normal(size=200)),
    "mean": (lambda x: x.reshape(4, 50).mean(1), lambda rng: rng.normal(size=200)),
    "product": (lambda x: x.reshape(10, 20) @ x.reshape(20, 10), lambda rng: rng.normal(size=200)),
    "softmax": (lambda x: softmax.forward(x.reshape(20, 10))[0], lambda rng: 3 * rng.normal(size=200)),
}


def enclosures(function, x, v):
    with precision(128):
        y = function(as_computed(x, v))
        return coefficient(y, 0), coefficient(y, 1)


def draw(name):
    function, points = FUNCTIONS[name]
    rng = np.random.default_rng(sorted(FUNCTIONS).index(name))
    return function, points(rng), rng.uniform(-1, 1, 200)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_enclosed_and_the_true_ones_too(name):
    function, x, v = draw(name)
    values, slopes = enclosures(function, x, v)
    assert encloses(values, function(x)).all()
    with complex_steps():
        step = function(x + 1j * (STEP * v))
    assert encloses(values, step.real).all() and encloses(slopes, step.imag / STEP).all()
    with precision(128):
        (truth,) = derivative(function, [to_balls(x)], [to_balls(v)])
        assert encloses(values, function(to_balls(x))).all() and encloses(slopes, truth).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bounds_are_of_the_order_of_the_unit_roundoff(name):
    values, slopes = enclosures(*draw(name))
    for balls in (values, slopes):
        assert radius(balls).max() <= 2000 * float(UNIT) * np.abs(to_floats(balls)).max()


def test_without_widening_the_floats_are_missed(monkeypatch):
    """The tester: the same enclosures for rounding to 0 units."""
    monkeypatch.setattr(module, "_term", lambda ball, units: module.Sum(ball, 1, module._size(ball)))
    missed = 0
    for name in FUNCTIONS:
        function, x, v = draw(name)
        values, slopes = enclosures(function, x, v)
        with complex_steps():
            step = function(x + 1j * (STEP * v))
        missed += not encloses(values, function(x)).all()
        missed += not encloses(slopes, step.imag / STEP).all()
    assert missed > len(FUNCTIONS)


def test_a_sum_is_enclosed_in_every_order():
    x = np.random.default_rng(3).normal(size=64) * 10.0 ** np.arange(-16, 16, 0.5)
    with precision(128):
        ball = as_computed(x).sum().coefficient(0)
    for order in range(20):
        shuffled = np.random.default_rng(order).permutation(x)
        assert ball.contains(arb(float(np.cumsum(shuffled)[-1]))) and ball.contains(arb(float(shuffled.sum())))
    assert float(ball.rad()) < 64 * float(UNIT) * np.abs(x).sum()
    monotone = as_computed(x)[:1].sum().coefficient(0)
    assert monotone.is_exact(), "one term is not added to anything"


def test_sums_left_open_do_not_hide_their_rounding():
    """(x + y) - y is x but for the rounding of the sum."""
    with precision(128):
        x, y = Computed.exact(1.0), Computed.exact(2.0**60)
        assert (x + y - y).coefficient(0).contains(arb(0))
        assert not (x + y - y).coefficient(0).contains(arb(2.0**12))


def test_constants_that_layers_have_are_within_what_is_granted():
    """Roots and pi, and the sines and cosines of the positions in the cases."""
    with precision(128):
        exact = [activations._pi(np.dtype(object))[()], *(arb(n).sqrt() for n in range(1, 9))]
        floats = [np.pi, *np.sqrt(np.arange(1, 9.0))]
        for positions in (POSITIONS, np.arange(4)):
            exact += list(positional_encoding.encode(positions, 4, dtype=object).flat)
            floats += list(positional_encoding.encode(positions, 4).flat)
        exact.append((2 / arb.pi()).sqrt() * 2)
        floats.append(2 * np.sqrt(2 / np.pi))
        off = [abs(arb(float(found)) - true) for found, true in zip(floats, exact, strict=True)]
        granted = [CONSTANT * UNIT * abs(true) for true in exact]
    assert all(each <= most for each, most in zip(off, granted, strict=True))
    assert angles(POSITIONS, 4).max() == POSITIONS.max()


def test_a_division_by_what_may_be_zero_encloses_everything():
    quotient = Computed.exact(1.0) / (Computed.exact(1.0) / 3 - Computed.exact(1.0) / 3)
    assert not quotient.coefficient(0).is_finite()


def test_what_it_cannot_do_is_refused():
    one = Computed.exact(1.0)
    with pytest.raises(ValueError, match="computed: power is 2, needed 0 or 1"):
        one.coefficient(2)
    for operation in (lambda: one**2, lambda: arb(2) ** one, lambda: one * "x"):
        with pytest.raises(TypeError):
            operation()
    assert repr(Computed.exact(1.0, 2.0)).startswith("Computed(1.0")


def test_layers_take_them_as_they_take_jets():
    x = np.random.default_rng(0).normal(size=(2, 4))
    with precision(128):
        y, cache = layer_norm.forward(as_computed(x), as_computed(np.ones(4)), as_computed(np.zeros(4)))
        dx, dgain, dbias = layer_norm.backward(as_computed(x), cache)
    found = layer_norm.backward(x, layer_norm.forward(x, np.ones(4), np.zeros(4))[1])
    for balls, floats in zip((dx, dgain, dbias), found, strict=True):
        assert encloses(coefficient(balls, 0), floats).all()
    assert encloses(coefficient(y, 0), layer_norm.forward(x, np.ones(4), np.zeros(4))[0]).all()

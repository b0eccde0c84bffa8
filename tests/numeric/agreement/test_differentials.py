"""Difference quotients with their remainder hold the derivative; without it they do not."""

import numpy as np
import pytest
from flint import arb

from numeric.agreement.calls import Balls
from numeric.agreement.differentials import PositionLayer, VectorLayer
from numeric.agreement.readings.log_softmax import FUNCTIONS as LOG_SOFTMAX
from numeric.agreement.readings.softmax import FUNCTIONS as SOFTMAX
from numeric.agreement.tape import Tape
from numeric.arithmetic import precision, to_balls


class Coarse(Balls):
    """A step so large that the remainder is what the ball consists of."""

    step = arb(2) ** -10


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def weights(z):
    powers = np.array([x.exp() for x in z], dtype=object)
    return powers / powers.sum()


def softmax_bend(z, w, v):
    """d/dt s (w - <s, w>) along v, by hand."""
    s = weights(z)
    ds = s * (v - s @ v)
    return ds * (w - s @ w) - s * (ds @ w)


def log_bend(z, w, v):
    s = weights(z)
    return np.full(len(z), -(s * (v - s @ v)) @ w, dtype=object)


def log_backward_bend(z, w, v):
    s = weights(z)
    return -(s * (v - s @ v)) * w.sum()


def second_derivatives(functions, kind, z, w, v, arithmetic):
    """What the layer's `kind` along w does when z moves along v."""
    layer = VectorLayer(functions, arithmetic, kind, 1.0)
    return np.array(layer._quotient(kind, list(z), list(w), list(v)), dtype=object)


CASES = [
    (SOFTMAX, "jvp", softmax_bend),
    (SOFTMAX, "jacobian", softmax_bend),
    (SOFTMAX, "backward", softmax_bend),  # the Jacobian is symmetric
    (LOG_SOFTMAX, "jvp", log_bend),
    (LOG_SOFTMAX, "jacobian", log_bend),
    (LOG_SOFTMAX, "backward", log_backward_bend),
]


@pytest.mark.parametrize(("functions", "kind", "formula"), CASES)
def test_the_remainder_covers_what_the_step_leaves_out(functions, kind, formula):
    rng, missed, largest = np.random.default_rng(0), 0, 0.0
    for n in (1, 2, 3, 7, 12):
        for scale in (0.25, 1.0, 4.0):
            z, w, v = (to_balls(scale * rng.normal(size=n)) for _ in range(3))
            for found, true in zip(
                second_derivatives(functions, kind, z, w, v, Coarse()), formula(z, w, v), strict=True
            ):
                assert found.contains(true)
                missed += not (found.mid() + arb(0, 1e-40)).overlaps(true)
                largest = max(largest, float(abs(found.mid() - true) / found.rad()) if found.rad() > 0 else 0)
    assert missed > 50  # so the remainder was needed
    assert 1e-4 < largest <= 1  # and was not out of all proportion


@pytest.mark.parametrize(("functions", "kind", "formula"), CASES)
def test_a_small_step_gives_many_digits(functions, kind, formula):
    rng = np.random.default_rng(1)
    z, w, v = (to_balls(rng.normal(size=4)) for _ in range(3))
    for found, true in zip(second_derivatives(functions, kind, z, w, v, Balls()), formula(z, w, v), strict=True):
        assert found.overlaps(true)
        assert found.rad() < arb("1e-30")


@pytest.mark.parametrize("speed", [1.0, 5.0])
def test_the_remainder_of_a_position(speed):
    def run(p):
        return np.array([(speed * p).sin(), 3 * (speed * p).cos()], dtype=object)

    missed = 0
    for at in np.linspace(-2, 2, 41):
        tape = Tape(0)
        p = tape.variable(arb(at))
        for value, true in zip(
            PositionLayer(run, Coarse(), arb(speed), arb(3))(p),
            (speed * (speed * arb(at)).cos(), -3 * speed * (speed * arb(at)).sin()),
            strict=True,
        ):
            for found in (tape.forward(p, value), tape.backward(p, value)):
                assert found.contains(true)
                missed += not (found.mid() + arb(0, 1e-40)).overlaps(true)
    assert missed > 100


@pytest.mark.parametrize("way", ["jvp", "backward", "jacobian"])
@pytest.mark.parametrize("temperature", [1.0, 0.75, 2.0])
def test_every_way_and_temperature_gives_the_same_derivative(way, temperature):
    z, v = to_balls(np.random.default_rng(2).normal(size=(2, 4)))
    tape = Tape(0)
    t = tape.variable(arb(0))
    moved = [
        tape.record([t], [z[k]], lambda dt, k=k: [dt[0] * v[k]], lambda dz, k=k: [dz[0] * v[k]])[0] for k in range(4)
    ]
    outputs = VectorLayer(SOFTMAX, Balls(), way, temperature)(moved)
    s = weights(z)
    for k, output in enumerate(outputs):
        found = tape.backward(t, output) if way == "backward" else tape.forward(t, output)
        assert found.overlaps(s[k] * (v[k] - s @ v))
        assert found.rad() < arb("1e-50")

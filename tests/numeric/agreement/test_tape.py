"""Derivatives that are swept through a tape, against formulas and against each other."""

import pytest
from flint import arb

from numeric.agreement.tape import (
    ONE,
    Tape,
    Traced,
    add,
    decided_sign,
    elementary,
    inner_product,
    maximum,
    multiply,
    real_power,
    total,
    whole_power,
)
from numeric.arithmetic import UndecidedComparison, precision

X = arb(0.75)


@pytest.fixture(autouse=True)
def _digits():
    with precision(200):
        yield


def derivatives(function, at=X):
    """Of a function of one number, forward and backward."""
    tape = Tape(0)
    variable = tape.variable(at)
    result = function(variable)
    return tape.forward(variable, result), tape.backward(variable, result)


def agrees(found, wanted):
    return all(each.overlaps(wanted) and each.rad() < arb("1e-50") for each in found)


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: elementary("exp", x), lambda: X.exp()),
        (lambda x: elementary("log", x), lambda: 1 / X),
        (lambda x: elementary("sqrt", x), lambda: 1 / (2 * X.sqrt())),
        (lambda x: elementary("sin", x), lambda: X.cos()),
        (lambda x: elementary("cos", x), lambda: -X.sin()),
        (lambda x: elementary("tanh", x), lambda: 1 / X.cosh() ** 2),
        (lambda x: elementary("erf", x), lambda: 2 * (-X * X).exp() / arb.pi().sqrt()),
        (lambda x: elementary("abs", multiply(arb(-3), x)), lambda: arb(3)),
        (lambda x: whole_power(x, 5), lambda: 5 * X**4),
        (lambda x: whole_power(x, -3), lambda: -3 / X**4),
        (lambda x: real_power(x, arb(0.25)), lambda: 0.25 * X ** arb(-0.75)),
        (lambda x: real_power(arb(3), x), lambda: 3**X * arb(3).log()),
        (lambda x: real_power(x, x), lambda: X**X * (X.log() + 1)),
        (lambda x: maximum(x, multiply(x, x)), lambda: ONE),
        (lambda x: maximum(multiply(x, x), arb(0.5)), lambda: 2 * X),
        (lambda x: maximum(arb(0.5), x), lambda: ONE),
        (lambda x: add(x, multiply(x, x)), lambda: 1 + 2 * X),
        (lambda x: total([x, x, ONE, x]), lambda: arb(3)),
        (lambda x: inner_product([x, arb(2)], [x, x]), lambda: 2 * X + 2),
        (
            lambda x: elementary("exp", elementary("sin", multiply(x, x))),
            lambda: (X * X).sin().exp() * (X * X).cos() * 2 * X,
        ),
    ],
)
def test_derivatives_are_those_of_the_formula(function, slope):
    found = derivatives(function)
    assert agrees(found, slope())
    assert not agrees(found, slope() + arb("1e-30"))


def test_tapes_nest():
    """d/dy (d/dx x^2 y^3 at x = y) = d/dy 2 y^4."""
    y = arb(1.5)

    def inner(variable_y):
        tape = Tape(1)
        x = tape.variable(variable_y)
        return [
            sweep(x, multiply(whole_power(x, 2), whole_power(variable_y, 3))) for sweep in (tape.forward, tape.backward)
        ]

    for way in (0, 1):
        assert agrees(derivatives(lambda outer: inner(outer)[way], y), 8 * y**3)  # noqa: B023


def test_a_constant_has_no_derivative():
    tape, other = Tape(0), Tape(0)
    x = tape.variable(X)
    unused = other.variable(X)
    result = add(x, ONE)
    assert isinstance(result, Traced)
    assert tape.forward(unused, result).is_zero()
    assert tape.backward(unused, result).is_zero()


def test_a_power_of_a_ball_around_0_is_finite():
    assert whole_power(arb(0, 0.5), 2).is_finite()
    assert whole_power(arb(0, 0.5), 2).contains(arb(0.25))
    assert whole_power(arb(0), 0) == 1


@pytest.mark.parametrize("number", [arb(0), arb(0, 1e-30), arb(1, 2)])
def test_an_undecided_sign_raises(number):
    with pytest.raises(
        UndecidedComparison, match=r"the sign of .* is undecided, since the ball holds 0; move the point"
    ):
        decided_sign(number)
    with pytest.raises(UndecidedComparison):
        derivatives(lambda x: elementary("abs", x), number)


def test_decided_signs():
    assert [decided_sign(x) for x in (arb(2, 1), arb(-2, 1), Tape(0).variable(arb(-1)))] == [1, -1, -1]

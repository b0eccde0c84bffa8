import numpy as np
import pytest
from flint import arb, arb_series

from numeric.arithmetic import precision
from numeric.jets import Jet, order


def t_plus(start):
    return Jet(arb_series([arb(start), arb(1)]))


def coefficients(jet, count=3):
    return [jet.coefficient(k) for k in range(count)]


def meets(balls, *numbers):
    return len(balls) == len(numbers) and all(
        ball.overlaps(arb(x)) and ball.rad() < 1e-25 for ball, x in zip(balls, numbers, strict=True)
    )


@pytest.fixture(autouse=True)
def second_order():
    with precision(113), order(2):
        yield


def test_arithmetic_on_either_side():
    x = t_plus(2)
    assert meets(coefficients(x + 3), 5, 1, 0)
    assert meets(coefficients(arb(3) + x), 5, 1, 0)
    assert meets(coefficients(x - arb(3)), -1, 1, 0)
    assert meets(coefficients(3 - x), 1, -1, 0)
    assert meets(coefficients(-x), -2, -1, 0)
    assert meets(coefficients(x * x), 4, 4, 1)
    assert meets(coefficients(arb(3) * x), 6, 3, 0)
    assert meets(coefficients(0.5 * x), 1, arb(1) / 2, 0)
    assert meets(coefficients(x / arb(2)), 1, arb(1) / 2, 0)
    assert meets(coefficients(1 / x), arb(1) / 2, arb(-1) / 4, arb(1) / 8)
    assert meets(coefficients(x / x), 1, 0, 0)


def test_functions():
    x, e = t_plus(1), arb(1).exp()
    assert meets(coefficients(x.exp()), e, e, e / 2)
    assert meets(coefficients(x.log()), 0, 1, arb(-1) / 2)
    assert meets(coefficients(x.sqrt()), 1, arb(1) / 2, arb(-1) / 8)
    assert meets(coefficients(x.sin()), arb(1).sin(), arb(1).cos(), -arb(1).sin() / 2)
    assert meets(coefficients(x.cos()), arb(1).cos(), -arb(1).sin(), -arb(1).cos() / 2)
    slope = 2 / arb.pi().sqrt() / e
    assert meets(coefficients(x.erf()), arb(1).erf(), slope, -slope)
    assert meets(coefficients(x.erfc()), arb(1).erfc(), -slope, slope)


def test_powers():
    x = t_plus(2)
    assert meets(coefficients(x**3), 8, 12, 6)
    assert meets(coefficients(x ** arb(0.5)), *coefficients(x.sqrt()))
    log = arb(3).log()
    assert meets(coefficients(arb(3) ** x), 9, 9 * log, 9 * log * log / 2)


def test_numpy_takes_a_jet_for_one_number():
    x = t_plus(2)
    array = np.asarray(x)
    assert array.shape == () and array[()] is x
    assert np.exp(np.array([x], object)).shape == (1,)
    assert np.array([x, x], object).sum().coefficient(1) == 2


@pytest.mark.parametrize(
    "wrong", [lambda x: x > 0, lambda x: x * "2", lambda x: x + True, lambda x: max(x, t_plus(3)), list]
)
def test_what_a_jet_refuses(wrong):
    with pytest.raises(TypeError):
        wrong(t_plus(2))


def test_a_coefficient_that_was_cut_off_is_no_zero():
    with pytest.raises(ValueError, match=r"jets: the coefficient of t\^3 was cut off; raise the order"):
        t_plus(2).coefficient(3)


def test_the_order_is_restored():
    with pytest.raises(RuntimeError), order(5):
        raise RuntimeError
    assert (t_plus(2) * 1).coefficient(2) == 0
    with pytest.raises(ValueError, match="cut off"):
        (t_plus(2) * 1).coefficient(3)


@pytest.mark.parametrize("wrong", [-1, True])
def test_an_order_is_a_natural_number(wrong):
    with pytest.raises(ValueError, match="jets: order is"), order(wrong):
        pass

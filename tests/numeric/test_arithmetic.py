from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from flint import arb, ctx

from numeric.arithmetic import (
    BFLOAT16,
    COMPLEX,
    WORKING_DTYPE,
    UndecidedComparison,
    complex_steps,
    convert,
    encloses,
    greater,
    largest_error,
    midpoint,
    precision,
    radius,
    round_to,
    stable_shift,
    to_balls,
    to_floats,
    widen,
    zeros,
)
from numeric.layers import masking, softmax

NEAR_ZERO = arb(0, 3e-34)
INFINITE, NAN = float("inf"), float("nan")


def as_fraction(ball):
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def balls(*numbers):
    return np.array([number if isinstance(number, arb) else arb(number) for number in numbers], dtype=object)


def test_precision_is_restored_also_after_an_error_and_when_nested():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(before + 60):  # noqa: PT012 - nested on purpose
        assert ctx.prec == before + 60
        with precision(20):
            assert ctx.prec == 20 and not arb(1).exp().contains(arb(1).exp().mid() + arb("1e-3"))
        assert ctx.prec == before + 60
        raise ZeroDivisionError
    assert ctx.prec == before


@pytest.mark.parametrize("bits", [1, 0, -5, True])
def test_precision_needs_two_bits(bits):
    before = ctx.prec
    with pytest.raises(ValueError, match=f"bits is {bits}, needed an integer of at least 2"), precision(bits):
        pass
    assert ctx.prec == before


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float32, np.float64, ml_dtypes.float8_e4m3fn], ids=str)
def test_floats_become_balls_exactly_at_any_precision(dtype):
    numbers = (0.1 * np.arange(-7, 8).reshape(3, 5)).astype(dtype)
    with precision(4):
        result = to_balls(numbers)
    assert result.shape == numbers.shape and result.dtype == object
    assert all(ball.is_exact() for ball in result.flat)
    assert [as_fraction(ball) for ball in result.flat] == [Fraction(float(number)) for number in numbers.flat]


def test_integers_infinities_balls_and_scalars_become_balls():
    assert as_fraction(to_balls(np.array([2**62 + 1]))[0]) == 2**62 + 1
    assert to_balls(-INFINITE)[()] == arb("-inf") and to_balls(NAN)[()].is_nan()
    assert to_balls(balls(NEAR_ZERO))[0] is NEAR_ZERO
    assert to_balls(2.5).shape == () and to_balls(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("number", [1j, "0.1", True, None, np.longdouble(0.1), Fraction(1, 3)])
def test_what_has_no_exact_ball_is_refused(number):
    with pytest.raises(TypeError, match=r"to_balls: found .* needed an integer, a float of at most 64 bits or a ball"):
        to_balls(np.array([number]))


def test_working_dtypes_round_once():
    assert widen(np.zeros(2, np.float16)).dtype == widen(np.zeros(2, BFLOAT16)).dtype == np.float32
    for dtype in (np.float32, np.float64, object):
        array = np.zeros(2, dtype)
        assert widen(array) is array
    assert round_to(np.float32([1 / 3]), np.float16).dtype == np.float16
    assert round_to(balls(NEAR_ZERO), np.float16)[0] is NEAR_ZERO


def test_convert_keeps_enclosures_or_refuses():
    assert convert([1, 2], object)[1] == arb(2) and convert(0.1, np.float32) == np.float32(0.1)
    with pytest.raises(TypeError, match="found balls, which cannot become float32 and still enclose; see to_floats"):
        convert(balls(1), np.float32)
    assert zeros((2, 2), object)[1, 1].is_exact() and zeros((2,), np.float16).dtype == np.float16


def test_floats_of_balls_are_nearest():
    with precision(200):
        ball = arb(1) / 3
        assert to_floats(balls(ball, -ball)).tolist() == [1 / 3, -1 / 3]
        assert to_floats(balls(ball), np.float32)[0] == np.float32(1 / 3)
        assert to_floats(balls(arb(2) ** 53 + 1 + arb(2) ** -40)).tolist() == [2.0**53 + 2]


def test_midpoint_is_exact_and_radius_an_upper_bound():
    ball = balls(arb(1, 0.25))
    assert midpoint(ball)[0] == 1 and 0.25 <= radius(ball)[0] < 0.2500001
    assert radius(balls(1)).tolist() == [0.0]
    assert radius(balls(arb(0, arb("1e-400")))) == [5e-324]  # rounds up: 0 would claim that it is known exactly
    assert radius(balls(arb(0, INFINITE))).tolist() == [INFINITE]
    assert radius(to_balls(np.float64(2))).shape == ()


def test_encloses():
    assert (
        encloses(balls(arb(1, 0.25), arb(1, 0.25), 1, 1), [1.25, 1.26, 1.0, 1 + 2**-52]).tolist() == [True, False] * 2
    )
    assert encloses(balls(arb(1, 0.25)), balls(arb(1, 0.125))) and not encloses(
        balls(arb(1, 0.125)), balls(arb(1, 0.25))
    )
    third = arb(1) / 3
    assert not encloses(balls(third), [1 / 3 + 1e-15]).any()


def test_largest_error_bounds_the_distance_from_above_even_at_low_precision():
    ball = balls(arb(1, 0.25), 1, arb(-2, 1), "-inf", 1, "nan")
    with precision(8):
        errors = largest_error([1.0, 1.5, 2.0, -INFINITE, NAN, 0.0], ball)
    assert 0.25 <= errors[0] < 0.2500001 and errors[1] == 0.5 and 5 <= errors[2] < 5.00001
    assert errors[3:].tolist() == [0, INFINITE, INFINITE]
    with precision(200):
        third = arb(1) / 3
    assert largest_error([1 / 3], balls(third))[0] == pytest.approx(float(Fraction(1, 3) - Fraction(1 / 3)), rel=1e-12)


def test_greater_decides_or_raises():
    assert greater(balls(1, -1, 0, arb(2, 0.5)), 0).tolist() == [True, False, False, True]
    assert greater(np.array([1.0, NAN]), 0).tolist() == [True, False]
    assert not (NEAR_ZERO > 0) and not (NEAR_ZERO <= 0)  # what makes it necessary
    with pytest.raises(
        UndecidedComparison, match=r"3.0\d?e-34\] with 0 is undecided.*raise the precision.*index \(1,\); 1"
    ):
        greater(balls(1, NEAR_ZERO), 0)
    with pytest.raises(UndecidedComparison, match="undecided"):
        greater(np.zeros(1), balls(NEAR_ZERO))
    with pytest.raises(UndecidedComparison, match="nan"):
        greater(balls("nan"), 0)


def test_stable_shift_is_exact_and_near_the_maximum_without_a_decision():
    shift = stable_shift(np.array([balls(-5, 0, NEAR_ZERO), balls(-INFINITE, 3.25, arb(3.5, 0.5))]), 1)
    assert shift.shape == (2, 1) and all(ball.is_exact() for ball in shift.flat)
    assert to_floats(shift).tolist() == [[0], [3.5]]
    assert stable_shift(np.array([[1.0, 2.0]]), -1).tolist() == [[2.0]]


def test_layers_take_complex_numbers_for_complex_steps_only():
    z = np.array([0.0, 1.0]) + 1e-200j
    with pytest.raises(ZeroDivisionError), complex_steps():  # noqa: PT012 - nested on purpose
        with complex_steps():
            assert softmax.forward(z)[0].dtype == COMPLEX
        assert softmax.forward(z)[0].dtype == COMPLEX
        raise ZeroDivisionError
    assert COMPLEX not in WORKING_DTYPE
    with pytest.raises(TypeError, match="softmax: z has dtype complex128, needed float16"):
        softmax.forward(z)


def test_decisions_and_maxima_of_complex_numbers_go_by_real_parts():
    one, above = np.array([1 + 0j]), np.array([1 + 1e-200j])
    assert not greater(above, one).any() and not greater(one, above).any()
    assert greater(np.array([2 - 1j]), above).all() and greater(above, 0.5).all()
    shift = stable_shift(np.array([[1 + 5j, 3 - 1j, 3 + 1j]]), -1)
    assert shift.tolist() == [[3.0]] and shift.dtype == np.float64
    hidden = masking.largest_kept(np.array([[1 + 5j, 3 - 1j]]), np.array([[True, False]]))
    assert hidden.tolist() == [[1.0]] and hidden.dtype == np.float64

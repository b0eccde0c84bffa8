# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import convert, precision, round_to, to_balls, widen
from numeric.layers import rotary
from numeric.layers.positional_encoding import angles, rotation

POSITIONS = np.array([0, -2.5, 7, 1900])


def by_definition(x, positions, base):
    """Each pair (2i, 2i+1) of row r as a complex number, times e^(i p_r / base^(2i/d)), in mpmath."""
    y = np.empty(x.shape, dtype=object)
    for *batch, row, column in np.ndindex(x.shape):
        even = column - column % 2
        pair = mpmath.mpc(*x[(*batch, row, slice(even, even + 2))])
        angle = mpmath.mpf(float(positions[row])) / mpmath.power(base, mpmath.mpf(even) / x.shape[-1])
        turned = pair * mpmath.expj(angle)
        y[(*batch, row, column)] = turned.imag if column % 2 else turned.real
    return y


def turn_error(x, positions, base, r):
    """Bound on the error of a turned pair: cos and sin from float64 angles, two products and a sum per entry.

    The exponent 2i/d rounds, which log(base) amplifies; then pow, the product with p, and sin or cos (Lipschitz 1).
    """
    u, d = 2.0**-53, x.shape[-1]
    exponents = np.arange(0, d, 2) / d
    of_angle = r.gamma(abs(np.log(base)) * exponents * u + 11 * u)
    of_angle = of_angle * np.abs(positions.astype(float))[:, None] * float(base) ** -exponents
    of_cos = (of_angle + 10 * u) * (1 + r.u) + (0 if r.work == np.float64 else r.u)
    length = np.abs(x.astype(float)).reshape(*x.shape[:-1], d // 2, 2).sum(-1)  # |even| + |odd|
    return np.repeat(length * (of_cos + (1 + of_cos) * r.gamma(2 * r.u)) + 3 * r.tiny, 2, axis=-1)


def float_misses(layer, x, dy, positions, r, base=10000.0):
    with precision(160):
        exact, cache = rotary.forward(to_balls(x), positions, base)
        exact_dx = rotary.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, positions, base)
    dx = layer.backward(dy, cache)
    errors = (turn_error(a, positions, base, r) for a in (x, dy))
    return r.misses(y, exact, next(errors)), r.misses(dx, exact_dx, next(errors))


def ball_misses(layer, x, dy, positions, not_enclosed, gradient_by_differences, base=10000.0):
    with precision(113):
        y, cache = layer.forward(to_balls(x), positions, base)
        dx = layer.backward(to_balls(dy), cache)
    with mpmath.workdps(50):
        forward = by_definition(x, positions, base)
    backward = gradient_by_differences(lambda x: by_definition(x, positions, base), x, dy)
    return not_enclosed(y, forward), not_enclosed(dx, backward)


@pytest.mark.parametrize("shape", [(2, 3, 4, 6), (1, 4, 2), (4, 64)])
@pytest.mark.parametrize("base", [10000.0, 500000.0, 2])
def test_floats_stay_within_the_rounding_bound(shape, base, dtype, rounding, sample):
    x, dy = sample(shape, dtype, 3), sample(shape, dtype, seed=1)
    before = x.copy()
    assert float_misses(rotary, x, dy, POSITIONS, rounding, base) == (0, 0)
    assert float_misses(rotary, x, dy, np.arange(100, 104), rounding, base) == (0, 0)
    assert float_misses(rotary, x[..., :1, :], dy[..., :1, :], POSITIONS[1:2], rounding, base) == (0, 0)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_balls_enclose_the_definition(base, sample, not_enclosed, gradient_by_differences):
    x, dy = sample((2, 4, 4)), sample((2, 4, 4), seed=1)
    assert ball_misses(rotary, x, dy, POSITIONS, not_enclosed, gradient_by_differences, base) == (0, 0)


def mutant(forward_turn=rotary._turn, backward_turn=rotary._turn, signs=(1, -1), spread=1, back_offset=0):
    """The layer with another pairing, other directions (forward, backward), other frequencies or shifted positions."""

    def tables(x, positions, base, offset=0):
        theta = angles(positions + offset, x.shape[-1], base**spread, x.dtype)
        return [convert(f(theta), x.dtype) for f in (np.cos, np.sin)]

    def forward(x, positions, base):
        cos, sin = tables(widen(x), positions, base)
        y = forward_turn(widen(x), cos, signs[0] * sin)
        return round_to(y, x.dtype), tables(widen(x), positions, base, back_offset)

    def backward(dy, cache):
        return round_to(backward_turn(widen(dy), cache[0], signs[1] * cache[1]), dy.dtype)

    return SimpleNamespace(forward=forward, backward=backward)


def half_split(x, cos, sin):
    low, high = np.split(x, 2, axis=-1)
    return np.concatenate([low * cos - high * sin, low * sin + high * cos], axis=-1)


def reflected(x, cos, sin):
    y = rotary._turn(x, cos, sin)
    y[..., 1::2] = -y[..., 1::2]
    return y


MUTANTS = {
    "backward turns forward": mutant(signs=(1, 1)),
    "forward turns back": mutant(signs=(-1, 1)),
    "half-split pairs": mutant(half_split, half_split),
    "half-split on the way back": mutant(backward_turn=half_split),
    "reflection": mutant(reflected, reflected),
    "frequencies base^(-i/d)": mutant(spread=0.5),
    "positions from 1 on the way back": mutant(back_offset=1),
    "unturned": mutant(lambda x, cos, sin: x),
    "gradient unturned": mutant(backward_turn=lambda x, cos, sin: x),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    x, dy = sample((2, 4, 4), dtype), sample((2, 4, 4), dtype, seed=1)
    assert sum(float_misses(mutant(), x, dy, POSITIONS, rounding)) == 0
    assert sum(float_misses(MUTANTS[name], x, dy, POSITIONS, rounding)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], x, dy, POSITIONS, not_enclosed, gradient_by_differences)) > 0


def test_field_case_score_depends_on_relative_position_only():
    q, k = np.array([[1.0, 2, 3, 4]]), np.array([[0.5, -1, 2, 0.25]])
    for m, n in ((3, 1), (13, 11)):
        score = rotary.forward(q, np.array([m]))[0] @ rotary.forward(k, np.array([n]))[0].T
        assert abs(score.item() - 5.65924) < 5e-6


def test_score_depends_on_relative_position_and_lengths_stay(sample, vanishes):
    q, k = to_balls(sample((4, 6))), to_balls(sample((4, 6), seed=1))
    with precision(113):
        positions = to_balls(POSITIONS)

        def scores(shift):
            return rotary.forward(q, positions + shift)[0] @ rotary.forward(k, positions + shift)[0].T

        assert vanishes(scores(arb(1) / 3 - 1000) - scores(0))
        assert not vanishes(rotary.forward(q, positions + 1)[0] @ rotary.forward(k, positions)[0].T - scores(0))
        y, cache = rotary.forward(q, positions)
        assert vanishes((y * y).sum(-1) - (q * q).sum(-1)) and vanishes(rotary.backward(y, cache) - q)
        assert vanishes(y[2] - rotation(arb(7), 6).T @ q[2])  # the rotary turn is the inverse of the encoding's shift


def test_positions_in_sixteen_bits_do_not_alias(sample):
    x = np.tile(sample((1, 32), np.float16), (4096, 1))
    y, _ = rotary.forward(x, np.arange(4096))
    assert len(np.unique(y, axis=0)) == 4096


def test_inputs_may_be_strided_and_read_only(dtype, sample):
    x = sample((6, 8), dtype)[::2, ::-2].T
    x.flags.writeable = False
    y, cache = rotary.forward(x[:, :2], np.arange(4))
    assert np.array_equal(y, rotary.forward(np.ascontiguousarray(x[:, :2]), np.arange(4))[0])
    assert rotary.backward(x[:, :2], cache).shape == (4, 2)


X = np.zeros((3, 4))
P = np.arange(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rotary.forward(X.tolist(), P), TypeError, "rotary: x is a list, needed a NumPy array"),
        (lambda: rotary.forward(X[0], P), ValueError, r"x has shape \(4,\), needed ndim >= 2"),
        (lambda: rotary.forward(X[:, :3], P), ValueError, "the last axis of x is 3, needed an even number"),
        (lambda: rotary.forward(X + 0j, P), TypeError, "x has dtype complex128"),
        (lambda: rotary.forward(X, P[:2]), ValueError, r"positions has shape \(2,\), but x \(3, 4\) needs \(3,\)"),
        (lambda: rotary.forward(X, [0, 1, 2]), TypeError, "rotary: positions is a list"),
        (lambda: rotary.forward(X, P > 0), TypeError, "rotary: positions has dtype bool"),
        (lambda: rotary.forward(X, to_balls(P)), TypeError, "positions holds balls, needed integers or floats"),
        (lambda: rotary.forward(X, P / np.array([1, 1, 0.0])), ValueError, "positions has infinite or NaN entries"),
        (lambda: rotary.forward(X, P, base=-1.0), ValueError, "base is -1.0, needed a finite number above 0"),
        (lambda: rotary.backward(X.T, rotary.forward(X, P)[1]), ValueError, r"needed \(..., 3, 4\)"),
        (lambda: rotary.backward(to_balls(X), rotary.forward(X, P)[1]), TypeError, "enclose nothing"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

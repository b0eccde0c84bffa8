# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import convert, encloses, precision, round_to, to_balls, to_floats
from numeric.layers import positional_encoding
from numeric.layers.positional_encoding import angles, encode, frequencies, rotation

POSITIONS = np.array([0, 1, -3, 0.5, -2.75, 7, 100, 2008])  # exact in float16, but for bfloat16's 2008
D = 6


def by_definition(positions, d_model, base):
    """Column c holds sin (c even) or cos (c odd) of p / base^((c - c mod 2) / d), in mpmath."""

    def entry(p, c):
        angle = mpmath.mpf(p) / mpmath.power(base, mpmath.mpf(c - c % 2) / d_model)
        return mpmath.cos(angle) if c % 2 else mpmath.sin(angle)

    return np.array([[entry(float(p), c) for c in range(d_model)] for p in positions], dtype=object)


def encoding_error(positions, d_model, base, r):
    """Bound on sin and cos of p w, computed in float64 and once rounded to the working dtype of `r`.

    The exponent 2i/d rounds, which log(base) amplifies; then pow, the product with p, and sin or cos (Lipschitz 1).
    """
    u = 2.0**-53
    exponents = np.arange(0, d_model, 2) / d_model
    relative = r.gamma(abs(np.log(base)) * exponents * u + 11 * u)
    error = relative * np.abs(positions.astype(float))[:, None] * float(base) ** -exponents + 10 * u
    return np.repeat(error, 2, axis=1) * (1 + r.u) + (0 if r.work == np.float64 else r.u)


def float_misses(encoder, positions, d_model, base, r):
    with precision(160):
        exact = encode(positions, d_model, base, dtype=object)
    return r.misses(encoder(positions, d_model, base, r.dtype), exact, encoding_error(positions, d_model, base, r))


def ball_misses(encoder, positions, d_model, base, not_enclosed):
    with precision(113):
        balls = encoder(positions, d_model, base, object)
    with mpmath.workdps(50):
        return not_enclosed(balls, by_definition(positions, d_model, base))


@pytest.mark.parametrize(("d_model", "base"), [(2, 10000.0), (6, 10000.0), (8, 500000.0), (64, 10), (4, 1), (4, 0.5)])
def test_floats_stay_within_the_rounding_bound(d_model, base, dtype, rounding):
    for positions in (POSITIONS.astype(dtype), POSITIONS[:1].astype(dtype), np.arange(5000)[::97]):
        assert float_misses(encode, positions, d_model, base, rounding) == 0


@pytest.mark.parametrize(("d_model", "base"), [(2, 10000.0), (6, 10000.0), (8, 500000.0), (4, 0.1)])
def test_balls_enclose_the_definition(d_model, base, not_enclosed):
    assert ball_misses(encode, POSITIONS, d_model, base, not_enclosed) == 0


def test_the_values_people_quote():
    assert np.allclose(encode(np.arange(2), 4)[1], [0.841471, 0.540302, 0.01, 0.99995], rtol=0, atol=5e-7)


def mutant(exponents=lambda i, d: 2 * i / d, order=None, offset=0, angle_dtype=None):
    def encoder(positions, d_model, base, dtype):
        arithmetic = np.dtype(object if dtype is object else np.float64)
        i = convert(np.arange(d_model // 2), arithmetic)
        theta = (convert(positions, arithmetic) + offset)[:, None] * convert(base, arithmetic) ** -exponents(i, d_model)
        if angle_dtype is not None and dtype is not object:
            theta = theta.astype(angle_dtype(dtype)).astype(float)
        interleaved = np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(positions), d_model)
        return round_to(interleaved if order is None else interleaved[:, order], dtype)

    return encoder


MUTANTS = {
    "exponent i/d": mutant(lambda i, d: i / d),
    "exponent 2i/(d-2)": mutant(lambda i, d: 2 * i / (d - 2)),
    "exponent 2(i+1)/d": mutant(lambda i, d: 2 * (i + 1) / d),
    "exponent negated": mutant(lambda i, d: -2 * i / d),
    "exponent 4i/d, as 2c/d with c = 2i": mutant(lambda i, d: 4 * i / d),
    "cos before sin": mutant(order=[1, 0, 3, 2, 5, 4]),
    "sines, then cosines": mutant(order=[0, 2, 4, 1, 3, 5]),
    "positions from 1": mutant(offset=1),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, not_enclosed):
    assert float_misses(mutant(), POSITIONS.astype(dtype), D, 10000.0, rounding) == 0
    assert float_misses(MUTANTS[name], POSITIONS.astype(dtype), D, 10000.0, rounding) > 0
    assert ball_misses(MUTANTS[name], POSITIONS, D, 10000.0, not_enclosed) > 0


def test_angles_in_the_storage_dtype_are_caught(dtype, rounding):
    narrow = mutant(angle_dtype=lambda dtype: dtype)
    misses = float_misses(narrow, np.arange(1800, 2048), 32, 10000.0, rounding)
    assert (misses == 0) == (dtype == np.float64)


def test_neighbouring_positions_stay_apart_in_every_dtype(dtype):
    table = encode(np.arange(4096), 32, dtype=dtype)
    assert len(np.unique(table.astype(np.float32), axis=0)) == 4096


@pytest.mark.parametrize("k", [0, 1, -3, 0.375, -1000, 12345.5])
def test_a_shift_is_a_rotation(k, vanishes):
    with precision(113):
        t = to_balls(POSITIONS)
        shifted, matrix = encode(t + k, D), rotation(arb(k), D)
        assert vanishes(shifted - encode(t, D) @ matrix.T)
        assert vanishes(matrix @ matrix.T - to_balls(np.eye(D)))
        assert vanishes(matrix.T - rotation(arb(-k), D))
        assert vanishes(shifted - encode(t, D) @ matrix) == (k == 0)


def test_rotation_is_block_diagonal_and_rounds_like_the_encoding(dtype, rounding):
    with precision(160):
        exact = rotation(arb(-5.5), D)
    r = rounding
    error = np.kron(np.eye(D // 2), np.ones((2, 2))) * encoding_error(np.array([-5.5]), D, 10000.0, r)
    matrix = rotation(-5.5, D, dtype=dtype)
    assert r.misses(matrix, exact, error) == 0 and r.misses(matrix.T.copy(), exact, error) > 0
    assert rotation(0, 4).tolist() == np.eye(4).tolist()


def test_frequencies_are_geometric(vanishes):
    assert frequencies(2).tolist() == [1.0] and frequencies(4, 100.0).tolist() == [1.0, 0.1]
    assert frequencies(8, dtype=np.float32).dtype == np.float32
    with precision(113):
        w = frequencies(8, dtype=object)
        assert w[0] == 1 and vanishes(w[1:] - w[:-1] * frequencies(8, dtype=object)[1])
        assert vanishes(w * 10 ** to_balls(np.arange(4)) - 1) and encloses(w[1:2] * 10, [1]).all()


def test_dtypes():
    assert encode(np.arange(3), 4).dtype == encode(np.arange(3, dtype=np.uint8), 4).dtype == np.float64
    assert encode(np.arange(3), 4, dtype=np.float16).dtype == np.float16
    assert encode(np.zeros(3, np.float32), 4).dtype == np.float32 == rotation(np.float32(2), 4).dtype
    assert encode(to_balls([1]), 4).dtype == object == rotation(arb(2), 4).dtype
    assert angles(np.zeros(3, np.float16), 4, dtype=np.float16).dtype == np.float64
    assert encode(np.arange(0), 4).shape == (0, 4)


def layer_misses(layer, x, dy, r, base=10000.0, start=0):
    with precision(160):
        exact, cache = positional_encoding.forward(to_balls(x), base, start)
        exact_dx = positional_encoding.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, base, start)
    of_encoding = encoding_error(start + np.arange(x.shape[-2]), x.shape[-1], base, r)
    error = of_encoding + r.u * (np.abs(to_floats(exact)) + of_encoding)
    return r.misses(y, exact, error), r.misses(layer.backward(dy, cache), exact_dx, 0.0)


@pytest.mark.parametrize("shape", [(2, 3, 5, 6), (1, 2), (2, 2)])
@pytest.mark.parametrize(("base", "start"), [(10000.0, 0), (7, 0), (10000.0, 3), (7, 1000)])
def test_the_layer_adds_the_encoding_of_each_row(shape, base, start, dtype, rounding, sample, not_enclosed):
    x, dy = sample(shape, dtype), sample(shape, dtype, seed=1)
    before = x.copy()
    assert layer_misses(positional_encoding, x, dy, rounding, base, start) == (0, 0)
    assert np.array_equal(x, before)
    with precision(113), mpmath.workdps(50):
        y, cache = positional_encoding.forward(to_balls(x), base, start)
        table = by_definition(range(start, start + shape[-2]), shape[-1], base)
        assert not_enclosed(y, np.frompyfunc(lambda a: mpmath.mpf(float(a)), 1, 1)(x) + table) == 0
        assert encloses(positional_encoding.backward(to_balls(dy), cache), dy).all()


def rows(positions, sign=1):
    """A layer that adds, or subtracts, the encoding of the positions (n, start)."""
    return lambda x, start: x + sign * encode(positions(x.shape[-2], start), x.shape[-1], dtype=x.dtype)


def correct(x, start):
    return positional_encoding.forward(x, start=start)[0]


LAYER_MUTANTS = {
    "one position for all": (rows(lambda n, start: np.full(n, start + 3)), np.copy),
    "positions count the batch": (
        lambda x, start: x + encode(start + np.arange(len(x)), x.shape[-1], dtype=x.dtype)[:, None],
        np.copy,
    ),
    "subtracted": (rows(lambda n, start: start + np.arange(n), -1), np.copy),
    "start ignored": (rows(lambda n, start: np.arange(n)), np.copy),
    "start is the row before": (rows(lambda n, start: start + 1 + np.arange(n)), np.copy),
    "start subtracted": (rows(lambda n, start: np.arange(n) - start), np.copy),
    "start is the last row": (rows(lambda n, start: start + np.arange(1 - n, 1)), np.copy),
    "gradient halved": (correct, lambda dy: (dy / 2).astype(dy.dtype)),
    "gradient of the sum of rows": (correct, lambda dy: dy[..., ::-1, :].copy()),
}


@pytest.mark.parametrize("name", LAYER_MUTANTS)
def test_layer_mutants_are_caught(name, dtype, rounding, sample):
    forward, backward = LAYER_MUTANTS[name]
    layer = SimpleNamespace(
        forward=lambda x, base, start: (forward(x, start).astype(dtype), None), backward=lambda dy, _: backward(dy)
    )
    x, dy = sample((2, 3, 6), dtype), sample((2, 3, 6), dtype, seed=1)
    assert sum(layer_misses(layer, x, dy, rounding, start=5)) > 0


def test_rows_encoded_in_parts_are_the_rows_encoded_at_once(dtype, sample):
    x = sample((2, 7, 6), dtype)
    whole, _ = positional_encoding.forward(x)
    parts = [positional_encoding.forward(x[:, a:b], start=a)[0] for a, b in ((0, 3), (3, 4), (4, 4), (4, 7))]
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert np.array_equal(positional_encoding.forward(x[:, 3:], start=np.int64(3))[0], whole[:, 3:])


def test_the_gradient_is_not_the_same_memory():
    dy = np.ones((2, 4))
    dx = positional_encoding.backward(dy, positional_encoding.forward(dy)[1])
    assert not np.shares_memory(dx, dy)


X = np.zeros((2, 4))
P = np.arange(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: encode(P, 5), ValueError, "positional_encoding: d_model is 5, needed an even number of at least 2"),
        (lambda: encode(P, 0), ValueError, "d_model is 0, needed an even number"),
        (lambda: rotation(1, 3), ValueError, "d_model is 3, needed an even number"),
        (lambda: positional_encoding.forward(np.zeros((2, 5))), ValueError, "d_model is 5, needed an even number"),
        (lambda: encode(P, 4.0), TypeError, "d_model is 4.0, needed an integer"),
        (lambda: encode([0, 1], 4), TypeError, "positions is a list, needed a NumPy array"),
        (lambda: encode(P[:, None], 4), ValueError, r"positions has shape \(3, 1\), needed one axis"),
        (lambda: encode(P > 0, 4), TypeError, "positions has dtype bool, needed integers, float16"),
        (lambda: encode(P + 0j, 4), TypeError, "positions has dtype complex128"),
        (lambda: encode(P * np.inf, 4), ValueError, "positions has infinite or NaN entries"),
        (lambda: encode(to_balls(P), 4, dtype=np.float32), TypeError, "positions holds balls, needed integers"),
        (lambda: encode(P, 4, dtype=int), TypeError, "dtype is int64, needed float16"),
        (lambda: encode(P, 4, base=0), ValueError, "base is 0, needed a finite number above 0"),
        (lambda: encode(P, 4, base=arb(10)), TypeError, "base is a ball, needed a float"),
        (lambda: rotation("1", 4), TypeError, "offset is '1', needed one real number"),
        (lambda: positional_encoding.forward(X[0]), ValueError, r"x has shape \(4,\), needed ndim >= 2"),
        (lambda: positional_encoding.forward(X.astype(int)), TypeError, "x has dtype int64, needed float16"),
        (lambda: positional_encoding.forward(X, start=1.0), TypeError, "start is 1.0, needed an integer, the position"),
        (lambda: positional_encoding.forward(X, start=-1), ValueError, "start is -1, needed 0 <= start < 2"),
        (lambda: positional_encoding.forward(X, start=True), ValueError, "start is True, needed 0 <= start < 2"),
        (
            lambda: positional_encoding.forward(X, start=2**53),
            ValueError,
            "start is 9007199254740992, needed 0 <= start",
        ),
        (
            lambda: positional_encoding.backward(X.T, positional_encoding.forward(X)[1]),
            ValueError,
            r"dy has shape \(4, 2\), needed \(2, 4\)",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

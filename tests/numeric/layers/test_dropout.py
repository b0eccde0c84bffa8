# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import itertools
import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, convert, precision, round_to, to_balls, to_floats, widen
from numeric.layers import dropout

KEEP = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
RATES = [0.0, 0.1, 0.5, 0.999, 1 - 2**-20]


def by_definition(x, keep, rate):
    """x_i / (1 - rate) where entry i is kept, else 0, in mpmath, entry by entry."""
    y, keep = np.empty(x.shape, dtype=object), np.broadcast_to(keep, x.shape)
    for index in np.ndindex(x.shape):
        y[index] = x[index] / (1 - mpmath.mpf(rate)) if keep[index] else mpmath.mpf(0)
    return y


def float_misses(layer, x, dy, keep, rate, r):
    """1 - rate rounds in float64, and again in working precision; then the quotient does. What is dropped is exact."""
    with precision(160):
        exact, cache = dropout.forward(to_balls(x), keep, rate)
        exact_dx = dropout.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, keep, rate)
    dx = layer.backward(dy, cache)
    errors = (r.gamma(2 * r.u + 2.0**-53) * np.abs(to_floats(balls)) + r.tiny * keep for balls in (exact, exact_dx))
    return tuple(r.misses(*each) for each in zip((y, dx), (exact, exact_dx), errors, strict=True))


def ball_misses(layer, x, dy, keep, rate, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(x), keep, rate)
        dx = layer.backward(to_balls(dy), cache)
    with mpmath.workdps(50):
        forward = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(x), keep, rate)
    backward = gradient_by_differences(lambda x: by_definition(x, keep, rate), x, dy)
    return not_enclosed(y, forward), not_enclosed(dx, backward)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    ("shape", "keep"), [((2, 3, 4), KEEP), ((3, 4), KEEP[:, :1]), ((4,), KEEP[0]), ((1, 1), ~KEEP[:1, :1])]
)
def test_floats_stay_within_the_rounding_bound(shape, keep, rate, dtype, rounding, sample):
    x, dy = sample(shape, dtype, 2.0**-12), sample(shape, dtype, 2.0**-12, seed=1)
    before = x.copy(), dy.copy(), keep.copy()
    assert float_misses(dropout, x, dy, keep, rate, rounding) == (0, 0)
    assert all(np.array_equal(*pair) for pair in zip((x, dy, keep), before, strict=True))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("keep", [KEEP, KEEP[0], KEEP[:, 1:2]])
def test_balls_enclose_the_definition(keep, rate, sample, not_enclosed, gradient_by_differences):
    x, dy = sample((2, 3, 4)), sample((2, 3, 4), seed=1)
    assert ball_misses(dropout, x, dy, keep, rate, not_enclosed, gradient_by_differences) == (0, 0)


def mutant(there=lambda x, k, s: x * k / s, back=lambda g, k, s: g * k / s):
    def forward(x, keep, rate):
        work = widen(x)
        share = 1 - convert(rate, work.dtype)
        return round_to(there(work, keep.astype(int), share), x.dtype), (keep.astype(int), share)

    def backward(dy, cache):
        return round_to(back(widen(dy), *cache), dy.dtype)

    return SimpleNamespace(forward=forward, backward=backward)


MUTANTS = {
    "unscaled": mutant(lambda x, k, s: x * k),
    "scaled down": mutant(lambda x, k, s: x * k * s),
    "scaled by the rate": mutant(lambda x, k, s: x * k / (1 - s)),
    "scaled by the root": mutant(lambda x, k, s: x * k / s / s),
    "mask inverted": mutant(lambda x, k, s: x * (1 - k) / s),
    "mask ignored": mutant(lambda x, k, s: x * (k + 1 - k)),
    "mask along the wrong axis": mutant(lambda x, k, s: x * k.T / s),
    "what is dropped only shrinks": mutant(lambda x, k, s: x * (k + (1 - k) * (1 - s)) / s),
    "gradient: unscaled": mutant(back=lambda g, k, s: g * k),
    "gradient: mask forgotten": mutant(back=lambda g, k, s: g * (k + 1 - k) / s),
    "gradient: mask inverted": mutant(back=lambda g, k, s: g * (1 - k) / s),
    "gradient: scaled twice": mutant(back=lambda g, k, s: g * k / s / s),
    "gradient: sign": mutant(back=lambda g, k, s: -g * k / s),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    x, dy, keep = sample((3, 3), dtype), sample((3, 3), dtype, seed=1), KEEP[:, :3]
    assert float_misses(mutant(), x, dy, keep, 0.25, rounding) == (0, 0)
    assert sum(float_misses(MUTANTS[name], x, dy, keep, 0.25, rounding)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], x, dy, keep, 0.25, not_enclosed, gradient_by_differences)) > 0


# The expectation over masks


def moments(layer, x, rate, power):
    """E y^power over the 2^n masks of n entries, each of which is kept with probability 1 - rate; rate is a ball."""
    total = 0
    for mask in itertools.product([True, False], repeat=len(x)):
        y, _ = layer.forward(x, np.array(mask), rate)
        total = total + y**power * (1 - rate) ** sum(mask) * rate ** (len(x) - sum(mask))
    return total


@pytest.mark.parametrize("rate", [(0, 1), (1, 10), (1, 2), (9, 11)])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_expectation_over_all_masks_is_the_input(n, rate, sample, vanishes):
    with precision(113):
        x, rate = to_balls(sample(n)), arb(rate[0]) / rate[1]
        assert vanishes(moments(dropout, x, rate, 0) - 1)
        assert vanishes(moments(dropout, x, rate, 1) - x)
        assert vanishes(moments(dropout, x, rate, 2) - x**2 - x**2 * rate / (1 - rate))


@pytest.mark.parametrize("name", ["unscaled", "scaled down", "scaled by the root", "mask inverted", "mask ignored"])
def test_a_mutant_has_another_mean_or_another_variance(name, sample, vanishes):
    with precision(113):
        x, rate = to_balls(sample(3)), arb(1) / 10
        mean, square = (moments(MUTANTS[name], x, rate, power) for power in (1, 2))
        assert not (vanishes(mean - x) and vanishes(square - x**2 - x**2 * rate / (1 - rate)))


def test_the_squared_error_of_a_linear_model_gains_a_penalty(sample, vanishes):
    with precision(113):
        x, w, rate = to_balls(sample(4)), to_balls(sample(4, seed=1)), arb(3) / 10
        errors = SimpleNamespace(forward=lambda *masked: ((w * dropout.forward(*masked)[0]).sum() - 2, None))
        penalty = rate / (1 - rate) * (w**2 * x**2).sum()
        assert vanishes(to_balls(moments(errors, x, rate, 2) - ((w * x).sum() - 2) ** 2 - penalty))


# The draw

FAILURE = 1e-9  # how often a right generator may fail one bound; with a fixed seed it fails always or never
N = 8_000_000


def strays(events, probability):
    """Is the share of True further off than Hoeffding's P(|share - probability| >= c) <= 2 exp(-2 n c^2) allows?"""
    return bool(abs(events.mean() - probability) >= math.sqrt(math.log(2 / FAILURE) / (2 * events.size)))


def draw_misses(draw, rate):
    """How many bounds a mask breaks: each entry is kept with 1 - rate, any two of them with (1 - rate)^2."""
    keep = draw((N // 4, 4), rate, np.random.default_rng(14))
    assert keep.dtype == bool and keep.shape == (N // 4, 4)
    halves = keep[: N // 8], keep[N // 8 :]
    pairs = keep.T[[0, 1]], keep.T[[1, 2]], keep.T[[0, 3]], (keep[::2], keep[1::2]), halves
    return strays(keep, 1 - rate) + sum(strays(one & other, (1 - rate) ** 2) for one, other in pairs)


@pytest.mark.parametrize("rate", [0, 1 / 512, 0.1, 155 / 512, 0.5, 0.9, 1 - 1 / 1024])
def test_entries_are_kept_as_often_as_told_and_independently(rate):
    assert draw_misses(dropout.draw, rate) == 0


def octets(shape, rng):
    return rng.integers(0, 256, shape, np.uint8)


DRAW_MUTANTS = {
    "drops what it should keep": lambda shape, rate, rng: ~dropout.draw(shape, rate, rng),
    "never dropped where the octet is undecided": lambda shape, rate, rng: octets(shape, rng) >= int(256 * rate),
    "always dropped there": lambda shape, rate, rng: octets(shape, rng) > int(256 * rate),
    "255 for 256": lambda shape, rate, rng: rng.random(shape) >= rate * 255 / 256,
    "one choice for each row": lambda shape, rate, rng: dropout.draw((shape[0], 1), rate, rng).repeat(4, 1),
    "neighbours alike": lambda shape, rate, rng: dropout.draw((shape[0], 2), rate, rng).repeat(2, 1),
    "the second half repeats the first": lambda shape, rate, rng: np.tile(dropout.draw((N // 8, 4), rate, rng), (2, 1)),
    "the first ones dropped": lambda shape, rate, rng: np.arange(N).reshape(shape) >= rate * N,
}


@pytest.mark.parametrize("name", DRAW_MUTANTS)
def test_a_wrong_draw_is_caught(name):
    # at both rates half a 256th is decided in the second step
    assert draw_misses(DRAW_MUTANTS[name], 155 / 512) + draw_misses(DRAW_MUTANTS[name], 511 / 512) > 0


def test_rare_drops_are_as_rare_as_told():
    dropped, expected = np.count_nonzero(~dropout.draw((N,), 1 / 512, np.random.default_rng(14))), N / 512
    # Chernoff: P(|dropped - expected| >= c expected) <= 2 exp(-c^2 expected / 3) for c <= 1
    c = math.sqrt(3 * math.log(2 / FAILURE) / expected)
    assert abs(dropped - expected) < c * expected < expected / 2


def test_a_seed_fixes_the_masks_and_successive_masks_differ():
    first, again = np.random.default_rng(3), np.random.default_rng(3)
    masks = [dropout.draw((3, 7, 5), 0.3, rng) for rng in (first, again, first)]
    assert np.array_equal(masks[0], masks[1]) and not np.array_equal(masks[0], masks[2])


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (9,), (0,), (3, 0, 2), (2, 3, 5)])
def test_masks_of_every_shape(shape):
    rng = np.random.default_rng(0)
    keep = dropout.draw(shape, 0.5, rng)
    assert keep.shape == shape and keep.dtype == bool
    assert dropout.draw(shape, 0, rng).all()


def test_rate_zero_is_the_identity(dtype, sample):
    x = sample((3, 4), dtype)
    y, cache = dropout.forward(x, dropout.draw(x.shape, 0.0, np.random.default_rng(0)), 0.0)
    assert np.array_equal(y, x) and not np.shares_memory(y, x)
    assert np.array_equal(dropout.backward(x, cache), x)


# Edges


def test_what_is_dropped_is_zero_even_where_its_quotient_would_overflow(dtype):
    x = np.array([np.finfo(np.float32).max if dtype.itemsize == 4 else 60000, 1], dtype)
    with np.errstate(all="raise"):
        y, _ = dropout.forward(x, np.array([False, True]), 0.9375)
    assert y.tolist() == [0, 16]


def test_a_view_of_the_input_is_not_written_to(dtype, sample):
    x = sample((6, 5), dtype)[::2].T
    x.flags.writeable = False
    y, cache = dropout.forward(x, KEEP[0, :3], 0.5)
    assert np.array_equal(y, dropout.forward(np.ascontiguousarray(x), KEEP[0, :3], 0.5)[0])
    y[...] = 0
    assert np.array_equal(dropout.backward(x, cache), dropout.forward(x, KEEP[0, :3], 0.5)[0])


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    y, cache = dropout.forward(np.zeros((0, 3), dtype), np.zeros((0, 3), bool), 0.5)
    assert y.shape == dropout.backward(y, cache).shape == (0, 3) and y.dtype == dtype


def test_a_float_cotangent_of_balls_becomes_balls(sample, vanishes):
    with precision(113):
        _, cache = dropout.forward(to_balls(sample((3, 4))), KEEP, arb(1) / 3)
        assert vanishes(dropout.backward(sample((3, 4)), cache) - to_balls(1.5 * sample((3, 4)) * KEEP))


X, K = np.ones((2, 3)), np.ones((2, 3), bool)
CACHE = dropout.forward(X, K, 0.5)[1]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dropout.forward([1.0], K, 0.5), TypeError, "dropout: x is a list, needed a NumPy array"),
        (lambda: dropout.forward(X.astype(int), K, 0.5), TypeError, "x has dtype int64, needed float16"),
        (lambda: dropout.forward(np.array(1.0), K, 0.5), ValueError, r"x has shape \(\), needed ndim >= 1"),
        (
            lambda: dropout.forward(X, X, 0.5),
            TypeError,
            "keep has dtype float64, needed bool, True where an entry is k",
        ),
        (lambda: dropout.forward(X, K.T, 0.5), ValueError, r"keep has shape \(3, 2\), needed one that .* to \(2, 3\)"),
        (lambda: dropout.forward(X, K, 1.0), ValueError, "dropout: rate is 1.0, needed 0 <= rate < 1"),
        (lambda: dropout.forward(X, K, -1e-9), ValueError, "rate is -1e-09, needed 0 <= rate < 1"),
        (lambda: dropout.forward(X, K, np.nan), ValueError, "rate is nan, needed 0 <= rate < 1"),
        (lambda: dropout.forward(X, K, "0.5"), TypeError, "rate is '0.5', needed one real number"),
        (lambda: dropout.forward(X, K, True), TypeError, "rate is True, needed one real number"),
        (lambda: dropout.forward(X, K, arb(0)), TypeError, "rate is a ball, needed a float"),
        (lambda: dropout.forward(to_balls(X), K, arb(1)), ValueError, "rate is 1.0+, needed 0 <= rate < 1"),
        (lambda: dropout.forward(to_balls(X), K, arb(1, 0.1)), UndecidedComparison, "undecided"),
        (lambda: dropout.backward(X.T, CACHE), ValueError, r"dy has shape \(3, 2\), needed \(2, 3\), the shape of the"),
        (lambda: dropout.backward(to_balls(X), CACHE), TypeError, "enclose nothing; call forward on"),
        (lambda: dropout.draw((2,), 1, RNG), ValueError, "dropout: rate is 1, needed 0 <= rate < 1"),
        (lambda: dropout.draw((2,), arb(0), RNG), TypeError, "rate is a ball, needed a float"),
        (
            lambda: dropout.draw((2,), 0.5, 7),
            TypeError,
            r"rng is a int, needed what numpy.random.default_rng\(seed\) m",
        ),
        (lambda: dropout.draw(2, 0.5, RNG), TypeError, "shape is 2, needed a tuple of integers"),
        (lambda: dropout.draw((2.0,), 0.5, RNG), TypeError, r"shape is \(2.0,\), needed a tuple of integers"),
        (lambda: dropout.draw((2, -1), 0.5, RNG), ValueError, r"shape is \(2, -1\), needed integers of at least 0"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

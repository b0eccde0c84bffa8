# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from numeric.arithmetic import precision, round_to, to_balls, widen, zeros
from numeric.layers import embedding

TOKENS = np.array([[4, 0, 4], [1, 4, 0]])  # tokens 2 and 3 are absent, 4 stands thrice


def by_definition(table, tokens, scaled):
    """The product of one-hot rows with the table, times sqrt(d), in mpmath."""
    rows, d = table.shape
    y = np.empty((*tokens.shape, d), dtype=object)
    for *i, a in np.ndindex(y.shape):
        picked = sum(int(tokens[tuple(i)] == v) * table[v, a] for v in range(rows))
        y[(*i, a)] = picked * mpmath.sqrt(d) if scaled else picked
    return y


def float_misses(layer, table, tokens, dy, scaled, r):
    """sqrt(d) and the product round once each; a sum of m cotangents m - 1 times besides. Unscaled rows do not round."""
    with precision(160):
        exact, cache = embedding.forward(to_balls(table), tokens, scaled)
        exact_dtable = embedding.backward(to_balls(dy), cache)
    y, cache = layer.forward(table, tokens, scaled)
    dtable = layer.backward(dy, cache)
    root = np.sqrt(table.shape[1]) if scaled else 1.0
    of_y = r.gamma(2 * r.u) * root * np.abs(table.astype(float))[tokens] + r.tiny if scaled else 0.0
    total = np.zeros(table.shape)
    np.add.at(total, tokens, np.abs(dy.astype(float)))
    count = np.bincount(tokens.ravel(), minlength=len(table))[:, None]
    of_dtable = r.gamma((count + 1) * r.u) * root * total + r.tiny
    return r.misses(y, exact, of_y), r.misses(dtable, exact_dtable, of_dtable)


def ball_misses(layer, table, tokens, dy, scaled, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(table), tokens, scaled)
        dtable = layer.backward(to_balls(dy), cache)
    with mpmath.workdps(50):
        forward = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(table), tokens, scaled)
    backward = gradient_by_differences(lambda x: by_definition(x, tokens, scaled), table, dy)
    return not_enclosed(y, forward), not_enclosed(dtable, backward)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(
    ("shape", "tokens"),
    [
        ((5, 3), TOKENS),
        ((1, 1), np.array([0])),
        ((5, 8), np.array(4)),
        ((7, 2), np.arange(200, dtype=np.uint8) % 7),
        ((300, 4), np.array([299, -0], np.int16)),
    ],
)
def test_floats_stay_within_the_rounding_bound(shape, tokens, scaled, dtype, rounding, sample):
    table, dy = sample(shape, dtype), sample((*tokens.shape, shape[1]), dtype, seed=1)
    before = table.copy()
    assert float_misses(embedding, table, tokens, dy, scaled, rounding) == (0, 0)
    assert np.array_equal(table, before)


@pytest.mark.parametrize("scaled", [True, False])
def test_balls_enclose_the_definition(scaled, sample, not_enclosed, gradient_by_differences):
    table, dy = sample((5, 3)), sample((2, 3, 3), seed=1)
    assert ball_misses(embedding, table, TOKENS, dy, scaled, not_enclosed, gradient_by_differences) == (0, 0)


def mutant_forward(formula):
    def forward(table, tokens, scaled):
        y = formula(widen(table), tokens, table.shape[1])
        return round_to(y, table.dtype), embedding.forward(table, tokens, scaled)[1]

    return SimpleNamespace(forward=forward, backward=embedding.backward)


def mutant_backward(scatter, factor=lambda d: np.sqrt(d)):
    def backward(dy, cache):
        g = widen(dy)
        dtable = zeros((cache.rows, g.shape[-1]), g.dtype)
        scatter(dtable, cache.tokens, g)
        d = to_balls(g.shape[-1]) if g.dtype == object else np.asarray(g.shape[-1], g.dtype)
        return round_to(dtable * factor(d), dy.dtype)

    return SimpleNamespace(forward=embedding.forward, backward=backward)


def assigned(dtable, tokens, g):
    dtable[tokens] = g


def added_once(dtable, tokens, g):
    dtable[tokens] += g


def averaged(dtable, tokens, g):
    np.add.at(dtable, tokens, g)
    dtable /= np.maximum(np.bincount(tokens.ravel(), minlength=len(dtable)), 1)[:, None]


MUTANTS = {
    "unscaled": mutant_forward(lambda table, tokens, d: table[tokens]),
    "scaled by d": mutant_forward(lambda table, tokens, d: table[tokens] * d),
    "neighbouring row": mutant_forward(lambda table, tokens, d: table[tokens - 1] * 3**0.5),
    "gradient: unscaled": mutant_backward(np.add.at, lambda d: d / d),
    "gradient: scaled by d": mutant_backward(np.add.at, lambda d: d),
    "gradient: last position only": mutant_backward(assigned),
    "gradient: repeated tokens added once": mutant_backward(added_once),
    "gradient: mean over positions": mutant_backward(averaged),
    "gradient: sign": mutant_backward(np.subtract.at),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    table, dy = sample((5, 3), dtype), sample((2, 3, 3), dtype, seed=1)
    assert float_misses(mutant_backward(np.add.at), table, TOKENS, dy, True, rounding) == (0, 0)
    assert sum(float_misses(MUTANTS[name], table, TOKENS, dy, True, rounding)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], table, TOKENS, dy, True, not_enclosed, gradient_by_differences)) > 0


def test_many_cotangents_are_added_in_working_precision():
    tokens = np.zeros(5000, int)
    _, cache = embedding.forward(np.ones((2, 1), np.float16), tokens, scaled=False)
    dtable = embedding.backward(np.ones((5000, 1), np.float16), cache)
    assert dtable.ravel().tolist() == [5000, 0]  # which float16, adding one by one, would never reach: 2048 + 1 = 2048


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_no_tokens(dtype):
    table = to_balls(np.ones((3, 2))) if dtype is object else np.ones((3, 2), dtype)
    y, cache = embedding.forward(table, np.zeros((2, 0), int))
    assert y.shape == (2, 0, 2)
    dtable = embedding.backward(y, cache)
    assert dtable.shape == (3, 2) and not any(dtable.ravel() != 0)


def test_the_output_is_no_view_of_the_table():
    table = np.ones((3, 2))
    y, _ = embedding.forward(table, np.array([1]), scaled=False)
    y[...] = 7
    assert (table == 1).all()


E_ = np.zeros((4, 3))
T = np.array([0, 3])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: embedding.forward([[1.0]], T), TypeError, "embedding: table is a list, needed a NumPy array"),
        (lambda: embedding.forward(E_ > 0, T), TypeError, "table has dtype bool, needed float16"),
        (lambda: embedding.forward(E_[0], T), ValueError, r"table has shape \(3,\), needed ndim >= 2"),
        (lambda: embedding.forward(E_[None], T), ValueError, r"table has shape \(1, 4, 3\), needed \(V, d\)"),
        (lambda: embedding.forward(E_[:, :0], T), ValueError, r"table has shape \(4, 0\), needed at least one entry"),
        (lambda: embedding.forward(E_, [0]), TypeError, "tokens is a list, needed a NumPy array"),
        (lambda: embedding.forward(E_, T * 1.0), TypeError, "tokens has dtype float64, needed integers"),
        (
            lambda: embedding.forward(E_, T + 1),
            ValueError,
            "tokens holds 4, needed 0 <= tokens < 4, the number of rows",
        ),
        (lambda: embedding.forward(E_, T - 1), ValueError, r"tokens holds -1, .* \(1 such in all\)"),
        (
            lambda: embedding.backward(E_, embedding.forward(E_, T)[1]),
            ValueError,
            r"dy has shape \(4, 3\), needed \(2, 3\), the shape of the output",
        ),
        (lambda: embedding.backward(to_balls(E_[:2]), embedding.forward(E_, T)[1]), TypeError, "enclose nothing"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, round_to, to_balls, widen
from numeric.layers import linear

SIZES = [(4, 5, 3), (1, 1, 1), (2, 1, 3), (3, 2, 1), (2, 64, 3), (64, 2, 3)]


def by_definition(x, W, b):
    """sum_a x_ia W_ak + b_k in mpmath, entry by entry."""
    y = np.empty((x.shape[0], W.shape[1]), dtype=object)
    for i, k in np.ndindex(y.shape):
        y[i, k] = mpmath.fsum(x[i, a] * W[a, k] for a in range(x.shape[1])) + b[k]
    return y


def float_misses(layer, x, W, b, dy, running):
    with precision(160):
        exact, cache = linear.forward(to_balls(x), to_balls(W), to_balls(b))
        exact_gradients = linear.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, W, b)
    gradients = layer.backward(dy, cache)
    X, weights, g = (running.exact(array) for array in (x, W, dy))
    product, transpose = running.matmul, running.transpose
    bounds = product(g, transpose(weights)), product(transpose(X), g), g.sum(0)
    return (
        running.misses(y, exact, product(X, weights) + running.exact(b)),
        *(running.misses(*each) for each in zip(gradients, exact_gradients, bounds, strict=True)),
    )


def ball_misses(layer, x, W, b, dy, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(x), to_balls(W), to_balls(b))
        dx, dW, db = layer.backward(to_balls(dy), cache)
    X, weights, bias = (np.frompyfunc(mpmath.mpf, 1, 1)(array) for array in (x, W, b))
    with mpmath.workdps(50):
        forward = by_definition(X, weights, bias)
    by_x = gradient_by_differences(lambda x: by_definition(x, weights, bias), x, dy)
    by_W = gradient_by_differences(lambda W: by_definition(X, W, bias), W, dy)
    by_b = gradient_by_differences(lambda b: by_definition(X, weights, b), b, dy)
    pairs = (y, forward), (dx, by_x), (dW, by_W), (db, by_b)
    return tuple(not_enclosed(*pair) for pair in pairs)


def arguments(sample, leading, d, e, dtype=np.float64):
    """x, W, b and dy."""
    shapes = (*leading, d), (d, e), (e,), (*leading, e)
    return tuple(sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))


@pytest.mark.parametrize(("n", "d", "e"), SIZES)
def test_floats_stay_within_the_rounding_bound(n, d, e, dtype, running, sample):
    assert float_misses(linear, *arguments(sample, (n,), d, e, dtype), running) == (0, 0, 0, 0)


@pytest.mark.parametrize(("n", "d", "e"), [(3, 4, 2), (1, 1, 1), (2, 1, 3), (3, 2, 1)])
def test_balls_enclose_the_definition(n, d, e, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, (n,), d, e)
    assert ball_misses(linear, *values, not_enclosed, gradient_by_differences) == (0, 0, 0, 0)


def mutant_forward(formula=lambda x, W, b: x @ W + b):
    def forward(x, W, b):
        return round_to(formula(widen(x), widen(W), widen(b)), x.dtype), linear.forward(x, W, b)[1]

    return SimpleNamespace(forward=forward, backward=linear.backward)


def mutant_backward(dx=lambda g, x, W: g @ W.T, dW=lambda g, x, W: x.T @ g, db=lambda g, x, W: g.sum(0)):
    def backward(dy, cache):
        return tuple(round_to(formula(widen(dy), *cache), dy.dtype) for formula in (dx, dW, db))

    return SimpleNamespace(forward=linear.forward, backward=backward)


MUTANTS = {
    "bias forgotten": mutant_forward(lambda x, W, b: x @ W),
    "bias subtracted": mutant_forward(lambda x, W, b: x @ W - b),
    "bias down the columns": mutant_forward(lambda x, W, b: x @ W + b[:, None]),
    "W transposed": mutant_forward(lambda x, W, b: x @ W.T + b),
    "bias mapped too": mutant_forward(lambda x, W, b: (x + b) @ W),
    "W not transposed on the way back": mutant_backward(dx=lambda g, x, W: g @ W),
    "dx negated": mutant_backward(dx=lambda g, x, W: -(g @ W.T)),
    "dW transposed": mutant_backward(dW=lambda g, x, W: g.T @ x),
    "dW of one row": mutant_backward(dW=lambda g, x, W: x[:1].T @ g[:1]),
    "dW a mean": mutant_backward(dW=lambda g, x, W: x.T @ g / len(x)),
    "sums multiplied": mutant_backward(dW=lambda g, x, W: x.sum(0)[:, None] * g.sum(0)),
    "db a mean": mutant_backward(db=lambda g, x, W: g.mean(0)),
    "db along the rows": mutant_backward(db=lambda g, x, W: g.sum(1)),
    "db negated": mutant_backward(db=lambda g, x, W: -g.sum(0)),
}


def test_the_mutants_without_a_mutation_are_the_layer(running, sample):
    values = arguments(sample, (3,), 3, 3, running.dtype)
    for layer in (mutant_forward(), mutant_backward()):
        assert float_misses(layer, *values, running) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, running, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, (3,), 3, 3, dtype)
    assert sum(float_misses(MUTANTS[name], *values, running)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], *values, not_enclosed, gradient_by_differences)) > 0


def test_sixteen_bits_are_added_in_thirty_two(sample):
    x, W = np.full((1, 4096), 1, np.float16), np.full((4096, 1), 1, np.float16)
    assert linear.forward(x, W, np.zeros(1, np.float16))[0].item() == 4096  # in float16 it would stop at 2048


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_leading_axes_are_rows(leading, dtype, sample):
    values = arguments(sample, leading, 4, 3, dtype)
    y, cache = linear.forward(*values[:3])
    gradients = linear.backward(values[3], cache)
    flat, flat_cache = linear.forward(values[0].reshape(-1, 4), *values[1:3])
    assert y.shape == (*leading, 3) and np.array_equal(y.reshape(-1, 3), flat)
    for own, other in zip(gradients, linear.backward(values[3].reshape(-1, 3), flat_cache), strict=True):
        assert np.array_equal(own.reshape(other.shape), other)
    assert [a.shape for a in gradients] == [(*leading, 4), (4, 3), (3,)]
    assert {a.dtype for a in (y, *gradients)} == {dtype}


def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(dtype, sample):
    values = [array[..., ::2] for array in arguments(sample, (3,), 8, 6, dtype)]
    values[1] = values[1][::2]
    for array in values:
        array.flags.writeable = False
    before = [array.copy() for array in values]
    y, cache = linear.forward(*values[:3])
    gradients = linear.backward(values[3], cache)
    kept = [array.copy() for array in gradients]
    for array in (y, *gradients):  # what is returned is the caller's
        array[...] = 0
    assert all(np.array_equal(*pair) for pair in zip(values, before, strict=True))
    assert all(np.array_equal(*pair) for pair in zip(linear.backward(values[3], cache), kept, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    W, b = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    W, b = (to_balls(W), to_balls(b)) if dtype is object else (W, b)
    y, cache = linear.forward(np.zeros((2, 0, 4), dtype), W, b)
    dx, dW, db = linear.backward(y, cache)
    assert y.shape == (2, 0, 3) and dx.shape == (2, 0, 4)
    assert (dW == 0).all() and dW.shape == (4, 3) and (db == 0).all() and db.shape == (3,)
    assert all(isinstance(entry, arb) for entry in (*dW.flat, *db)) == (dtype is object)


X, W, B = np.zeros((2, 3)), np.zeros((3, 4)), np.zeros(4)
CACHE = linear.forward(X, W, B)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: linear.forward([1.0], W, B), TypeError, "linear: x is a list, needed a NumPy array"),
        (lambda: linear.forward(X.astype(int), W, B), TypeError, "x has dtype int64, needed float16, bfloat16"),
        (lambda: linear.forward(X[:, :0], W, B), ValueError, r"x has shape \(2, 0\), empty along axis -1"),
        (lambda: linear.forward(X, [1.0], B), TypeError, "linear: W is a list"),
        (lambda: linear.forward(X, B, B), ValueError, r"W has shape \(4,\), needed ndim >= 2"),
        (lambda: linear.forward(X, W.T, B), ValueError, r"W has shape \(4, 3\), needed \(3, 3\)"),
        (lambda: linear.forward(X, W[None], B), ValueError, r"W has shape \(1, 3, 4\), needed \(3, 4\)"),
        (lambda: linear.forward(X, W, B[:3]), ValueError, r"b has shape \(3,\), needed \(4,\)"),
        (lambda: linear.forward(X, to_balls(W), B), TypeError, "W holds balls, needed floats, since .* float64"),
        (lambda: linear.forward(X.astype("f"), W, B), TypeError, "W has dtype float64, needed one that float32 holds"),
        (lambda: linear.backward(X, CACHE), ValueError, r"dy has shape \(2, 3\), needed \(2, 4\)"),
        (lambda: linear.backward(to_balls(np.zeros((2, 4))), CACHE), TypeError, "enclose nothing; call forward on"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, to_balls, widen
from numeric.checker.rounding import Rounded
from numeric.layers import activations, feed_forward, linear

NAMES = ["relu", "gelu", "gelu_tanh", "silu"]
SIZES = [(4, 5, 7, 3), (1, 1, 1, 1), (3, 1, 4, 1), (2, 4, 1, 2), (2, 16, 64, 16)]

DEFINITIONS = {
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelu_tanh": lambda x: (
        x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(44715) / 10**6 * x**3)))
    ),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
}


def by_definition(x, W_1, b_1, W_2, b_2, activation):
    """sum_j f(sum_a x_ia W_1_aj + b_1_j) W_2_jk + b_2_k in mpmath, entry by entry."""
    y = np.empty((x.shape[0], W_2.shape[1]), dtype=object)
    for i in range(x.shape[0]):
        hidden = [
            DEFINITIONS[activation](mpmath.fsum(x[i, a] * W_1[a, j] for a in range(x.shape[1])) + b_1[j])
            for j in range(W_1.shape[1])
        ]
        for k in range(W_2.shape[1]):
            y[i, k] = mpmath.fsum(hidden[j] * W_2[j, k] for j in range(len(hidden))) + b_2[k]
    return y


def kept(rounded, where):
    """The entries where a condition holds; exact zeros elsewhere."""
    parts = (np.where(where, part, 0.0) for part in (rounded.value, rounded.worst, rounded.square))
    return Rounded(*parts, rounded.precision)


def float_misses(layer, values, dy, running):
    """For relu; it is exact, so that only the products round, as long as it is known which units are active."""
    with precision(160):
        exact, cache = feed_forward.forward(*(to_balls(value) for value in values))
        exact_gradients = feed_forward.backward(to_balls(dy), cache)
    y, cache = layer.forward(*values, "relu")
    gradients = layer.backward(dy, cache)
    x, W_1, b_1, W_2, b_2 = (running.exact(value) for value in values)
    product, transpose, g = running.matmul, running.transpose, running.exact(dy)
    a = product(x, W_1) + b_1
    assert (np.abs(a.value) > 2 * a.worst).all(), "a unit may or may not be active; choose other inputs"
    active = a.value > 0
    h, da = kept(a, active), kept(product(g, transpose(W_2)), active)
    bounds = (
        product(h, W_2) + b_2,
        product(da, transpose(W_1)),
        product(transpose(x), da),
        da.sum(0),
        product(transpose(h), g),
        g.sum(0),
    )
    return [running.misses(*each) for each in zip((y, *gradients), (exact, *exact_gradients), bounds, strict=True)]


def ball_misses(layer, values, dy, activation, not_enclosed, gradient_by_differences):
    with precision(160):
        y, cache = layer.forward(*(to_balls(value) for value in values), activation)
        gradients = layer.backward(to_balls(dy), cache)
    exact = [np.frompyfunc(mpmath.mpf, 1, 1)(value) for value in values]
    with mpmath.workdps(50):
        misses = [not_enclosed(y, by_definition(*exact, activation))]
    for place, gradient in enumerate(gradients):

        def moved(array, place=place):
            return by_definition(*exact[:place], array, *exact[place + 1 :], activation)

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, values[place], dy)))
    return misses


def arguments(sample, leading, d, d_ff, e, dtype=np.float64):
    """x, W_1, b_1, W_2, b_2 as a tuple, and dy."""
    shapes = (*leading, d), (d, d_ff), (d_ff,), (d_ff, e), (e,), (*leading, e)
    *values, dy = (sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))
    return tuple(values), dy


@pytest.mark.parametrize("sizes", SIZES)
def test_floats_stay_within_the_rounding_bound(sizes, dtype, running, sample):
    n, *widths = sizes
    assert not any(float_misses(feed_forward, *arguments(sample, (n,), *widths, dtype), running))


@pytest.mark.parametrize("activation", NAMES)
@pytest.mark.parametrize("sizes", [(2, 3, 4, 2), (1, 1, 1, 1)])
def test_balls_enclose_the_definition(sizes, activation, sample, not_enclosed, gradient_by_differences):
    n, *widths = sizes
    values, dy = arguments(sample, (n,), *widths)
    misses = ball_misses(feed_forward, values, dy, activation, not_enclosed, gradient_by_differences)
    assert misses == [0] * 6


@pytest.mark.parametrize("activation", NAMES)
def test_it_rounds_once_after_its_three_layers_in_working_precision(activation, dtype, sample):
    values, dy = arguments(sample, (2, 3), 4, 6, 4, dtype)
    x, W_1, b_1, W_2, b_2 = (widen(value) for value in values)
    a, first = linear.forward(x, W_1, b_1)
    h, middle = activations.forward(activation, a)
    y, second = linear.forward(h, W_2, b_2)
    dh, dW_2, db_2 = linear.backward(widen(dy), second)
    (da,) = activations.backward(dh, middle)
    by_layers = y, *linear.backward(da, first), dW_2, db_2
    y, cache = feed_forward.forward(*values, activation)
    own = y, *feed_forward.backward(dy, cache)
    assert {array.dtype for array in own} == {dtype}
    assert all(np.array_equal(one, other.astype(dtype)) for one, other in zip(own, by_layers, strict=True))


# --- mutants ----------------------------------------------------------------------------------------------------------


def slope(name, a):
    """f'(a), by way of the layer, whose own tests hold it against the definition."""
    ones = to_balls(np.ones(a.shape)) if a.dtype == object else np.ones_like(a)
    return activations.backward(ones, activations.forward(name, a)[1])[0]


def mutant_forward(formula):
    def forward(x, W_1, b_1, W_2, b_2, activation):
        wide = [widen(value) for value in (x, W_1, b_1, W_2, b_2)]
        y = formula(lambda a: activations.forward(activation, a)[0], *wide)
        return round_to(y, x.dtype), feed_forward.forward(x, W_1, b_1, W_2, b_2, activation)[1]

    return SimpleNamespace(forward=forward, backward=feed_forward.backward)


def mutant_backward(
    da=lambda dh, df, a: dh * df,
    dx=lambda da, W_1: da @ W_1.T,
    dW_1=lambda x, da, dh: x.T @ da,
    db_1=lambda da, dh: da.sum(0),
    dW_2=lambda h, a, g: h.T @ g,
    db_2=lambda g: g.sum(0),
):
    def backward(dy, cache):
        (x, W_1), (h, W_2), g = cache.first, cache.second, widen(dy)
        (a,), dh = cache.hidden.inputs, g @ W_2.T
        d = da(dh, slope(cache.hidden.name, a), a)
        gradients = dx(d, W_1), dW_1(x, d, dh), db_1(d, dh), dW_2(h, a, g), db_2(g)
        return tuple(round_to(gradient, dy.dtype) for gradient in gradients)

    return SimpleNamespace(forward=feed_forward.forward, backward=backward)


MUTANTS = {
    "no activation": mutant_forward(lambda f, x, W, b, V, c: (x @ W + b) @ V + c),
    "activation last": mutant_forward(lambda f, x, W, b, V, c: f((x @ W + b) @ V + c)),
    "first bias after the activation": mutant_forward(lambda f, x, W, b, V, c: (f(x @ W) + b) @ V + c),
    "first bias forgotten": mutant_forward(lambda f, x, W, b, V, c: f(x @ W) @ V + c),
    "second bias forgotten": mutant_forward(lambda f, x, W, b, V, c: f(x @ W + b) @ V),
    "weights exchanged": mutant_forward(lambda f, x, W, b, V, c: f(x @ V + b) @ W + c),
    "a residual": mutant_forward(lambda f, x, W, b, V, c: f(x @ W + b) @ V + c + x),
    "slope forgotten": mutant_backward(da=lambda dh, df, a: dh),
    "slope squared and negated": mutant_backward(da=lambda dh, df, a: -dh * df * df),
    "activation for its slope": mutant_backward(da=lambda dh, df, a: dh * a * df),
    "W_1 not transposed": mutant_backward(dx=lambda da, W_1: da @ W_1),
    "dW_1 of dh": mutant_backward(dW_1=lambda x, da, dh: x.T @ dh),
    "dW_1 transposed": mutant_backward(dW_1=lambda x, da, dh: da.T @ x),
    "db_1 of dh": mutant_backward(db_1=lambda da, dh: dh.sum(0)),
    "db_1 along the rows": mutant_backward(db_1=lambda da, dh: da.sum(1)),
    "dW_2 of a": mutant_backward(dW_2=lambda h, a, g: a.T @ g),
    "dW_2 transposed": mutant_backward(dW_2=lambda h, a, g: g.T @ h),
    "db_2 a mean": mutant_backward(db_2=lambda g: g.mean(0)),
}


def test_the_mutants_without_a_mutation_are_the_layer(running, sample):
    values, dy = arguments(sample, (3,), 3, 3, 3, running.dtype)
    for layer in (mutant_forward(lambda f, x, W, b, V, c: f(x @ W + b) @ V + c), mutant_backward()):
        assert not any(float_misses(layer, values, dy, running))


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, running, sample, not_enclosed, gradient_by_differences):
    values, dy = arguments(sample, (3,), 3, 3, 3, dtype)
    assert sum(float_misses(MUTANTS[name], values, dy, running)) > 0
    if dtype == np.float64:
        for activation in ("relu", "gelu"):
            assert sum(ball_misses(MUTANTS[name], values, dy, activation, not_enclosed, gradient_by_differences)) > 0


# --- what is special ----------------------------------------------------------------------------------------------------


def test_hidden_units_may_be_permuted_and_with_relu_rescaled(sample, vanishes):
    (x, W_1, b_1, W_2, b_2), _ = arguments(sample, (3,), 4, 5, 4)
    order, c = np.array([3, 0, 4, 1, 2]), to_balls([2, 3, 0.5, 7, 1])
    x, W_1, b_1, W_2, b_2 = (to_balls(value) for value in (x, W_1, b_1, W_2, b_2))
    with precision(113):
        y, _ = feed_forward.forward(x, W_1, b_1, W_2, b_2)
        assert vanishes(y - feed_forward.forward(x, W_1[:, order], b_1[order], W_2[order], b_2)[0])
        assert not vanishes(y - feed_forward.forward(x, W_1[:, order], b_1[order], W_2, b_2)[0])
        rescaled = W_1 * c, b_1 * c, W_2 / c[:, None], b_2
        assert vanishes(y - feed_forward.forward(x, *rescaled)[0])
        curved, _ = feed_forward.forward(x, W_1, b_1, W_2, b_2, "gelu")
        assert not vanishes(curved - feed_forward.forward(x, *rescaled, "gelu")[0])


def test_positions_do_not_mix(sample):
    (x, *weights), dy = arguments(sample, (2, 3), 4, 5, 4)
    y, cache = feed_forward.forward(x, *weights)
    other = x.copy()
    other[1, 2] += 1
    moved, _ = feed_forward.forward(other, *weights)
    assert np.array_equal((moved != y).any(-1), [[False] * 3, [False, False, True]])
    assert [a.shape for a in feed_forward.backward(dy, cache)] == [a.shape for a in (x, *weights)]


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_leading_axes_are_rows(leading, dtype, sample):
    (x, *weights), dy = arguments(sample, leading, 4, 5, 3, dtype)
    y, cache = feed_forward.forward(x, *weights)
    flat, flat_cache = feed_forward.forward(x.reshape(-1, 4), *weights)
    assert y.shape == (*leading, 3) and np.array_equal(y.reshape(-1, 3), flat)
    gradients = feed_forward.backward(dy, cache)
    for own, other in zip(gradients, feed_forward.backward(dy.reshape(-1, 3), flat_cache), strict=True):
        assert np.array_equal(own.reshape(other.shape), other)


def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(dtype, sample):
    values, dy = arguments(sample, (3,), 8, 8, 8, dtype)
    arrays = [array[..., ::2] if array.shape != (8, 8) else array[::2, ::2] for array in (*values, dy)]
    for array in arrays:
        array.flags.writeable = False
    before = [array.copy() for array in arrays]
    y, cache = feed_forward.forward(*arrays[:-1])
    gradients = feed_forward.backward(arrays[-1], cache)
    kept = [array.copy() for array in gradients]
    for array in (y, *gradients):  # what is returned is the caller's
        array[...] = 0
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True))
    assert all(np.array_equal(*pair) for pair in zip(feed_forward.backward(arrays[-1], cache), kept, strict=True))


@pytest.mark.parametrize("activation", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(activation, dtype, sample):
    (_, *weights), _ = arguments(sample, (1,), 4, 5, 3, np.float32)
    x = np.zeros((0, 4), dtype)
    y, cache = feed_forward.forward(x, *weights, activation)
    dx, *gradients = feed_forward.backward(y, cache)
    assert dx.shape == (0, 4) and [a.shape for a in gradients] == [w.shape for w in weights]
    for gradient in gradients:
        assert (gradient == 0).all() and all(isinstance(entry, arb) for entry in gradient.flat) == (dtype is object)


X, W, B, V, C = np.zeros((2, 3)), np.zeros((3, 4)), np.zeros(4), np.zeros((4, 5)), np.zeros(5)
CACHE = feed_forward.forward(X, W, B, V, C)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: feed_forward.forward([1.0], W, B, V, C), TypeError, "feed_forward: x is a list, needed a NumPy array"),
        (lambda: feed_forward.forward(X.astype(int), W, B, V, C), TypeError, "x has dtype int64, needed float16"),
        (lambda: feed_forward.forward(X[:, :0], W, B, V, C), ValueError, r"x has shape \(2, 0\), empty along axis -1"),
        (lambda: feed_forward.forward(X, W[:, :0], B, V, C), ValueError, r"W_1 has shape \(3, 0\), empty along axis"),
        (lambda: feed_forward.forward(X, W.T, B, V, C), ValueError, r"W_1 has shape \(4, 3\), needed \(3, 3\)"),
        (lambda: feed_forward.forward(X, W, C, V, C), ValueError, r"b_1 has shape \(5,\), needed \(4,\)"),
        (lambda: feed_forward.forward(X, W, B, W, C), ValueError, r"W_2 has shape \(3, 4\), needed \(4, 4\)"),
        (lambda: feed_forward.forward(X, W, B, V, B), ValueError, r"b_2 has shape \(4,\), needed \(5,\)"),
        (lambda: feed_forward.forward(X, W, B, to_balls(V), C), TypeError, "feed_forward: W_2 holds balls, needed"),
        (lambda: feed_forward.forward(X.astype("f"), W, B, V, C), TypeError, "feed_forward: W_1 has dtype float64"),
        (
            lambda: feed_forward.forward(X, W, B, V, C, "swiglu"),
            ValueError,
            "feed_forward: activation is 'swiglu', needed one of relu, gelu, gelu_tanh, silu",
        ),
        (
            lambda: feed_forward.forward(to_balls(X), W, np.full(4, arb(0, 1), object), V, C),
            UndecidedComparison,
            "undecided",
        ),
        (lambda: feed_forward.backward(X, CACHE), ValueError, r"feed_forward: dy has shape \(2, 3\), needed \(2, 5\)"),
        (lambda: feed_forward.backward(to_balls(np.zeros((2, 5))), CACHE), TypeError, "feed_forward: .* enclose"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

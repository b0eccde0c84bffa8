# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, to_balls, to_floats, widen
from numeric.layers import layer_norm

SHAPES = [(4, 5), (1, 1), (5, 1), (1, 2), (3, 64)]


def by_definition(x, gain, bias, eps):
    """gain_i (x_i - mean) / sqrt(v + eps) + bias_i in mpmath, row by row."""
    y = np.empty(x.shape, dtype=object)
    for p, row in enumerate(x):
        mean = mpmath.fsum(row) / len(row)
        variance = mpmath.fsum((entry - mean) ** 2 for entry in row) / len(row)
        for i, entry in enumerate(row):
            y[p, i] = gain[i] * (entry - mean) / mpmath.sqrt(variance + eps) + bias[i]
    return y


def float_misses(layer, x, gain, bias, dy, eps, running):
    with precision(160):
        exact, cache = layer_norm.forward(to_balls(x), to_balls(gain), to_balls(bias), eps)
        exact_gradients = layer_norm.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, gain, bias, eps)
    gradients = layer.backward(dy, cache)
    d = x.shape[-1]
    centred = running.exact(x) - running.exact(x).sum(-1).over(d)
    root = ((centred * centred).sum(-1).over(d) + running.given(eps)) ** running.exact(0.5)
    x_hat, g = centred / root, running.exact(dy)
    scaled = g * running.exact(gain)
    dx = (scaled - scaled.sum(-1).over(d) - x_hat * (scaled * x_hat).sum(-1).over(d)) / root
    bounds = (dx, (g * x_hat).sum(0), g.sum(0))
    return (
        running.misses(y, exact, x_hat * running.exact(gain) + running.exact(bias)),
        *(running.misses(*each) for each in zip(gradients, exact_gradients, bounds, strict=True)),
    )


def ball_misses(layer, x, gain, bias, dy, eps, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(x), to_balls(gain), to_balls(bias), eps)
        gradients = layer.backward(to_balls(dy), cache)
    exact = [np.frompyfunc(mpmath.mpf, 1, 1)(array) for array in (x, gain, bias)]
    with mpmath.workdps(50):
        forward = by_definition(*exact, eps)
    misses = [not_enclosed(y, forward)]
    for place, gradient in enumerate(gradients):

        def moved(array, place=place):
            return by_definition(*exact[:place], array, *exact[place + 1 :], eps)

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, (x, gain, bias)[place], dy)))
    return tuple(misses)


def arguments(sample, shape, dtype=np.float64):
    """x, gain, bias and dy."""
    return (
        sample(shape, dtype, 2),
        sample(shape[-1:], dtype, seed=1),
        sample(shape[-1:], dtype, seed=2),
        sample(shape, dtype, seed=3),
    )


@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_floats_stay_within_the_rounding_bound(shape, eps, dtype, running, sample):
    assert float_misses(layer_norm, *arguments(sample, shape, dtype), eps, running) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("shape", "eps"), [((3, 4), 1e-5), ((2, 3), 0.0), ((3, 4), -0.125), ((1, 1), 0.5), ((2, 2), 2.0)]
)
def test_balls_enclose_the_definition(shape, eps, sample, not_enclosed, gradient_by_differences):
    misses = ball_misses(layer_norm, *arguments(sample, shape), eps, not_enclosed, gradient_by_differences)
    assert misses == (0, 0, 0, 0)


def mutant_forward(centre=1, axis=-1, ddof=0, root=lambda v, eps: np.sqrt(v + eps), affine=lambda x, g, b: x * g + b):
    def forward(x, gain, bias, eps):
        work = widen(x)
        n = x.shape[axis]
        centred = work - centre * work.mean(axis, keepdims=True)
        x_hat = centred / root((centred * centred).sum(axis, keepdims=True) / (n - ddof), eps)
        return round_to(affine(x_hat, gain, bias), x.dtype), layer_norm.forward(x, gain, bias, eps)[1]

    return SimpleNamespace(forward=forward, backward=layer_norm.backward)


def mean(array):
    return array.mean(-1, keepdims=True)


def mutant_backward(
    dx=lambda g, x, r: (g - mean(g) - x * mean(g * x)) / r,
    scale=lambda g, gain: g * gain,
    dgain=lambda g, x: (g * x).sum(0),
    dbias=lambda g, x: g.sum(0),
):
    def backward(dy, cache):
        x_hat, root, gain = cache
        g = widen(dy)
        gradients = dx(scale(g, gain), x_hat, root), dgain(g, x_hat), dbias(g, x_hat)
        return tuple(round_to(gradient, dy.dtype) for gradient in gradients)

    return SimpleNamespace(forward=layer_norm.forward, backward=backward)


MUTANTS = {
    "mean kept": mutant_forward(centre=0),
    "mean added": mutant_forward(centre=-1),
    "other axis": mutant_forward(axis=0),
    "unbiased variance": mutant_forward(ddof=1),
    "eps outside the root": mutant_forward(root=lambda v, eps: np.sqrt(v) + eps),
    "eps forgotten": mutant_forward(root=lambda v, eps: np.sqrt(v)),
    "no root": mutant_forward(root=lambda v, eps: v + eps),
    "gain forgotten": mutant_forward(affine=lambda x, g, b: x + b),
    "gain of the bias": mutant_forward(affine=lambda x, g, b: (x + b) * g),
    "bias subtracted": mutant_forward(affine=lambda x, g, b: x * g - b),
    "overlap dropped": mutant_backward(lambda g, x, r: (g - mean(g)) / r),
    "overlap added": mutant_backward(lambda g, x, r: (g - mean(g) + x * mean(g * x)) / r),
    "mean dropped": mutant_backward(lambda g, x, r: (g - x * mean(g * x)) / r),
    "sums for means": mutant_backward(lambda g, x, r: (g - g.sum(-1, keepdims=True) - x * mean(g * x)) / r),
    "root forgotten": mutant_backward(lambda g, x, r: g - mean(g) - x * mean(g * x)),
    "means down the columns": mutant_backward(lambda g, x, r: (g - g.mean(0) - x * mean(g * x)) / r),
    "gain forgotten on the way back": mutant_backward(scale=lambda g, gain: g),
    "gain's gradient without x^": mutant_backward(dgain=lambda g, x: g.sum(0)),
    "gain's gradient a mean": mutant_backward(dgain=lambda g, x: (g * x).mean(0)),
    "gain's gradient along the row": mutant_backward(dgain=lambda g, x: (g * x).sum(-1)),
    "gain's gradient negated": mutant_backward(dgain=lambda g, x: -(g * x).sum(0)),
    "bias's gradient with x^": mutant_backward(dbias=lambda g, x: (g * x).sum(0)),
    "bias's gradient a mean": mutant_backward(dbias=lambda g, x: g.mean(0)),
    "bias's gradient along the row": mutant_backward(dbias=lambda g, x: g.sum(-1)),
}


def test_the_mutants_without_a_mutation_are_the_layer(running, sample):
    values = arguments(sample, (4, 4), running.dtype)
    for layer in (mutant_forward(), mutant_backward()):
        assert float_misses(layer, *values, 0.5, running) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, running, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, (4, 4), dtype)
    assert sum(float_misses(MUTANTS[name], *values, 0.5, running)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], *values, 0.5, not_enclosed, gradient_by_differences)) > 0


@pytest.mark.parametrize("row", [[1, 1, 1], [0, 0, 0], [256, 256, 257], [30000, -30000, 0], [6e-5, 0, -6e-5]])
def test_extreme_rows(row, dtype, running):
    x, gain, dy = np.array([row], dtype), np.array([1, -2, 0.5], dtype), np.array([[0.75, -2, 1]], dtype)
    with np.errstate(all="raise", under="ignore"):
        assert float_misses(layer_norm, x, gain, gain[::-1], dy, 0.125, running) == (0, 0, 0, 0)


def test_a_large_mean_does_not_cancel_the_variance():
    x = np.array([4096, 4097, 4098, 4099], np.float32)
    y, _ = layer_norm.forward(x, np.ones(4, np.float32), np.zeros(4, np.float32), 0.0)
    assert np.array_equal(y, layer_norm.forward(x - 4096, np.ones(4, np.float32), np.zeros(4, np.float32), 0.0)[0])


def test_gradients_are_orthogonal_to_constants_and_without_eps_to_the_row(sample, vanishes):
    x, gain, bias, dy = (to_balls(array) for array in arguments(sample, (3, 5)))
    with precision(113):
        y, cache = layer_norm.forward(x, gain, bias, 0.0)
        dx, _, _ = layer_norm.backward(dy, cache)
        assert vanishes(dx.sum(-1)) and vanishes((x * dx).sum(-1)) and not vanishes(dx)
        assert vanishes(y - layer_norm.forward(3 * x + arb(1) / 3, gain, bias, 0.0)[0])
        slanted, _, _ = layer_norm.backward(dy, layer_norm.forward(x, gain, bias, 0.5)[1])
        assert vanishes(slanted.sum(-1)) and not vanishes((x * slanted).sum(-1))


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_leading_axes_are_rows(leading, dtype, sample):
    x, gain, bias, dy = arguments(sample, (*leading, 5), dtype)
    y, cache = layer_norm.forward(x, gain, bias)
    dx, dgain, dbias = layer_norm.backward(dy, cache)
    flat, flat_cache = layer_norm.forward(x.reshape(-1, 5), gain, bias)
    assert np.array_equal(y.reshape(-1, 5), flat)
    assert np.array_equal(dx.reshape(-1, 5), layer_norm.backward(dy.reshape(-1, 5), flat_cache)[0])
    assert dgain.shape == dbias.shape == (5,) and {a.dtype for a in (y, dx, dgain, dbias)} == {dtype}


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_parameters_sum_their_gradients_over_all_rows(leading, sample, vanishes):
    x, gain, bias, dy = (to_balls(array) for array in arguments(sample, (*leading, 5)))
    with precision(113):
        gradients = layer_norm.backward(dy, layer_norm.forward(x, gain, bias)[1])
        flat = layer_norm.backward(dy.reshape(-1, 5), layer_norm.forward(x.reshape(-1, 5), gain, bias)[1])
        assert all(vanishes(a - b) and not vanishes(a) for a, b in zip(gradients[1:], flat[1:], strict=True))


def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(dtype, sample):
    x, gain, bias, dy = (array[..., ::2] for array in arguments(sample, (3, 8), dtype))
    for array in (x, gain, bias, dy):
        array.flags.writeable = False
    before = [array.copy() for array in (x, gain, bias, dy)]
    y, cache = layer_norm.forward(x, gain, bias)
    dx, _, dbias = layer_norm.backward(dy, cache)
    assert np.array_equal(y, layer_norm.forward(*before[:3])[0])
    assert all(np.array_equal(*pair) for pair in zip((x, gain, bias, dy), before, strict=True))
    y[...], dx[...], dbias[...] = 0, 0, 0  # and what is returned is the caller's
    again = layer_norm.backward(dy, cache)[0]
    assert np.array_equal(again, layer_norm.backward(dy, layer_norm.forward(x, gain, bias)[1])[0])
    assert np.array_equal(dy, before[3])


def test_parameters_may_be_wider_than_the_input(sample):
    x, gain, bias, dy = arguments(sample, (2, 4), np.float32)
    half = x.astype(np.float16)
    y, cache = layer_norm.forward(half, gain, bias)
    wide, _ = layer_norm.forward(half.astype(np.float32), gain, bias)
    assert y.dtype == np.float16 and np.array_equal(y, wide.astype(np.float16))
    assert [a.dtype for a in layer_norm.backward(dy, cache)] == 3 * [np.float32]
    balls, _ = layer_norm.forward(to_balls(x), gain, bias)
    assert all(isinstance(ball, arb) for ball in balls.flat)


def test_a_row_with_an_infinite_entry_is_nan_and_leaves_the_others_alone():
    x = np.array([[np.inf, 1], [1, 2], [np.nan, 1]])
    with np.errstate(invalid="ignore"):
        y, _ = layer_norm.forward(x, np.ones(2), np.zeros(2))
    assert np.isnan(y[[0, 2]]).all() and np.isfinite(y[1]).all()


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    one = to_balls(np.ones(5)) if dtype is object else np.ones(5, dtype)
    y, cache = layer_norm.forward(np.zeros((0, 5), dtype), one, one)
    dx, dgain, dbias = layer_norm.backward(y, cache)
    assert (
        dx.shape == (0, 5) and to_floats(to_balls(dgain)).tolist() == to_floats(to_balls(dbias)).tolist() == [0.0] * 5
    )
    assert all(isinstance(entry, arb) for entry in (*dgain, *dbias)) == (dtype is object)


X, V = np.array([[1.0, 2, 4], [0, 1, 0]]), np.ones(3)
CACHE = layer_norm.forward(X, V, V)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: layer_norm.forward([1.0], V, V), TypeError, "layer_norm: x is a list, needed a NumPy array"),
        (lambda: layer_norm.forward(X.astype(int), V, V), TypeError, "x has dtype int64, needed float16, bfloat16"),
        (lambda: layer_norm.forward(np.array(1.0), V, V), ValueError, r"x has shape \(\), needed ndim >= 1"),
        (lambda: layer_norm.forward(X[:, :0], V, V), ValueError, r"x has shape \(2, 0\), empty along axis -1"),
        (lambda: layer_norm.forward(X, V[:2], V), ValueError, r"gain has shape \(2,\), needed \(3,\)"),
        (lambda: layer_norm.forward(X, V, X), ValueError, r"bias has shape \(2, 3\), needed \(3,\)"),
        (lambda: layer_norm.forward(X, 1.0, V), TypeError, "gain is a float, needed a NumPy array"),
        (lambda: layer_norm.forward(X, V, to_balls(V)), TypeError, "bias holds balls, needed floats, since .* float64"),
        (lambda: layer_norm.forward(X.astype("f"), V, V), TypeError, "gain has dtype float64, needed one that float32"),
        (lambda: layer_norm.forward(X, V, V, "1"), TypeError, "eps is '1', needed one real number"),
        (lambda: layer_norm.forward(X, V, V, np.nan), ValueError, "eps is nan, needed a finite number in float64"),
        (lambda: layer_norm.forward(X, V, V, arb(1)), TypeError, "eps is a ball, needed a float"),
        (
            lambda: layer_norm.forward(np.array([[1.0, 2], [3, 3]]), V[:2], V[:2], 0.0),
            ValueError,
            r"layer_norm: v \+ eps is 0.0 at index \(1, 0\), needed a number above 0; raise eps",
        ),
        (lambda: layer_norm.forward(to_balls(V), V, V, 0.0), ValueError, r"v \+ eps is 0 at index \(0,\)"),
        (lambda: layer_norm.forward(X, V, V, -1.0), ValueError, r"v \+ eps is -0.77.* at index \(1, 0\)"),
        (lambda: layer_norm.forward(to_balls(X), V, V, arb(0, 9)), UndecidedComparison, "undecided"),
        (lambda: layer_norm.backward(X.T, CACHE), ValueError, r"dy has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: layer_norm.backward(to_balls(X), CACHE), TypeError, "enclose nothing; call forward on"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

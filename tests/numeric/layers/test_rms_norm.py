# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, to_balls, to_floats, widen
from numeric.layers import layer_norm, rms_norm

SHAPES = [(4, 5), (1, 1), (5, 1), (1, 2), (3, 64)]


def by_definition(x, gain, eps):
    """gain_i x_i / sqrt(mean x^2 + eps) in mpmath, row by row."""
    y = np.empty(x.shape, dtype=object)
    for p, row in enumerate(x):
        square = mpmath.fsum(entry**2 for entry in row) / len(row)
        for i, entry in enumerate(row):
            y[p, i] = gain[i] * entry / mpmath.sqrt(square + eps)
    return y


def float_misses(layer, x, gain, dy, eps, running):
    with precision(160):
        exact, cache = rms_norm.forward(to_balls(x), to_balls(gain), eps)
        exact_gradients = rms_norm.backward(to_balls(dy), cache)
    y, cache = layer.forward(x, gain, eps)
    gradients = layer.backward(dy, cache)
    row, d = running.exact(x), x.shape[-1]
    root = ((row * row).sum(-1).over(d) + running.given(eps)) ** running.exact(0.5)
    x_hat, g = row / root, running.exact(dy)
    scaled = g * running.exact(gain)
    bounds = (scaled - x_hat * (scaled * x_hat).sum(-1).over(d)) / root, (g * x_hat).sum(0)
    return (
        running.misses(y, exact, x_hat * running.exact(gain)),
        *(running.misses(*each) for each in zip(gradients, exact_gradients, bounds, strict=True)),
    )


def ball_misses(layer, x, gain, dy, eps, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(x), to_balls(gain), eps)
        dx, dgain = layer.backward(to_balls(dy), cache)
    exact_x, exact_gain = (np.frompyfunc(mpmath.mpf, 1, 1)(array) for array in (x, gain))
    with mpmath.workdps(50):
        forward = by_definition(exact_x, exact_gain, eps)
    by_x = gradient_by_differences(lambda x: by_definition(x, exact_gain, eps), x, dy)
    by_gain = gradient_by_differences(lambda gain: by_definition(exact_x, gain, eps), gain, dy)
    return not_enclosed(y, forward), not_enclosed(dx, by_x), not_enclosed(dgain, by_gain)


def arguments(sample, shape, dtype=np.float64):
    """x, gain and dy."""
    return sample(shape, dtype, 2), sample(shape[-1:], dtype, seed=1), sample(shape, dtype, seed=3)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_floats_stay_within_the_rounding_bound(shape, eps, dtype, running, sample):
    assert float_misses(rms_norm, *arguments(sample, shape, dtype), eps, running) == (0, 0, 0)


@pytest.mark.parametrize(
    ("shape", "eps"), [((3, 4), 1e-5), ((2, 3), 0.0), ((3, 4), -0.125), ((1, 1), 0.5), ((2, 2), 2.0)]
)
def test_balls_enclose_the_definition(shape, eps, sample, not_enclosed, gradient_by_differences):
    misses = ball_misses(rms_norm, *arguments(sample, shape), eps, not_enclosed, gradient_by_differences)
    assert misses == (0, 0, 0)


def mutant_forward(centre=0, axis=-1, count=lambda n: n, root=lambda m, eps: np.sqrt(m + eps), affine=np.multiply):
    def forward(x, gain, eps):
        work = widen(x) - centre * widen(x).mean(axis, keepdims=True)
        square = (work * work).sum(axis, keepdims=True) / count(x.shape[axis])
        return round_to(affine(work / root(square, eps), gain), x.dtype), rms_norm.forward(x, gain, eps)[1]

    return SimpleNamespace(forward=forward, backward=rms_norm.backward)


def mean(array):
    return array.mean(-1, keepdims=True)


def mutant_backward(
    dx=lambda g, x, r: (g - x * mean(g * x)) / r,
    scale=lambda g, gain: g * gain,
    dgain=lambda g, x: (g * x).sum(0),
):
    def backward(dy, cache):
        x_hat, root, gain = cache
        g = widen(dy)
        return round_to(dx(scale(g, gain), x_hat, root), dy.dtype), round_to(dgain(g, x_hat), dy.dtype)

    return SimpleNamespace(forward=rms_norm.forward, backward=backward)


MUTANTS = {
    "mean subtracted": mutant_forward(centre=1),
    "other axis": mutant_forward(axis=0),
    "sum for mean": mutant_forward(count=lambda n: 1),
    "one feature less": mutant_forward(count=lambda n: n - 1),
    "eps outside the root": mutant_forward(root=lambda m, eps: np.sqrt(m) + eps),
    "eps forgotten": mutant_forward(root=lambda m, eps: np.sqrt(m)),
    "no root": mutant_forward(root=lambda m, eps: m + eps),
    "gain forgotten": mutant_forward(affine=lambda x, g: x),
    "one plus gain": mutant_forward(affine=lambda x, g: x * (1 + g)),
    "gradient of layer_norm": mutant_backward(lambda g, x, r: (g - mean(g) - x * mean(g * x)) / r),
    "overlap dropped": mutant_backward(lambda g, x, r: g / r),
    "overlap added": mutant_backward(lambda g, x, r: (g + x * mean(g * x)) / r),
    "sum for mean on the way back": mutant_backward(lambda g, x, r: (g - x * (g * x).sum(-1, keepdims=True)) / r),
    "root forgotten": mutant_backward(lambda g, x, r: g - x * mean(g * x)),
    "mean down the columns": mutant_backward(lambda g, x, r: (g - x * (g * x).mean(0)) / r),
    "gain forgotten on the way back": mutant_backward(scale=lambda g, gain: g),
    "gain's gradient without x^": mutant_backward(dgain=lambda g, x: g.sum(0)),
    "gain's gradient a mean": mutant_backward(dgain=lambda g, x: (g * x).mean(0)),
    "gain's gradient along the row": mutant_backward(dgain=lambda g, x: (g * x).sum(-1)),
    "gain's gradient negated": mutant_backward(dgain=lambda g, x: -(g * x).sum(0)),
}


def test_the_mutants_without_a_mutation_are_the_layer(running, sample):
    values = arguments(sample, (4, 4), running.dtype)
    for layer in (mutant_forward(), mutant_backward()):
        assert float_misses(layer, *values, 0.5, running) == (0, 0, 0)


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
        assert float_misses(rms_norm, x, gain, dy, 0.125, running) == (0, 0, 0)


def test_without_eps_lengths_do_not_matter_and_gradients_are_orthogonal_to_the_row(sample, vanishes):
    x, gain, dy = (to_balls(array) for array in arguments(sample, (3, 5)))
    with precision(113):
        y, cache = rms_norm.forward(x, gain, 0.0)
        dx, _ = rms_norm.backward(dy, cache)
        assert vanishes((x * dx).sum(-1)) and not vanishes(dx) and not vanishes(dx.sum(-1))
        assert vanishes(y - rms_norm.forward(x * (arb(1) / 3), gain, 0.0)[0])
        slanted, _ = rms_norm.backward(dy, rms_norm.forward(x, gain, 0.5)[1])
        assert not vanishes((x * slanted).sum(-1))


def test_it_is_layer_norm_of_a_centred_row(sample, vanishes):
    x, gain, _ = (to_balls(array) for array in arguments(sample, (3, 5)))
    with precision(113):
        centred, zero = x - x.mean(-1, keepdims=True), to_balls(np.zeros(5))
        assert vanishes(rms_norm.forward(centred, gain)[0] - layer_norm.forward(x, gain, zero)[0])
        assert not vanishes(rms_norm.forward(x, gain)[0] - layer_norm.forward(x, gain, zero)[0])


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_leading_axes_are_rows(leading, dtype, sample):
    x, gain, dy = arguments(sample, (*leading, 5), dtype)
    y, cache = rms_norm.forward(x, gain)
    dx, dgain = rms_norm.backward(dy, cache)
    flat, flat_cache = rms_norm.forward(x.reshape(-1, 5), gain)
    assert np.array_equal(y.reshape(-1, 5), flat)
    assert np.array_equal(dx.reshape(-1, 5), rms_norm.backward(dy.reshape(-1, 5), flat_cache)[0])
    assert dgain.shape == (5,) and {a.dtype for a in (y, dx, dgain)} == {dtype}


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_gain_sums_its_gradient_over_all_rows(leading, sample, vanishes):
    x, gain, dy = (to_balls(array) for array in arguments(sample, (*leading, 5)))
    with precision(113):
        dgain = rms_norm.backward(dy, rms_norm.forward(x, gain)[1])[1]
        flat = rms_norm.backward(dy.reshape(-1, 5), rms_norm.forward(x.reshape(-1, 5), gain)[1])[1]
        assert vanishes(dgain - flat) and not vanishes(dgain)


def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(dtype, sample):
    x, gain, dy = (array[..., ::2] for array in arguments(sample, (3, 8), dtype))
    for array in (x, gain, dy):
        array.flags.writeable = False
    before = [array.copy() for array in (x, gain, dy)]
    y, cache = rms_norm.forward(x, gain)
    dx, _ = rms_norm.backward(dy, cache)
    assert np.array_equal(y, rms_norm.forward(*before[:2])[0])
    assert all(np.array_equal(*pair) for pair in zip((x, gain, dy), before, strict=True))
    kept = dx.copy()
    y[...], dx[...] = 0, 0  # what is returned is the caller's
    assert np.array_equal(rms_norm.backward(dy, cache)[0], kept)


def test_parameters_may_be_wider_than_the_input(sample):
    x, gain, dy = arguments(sample, (2, 4), np.float32)
    half = x.astype(np.float16)
    y, cache = rms_norm.forward(half, gain)
    assert y.dtype == np.float16
    assert np.array_equal(y, rms_norm.forward(half.astype(np.float32), gain)[0].astype(np.float16))
    assert [a.dtype for a in rms_norm.backward(dy, cache)] == 2 * [np.float32]
    assert all(isinstance(ball, arb) for ball in rms_norm.forward(to_balls(x), gain)[0].flat)


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    one = to_balls(np.ones(5)) if dtype is object else np.ones(5, dtype)
    y, cache = rms_norm.forward(np.zeros((0, 5), dtype), one)
    dx, dgain = rms_norm.backward(y, cache)
    assert dx.shape == (0, 5) and to_floats(to_balls(dgain)).tolist() == [0.0] * 5
    assert all(isinstance(entry, arb) for entry in dgain) == (dtype is object)


X, V = np.array([[1.0, 2, 4], [0, 1, 0]]), np.ones(3)
CACHE = rms_norm.forward(X, V)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rms_norm.forward([1.0], V), TypeError, "rms_norm: x is a list, needed a NumPy array"),
        (lambda: rms_norm.forward(X.astype(int), V), TypeError, "x has dtype int64, needed float16, bfloat16"),
        (lambda: rms_norm.forward(X[:, :0], V), ValueError, r"x has shape \(2, 0\), empty along axis -1"),
        (lambda: rms_norm.forward(X, V[:2]), ValueError, r"gain has shape \(2,\), needed \(3,\)"),
        (lambda: rms_norm.forward(X, to_balls(V)), TypeError, "gain holds balls, needed floats, since .* float64"),
        (lambda: rms_norm.forward(X.astype("f"), V), TypeError, "gain has dtype float64, needed one that float32"),
        (lambda: rms_norm.forward(X, V, np.inf), ValueError, "eps is inf, needed a finite number in float64"),
        (lambda: rms_norm.forward(X, V, arb(1)), TypeError, "eps is a ball, needed a float"),
        (
            lambda: rms_norm.forward(X * 0, V, 0.0),
            ValueError,
            r"rms_norm: mean x\^2 \+ eps is 0.0 at index \(0, 0\), needed a number above 0; raise eps",
        ),
        (lambda: rms_norm.forward(to_balls(X), V, arb(0, 9)), UndecidedComparison, "undecided"),
        (lambda: rms_norm.backward(X.T, CACHE), ValueError, r"dy has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: rms_norm.backward(to_balls(X), CACHE), TypeError, "enclose nothing; call forward on"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, to_balls, to_floats, widen
from numeric.layers import activations

ONE_INPUT = ["relu", "gelu", "gelu_tanh", "silu"]
NAMES = [*ONE_INPUT, "swiglu"]

DEFINITIONS = {
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "gelu": lambda x: x / 2 * (1 + mpmath.erf(x / mpmath.sqrt(2))),
    "gelu_tanh": lambda x: (
        x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(44715) / 10**6 * x**3)))
    ),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "swiglu": lambda a, b: a / (1 + mpmath.exp(-a)) * b,
}


def by_definition(name, *inputs):
    return np.frompyfunc(DEFINITIONS[name], len(inputs), 1)(*inputs)


# --- bounds on rounding: relative ones of what multiplies the input, absolute ones of its slope -----------------------


def relative(r, amount):
    """The bound on a product with these relative errors; where it is void, no more than half is of interest.

    It is void only where x is so far below 0 that the true value underflows, which `underflow` counts by itself.
    """
    return r.gamma(np.minimum(amount, 0.5))


def sigmoid_error(x, r, argument=0.0):
    """The relative error of 1 / (1 + e^-x), x itself being off by `argument`: of exp, weighted, an addition, a division."""
    s = 1 / (1 + np.exp(np.minimum(-x, 700)))
    return s, relative(r, (1 - s) * relative(r, relative(r, argument) + r.elementary) + 2 * r.u)


def silu_bounds(x, r):
    s, of_s = sigmoid_error(x, r)
    of_rest = s * of_s + r.u * (1 - s + s * of_s)
    inner = 1 + x * (1 - s)
    of_inner = np.abs(x) * (of_rest + r.u * (1 - s + of_rest))
    of_inner = of_inner + r.u * (np.abs(inner) + of_inner)
    return s, of_s, s * inner, s * (of_inner + (np.abs(inner) + of_inner) * relative(r, of_s + r.u))


def gelu_bounds(x, r):
    """erfc(z) has the condition number 2 z^2 + 1 for z > 0 at most, and 1 for z < 0; its argument is off by 2 u.

    Cephes squares z before exp, which costs z^2 u; with 10 u for its rational functions this is 717 u at z = 26.6, where
    erfc underflows, and so covers the 5.7e-14 = 513 u that its documentation reports as the largest error seen.
    """
    z = np.maximum(-x, 0) / np.sqrt(2)
    phi = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    gate = np.frompyfunc(lambda x: float(mpmath.ncdf(x)), 1, 1)(x).astype(float)
    of_gate = relative(r, (2 * z**2 + 1) * 2 * r.u + (z**2 + 10) * r.u)
    of_density = relative(r, (x**2 / 2 + 4) * r.u + r.elementary)
    slope = gate + x * phi
    error = gate * of_gate + np.abs(x) * phi * of_density
    return gate, of_gate, slope, error + r.u * (np.abs(slope) + error)


def gelu_tanh_bounds(x, r):
    c, k = np.sqrt(2 / np.pi), 0.044715
    u = c * (x + k * x**3)
    # 2u rounds in x^2 and k, their product, the sum (all terms positive), x, and twice for c, and in its product
    s, of_s = sigmoid_error(2 * u, r, 8 * r.u * np.abs(2 * u))
    of_rest = s * of_s + r.u * (1 - s + s * of_s)
    factor = 2 * np.abs(x) * s * c * (1 + 3 * k * x**2)
    slope = s + 2 * x * s * (1 - s) * c * (1 + 3 * k * x**2)
    of_product = factor * (of_rest + (1 - s + of_rest) * relative(r, of_s + 11 * r.u))
    error = s * of_s + of_product
    return s, of_s, slope, error + r.u * (np.abs(slope) + error)


BOUNDS = {"gelu": gelu_bounds, "gelu_tanh": gelu_tanh_bounds, "silu": silu_bounds, "swiglu": silu_bounds}


def float_bounds(name, inputs, dy, r):
    """Bounds on the errors of y and of the gradients, before the last rounding."""
    x, g = inputs[0].astype(float), np.abs(dy.astype(float))
    if name == "relu":
        return 0 * x, 0 * x
    gate, of_gate, slope, of_slope = BOUNDS[name](x, r)
    size, underflow = np.abs(x), 8 * r.tiny * (1 + np.abs(x)) ** 3
    y = size * gate * relative(r, of_gate + r.u) + underflow
    dx = g * (of_slope + r.u * (np.abs(slope) + of_slope) + underflow)
    if name != "swiglu":
        return y, dx
    b = np.abs(inputs[1].astype(float))
    y_b = b * size * gate * relative(r, of_gate + 2 * r.u) + underflow * (1 + b)
    da = b * g * (of_slope + (np.abs(slope) + of_slope) * relative(r, 2 * r.u) + underflow)
    return y_b, da, g * (size * gate * relative(r, of_gate + 2 * r.u) + underflow)


def float_misses(layer, name, inputs, dy, r):
    with precision(200):
        exact, cache = activations.forward(name, *(to_balls(x) for x in inputs))
        exact_gradients = activations.backward(to_balls(dy), cache)
    y, cache = layer.forward(name, *inputs)
    values, balls = (y, *layer.backward(dy, cache)), (exact, *exact_gradients)
    return [r.misses(*each) for each in zip(values, balls, float_bounds(name, inputs, dy, r), strict=True)]


def ball_misses(layer, name, inputs, dy, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(name, *(to_balls(x) for x in inputs))
        gradients = layer.backward(to_balls(dy), cache)
    exact = [np.frompyfunc(mpmath.mpf, 1, 1)(x) for x in inputs]
    with mpmath.workdps(50):
        misses = [not_enclosed(y, by_definition(name, *exact))]
    for place, gradient in enumerate(gradients):

        def moved(array, place=place):
            return by_definition(name, *exact[:place], array, *exact[place + 1 :])

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, inputs[place], dy)))
    assert len(misses) == 1 + len(inputs)
    return misses


def arguments(sample, name, shape, dtype=np.float64):
    """The inputs, as a tuple, and dy."""
    inputs = tuple(sample(shape, dtype, 3, seed) for seed in range(len(activations.FUNCTIONS[name].inputs)))
    return inputs, sample(shape, dtype, seed=7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1,), (2, 1, 3), (500,)])
def test_floats_stay_within_the_rounding_bound(name, shape, dtype, rounding, sample):
    assert not any(float_misses(activations, name, *arguments(sample, name, shape, dtype), rounding))


@pytest.mark.parametrize("name", NAMES)
def test_extreme_inputs(name, dtype, rounding):
    x = np.array([0, 1e-4, -1e-4, 5, -5, 9, -9, 12, -12, 40, -40, 90, -90, 1000, -1000, 30000, -30000], dtype)
    inputs = (x,) if name != "swiglu" else (x, np.full_like(x, 2))
    with np.errstate(all="raise", under="ignore"):
        assert not any(float_misses(activations, name, inputs, np.full_like(x, 1.5), rounding))


@pytest.mark.parametrize("name", NAMES)
def test_balls_enclose_the_definition(name, sample, not_enclosed, gradient_by_differences):
    inputs, dy = arguments(sample, name, (2, 5))
    assert not any(ball_misses(activations, name, inputs, dy, not_enclosed, gradient_by_differences))


# --- mutants ----------------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def mutant_forward(formula):
    def forward(name, *inputs):
        y = formula(*(widen(x) for x in inputs))
        return round_to(y, inputs[0].dtype), activations.forward(name, *inputs)[1]

    return SimpleNamespace(forward=forward, backward=activations.backward)


def mutant_backward(*formulas):
    """Formulas of the gradients, given g, the gate and the inputs."""

    def backward(dy, cache):
        return tuple(round_to(formula(widen(dy), cache.gate, *cache.inputs), dy.dtype) for formula in formulas)

    return SimpleNamespace(forward=activations.forward, backward=backward)


def positive(x):
    return np.array([bool(entry > 0) for entry in x.flat]).reshape(x.shape)


def density(x):
    return np.exp(x * x / -2) / np.sqrt(to_balls([2])[0] * arb.pi() if x.dtype == object else x.dtype.type(2 * np.pi))


C = 0.7978845608028654
MUTANTS = {
    ("relu", "the identity"): mutant_forward(lambda x: x + 0),
    ("relu", "the other half"): mutant_forward(lambda x: x * ~positive(x)),
    ("relu", "absolute value"): mutant_forward(abs),
    ("relu", "a leak"): mutant_forward(lambda x: x * np.where(positive(x), 1, 0.125).astype(x.dtype)),
    ("relu", "gradient unmasked"): mutant_backward(lambda g, s, x: g + 0),
    ("relu", "mask inverted"): mutant_backward(lambda g, s, x: g * ~positive(x)),
    ("relu", "mask of the cotangent"): mutant_backward(lambda g, s, x: g * positive(g)),
    ("relu", "gradient times x"): mutant_backward(lambda g, s, x: g * x * positive(x)),
    ("silu", "a sigmoid"): mutant_forward(sigmoid),
    ("silu", "sign in the exp"): mutant_forward(lambda x: x * sigmoid(-x)),
    ("silu", "a sharper sigmoid"): mutant_forward(lambda x: x * sigmoid(2 * x)),
    ("silu", "slope of the gate dropped"): mutant_backward(lambda g, s, x: g * s),
    ("silu", "s for 1 - s"): mutant_backward(lambda g, s, x: g * s * (1 + x * s)),
    ("silu", "sign of the slope"): mutant_backward(lambda g, s, x: g * s * (1 - x * (1 - s))),
    ("silu", "slope of the sigmoid"): mutant_backward(lambda g, s, x: g * s * (1 - s)),
    ("gelu", "the tanh form"): mutant_forward(lambda x: activations.forward("gelu_tanh", x)[0]),
    ("gelu", "the sigmoid form"): mutant_forward(lambda x: x * sigmoid(1.702 * x)),
    ("gelu", "the normal density dropped"): mutant_backward(lambda g, s, x: g * s),
    ("gelu", "x missing"): mutant_backward(lambda g, s, x: g * (s + density(x))),
    ("gelu", "sign of the density"): mutant_backward(lambda g, s, x: g * (s - x * density(x))),
    ("gelu", "a wider density"): mutant_backward(lambda g, s, x: g * (s + x * density(x) * 2)),
    ("gelu_tanh", "the erf form"): mutant_forward(lambda x: activations.forward("gelu", x)[0]),
    ("gelu_tanh", "cube missing"): mutant_forward(lambda x: x * sigmoid(2 * C * x)),
    ("gelu_tanh", "square for cube"): mutant_forward(lambda x: x * sigmoid(2 * C * (x + 0.044715 * x * x))),
    ("gelu_tanh", "another root"): mutant_forward(lambda x: x * sigmoid(2 * 0.5642 * (x + 0.044715 * x * x * x))),
    ("gelu_tanh", "gate alone"): mutant_backward(lambda g, s, x: g * s),
    ("gelu_tanh", "inner slope missing"): mutant_backward(lambda g, s, x: g * (s + 2 * x * s * (1 - s))),
    ("gelu_tanh", "three forgotten"): mutant_backward(
        lambda g, s, x: g * (s + 2 * x * s * (1 - s) * (C * (1 + 0.044715 * x * x)))
    ),
    ("gelu_tanh", "gradient of the erf form"): mutant_backward(
        lambda g, s, x: activations.backward(g, activations.forward("gelu", x)[1])[0]
    ),
    ("swiglu", "gate and value exchanged"): mutant_forward(lambda a, b: b * sigmoid(b) * a),
    ("swiglu", "a sigmoid for a gate"): mutant_forward(lambda a, b: sigmoid(a) * b),
    ("swiglu", "added"): mutant_forward(lambda a, b: a * sigmoid(a) + b),
    ("swiglu", "gradients exchanged"): mutant_backward(
        lambda g, s, a, b: g * a * s, lambda g, s, a, b: g * b * s * (1 + a * (1 - s))
    ),
    ("swiglu", "value missing in da"): mutant_backward(
        lambda g, s, a, b: g * s * (1 + a * (1 - s)), lambda g, s, a, b: g * a * s
    ),
    ("swiglu", "db by the sigmoid"): mutant_backward(
        lambda g, s, a, b: g * b * s * (1 + a * (1 - s)), lambda g, s, a, b: g * s
    ),
}


@pytest.mark.parametrize(("name", "fault"), MUTANTS)
def test_mutants_are_caught(name, fault, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    mutant, (inputs, dy) = MUTANTS[name, fault], arguments(sample, name, (64,), dtype)
    assert sum(float_misses(mutant, name, inputs, dy, rounding)) > 0
    if dtype == np.float64:
        few = tuple(x[:6] for x in inputs)
        assert sum(ball_misses(mutant, name, few, dy[:6], not_enclosed, gradient_by_differences)) > 0


def test_a_formula_without_a_fault_passes(rounding, sample):
    silu = mutant_forward(lambda x: x * sigmoid(x)), mutant_backward(lambda g, s, x: g * (s * (1 + x * (1 - s))))
    for layer in silu:
        assert not any(float_misses(layer, "silu", *arguments(sample, "silu", (64,), rounding.dtype), rounding))


# --- what is special ----------------------------------------------------------------------------------------------------


def test_relu_is_exact_and_its_gradient_at_the_kink_is_zero(dtype):
    x = np.array([-2, -0.0, 0, 3], dtype)
    for array in (x, to_balls(x)):
        y, cache = activations.forward("relu", array)
        (dx,) = activations.backward(np.full(4, 5, dtype), cache)
        assert to_floats(to_balls(y)).tolist() == [0, 0, 0, 3] and to_floats(to_balls(dx)).tolist() == [0, 0, 0, 5]


def test_relu_decides_no_ball_that_holds_zero():
    around, above = np.array([arb(0, 1e-9)]), np.array([arb(1, 0.5)])
    for name in ("gelu", "silu", "gelu_tanh"):
        assert activations.forward(name, around)[0][0].contains(0)
    with pytest.raises(UndecidedComparison, match="undecided"):
        activations.forward("relu", around)
    assert activations.forward("relu", above)[0][0].contains(arb(1, 0.5))


@pytest.mark.parametrize("name", NAMES)
def test_nan_stays_nan(name, dtype):
    x = np.array([np.nan, 1], dtype)
    y, _ = activations.forward(name, *(x for _ in activations.FUNCTIONS[name].inputs))
    assert np.isnan(y.astype(float)).tolist() == [True, False]


@pytest.mark.parametrize("name", ONE_INPUT)
def test_odd_part_is_half_the_identity(name, sample, vanishes):
    x = to_balls(sample((20,), scale=3))
    with precision(113):
        assert vanishes(activations.forward(name, x)[0] - activations.forward(name, -x)[0] - x)
        assert not vanishes(activations.forward(name, x)[0] - x)


def test_swiglu_is_silu_times_the_value(sample, vanishes):
    (a, b), dy = arguments(sample, "swiglu", (20,))
    a, b, dy = to_balls(a), to_balls(b), to_balls(dy)
    with precision(113):
        y, cache = activations.forward("swiglu", a, b)
        silu, silu_cache = activations.forward("silu", a)
        da, db = activations.backward(dy, cache)
        assert vanishes(y - silu * b) and vanishes(db - dy * silu)
        assert vanishes(da - activations.backward(dy * b, silu_cache)[0])


@pytest.mark.parametrize("name", ["gelu", "silu", "gelu_tanh"])
def test_the_lower_tail_keeps_its_digits(name):
    x = np.array([-8.0])
    with mpmath.workdps(50):
        exact = float(DEFINITIONS[name](mpmath.mpf(-8)))
    # a cancelling 1 + erf or 1 + tanh would leave no digit; the bounds above give less than 400 u = 5e-14
    assert abs(activations.forward(name, x)[0].item() - exact) < 5e-14 * abs(exact)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(name, dtype, sample):
    inputs, dy = arguments(sample, name, (3, 8), dtype)
    arrays = [array[:, ::2].T for array in (*inputs, dy)]
    for array in arrays:
        array.flags.writeable = False
    before = [array.copy() for array in arrays]
    y, cache = activations.forward(name, *arrays[:-1])
    gradients = activations.backward(arrays[-1], cache)
    kept = [array.copy() for array in gradients]
    for array in (y, *gradients):  # what is returned is the caller's
        array[...] = 0
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True))
    assert all(np.array_equal(*pair) for pair in zip(activations.backward(arrays[-1], cache), kept, strict=True))
    assert {a.dtype for a in (y, *gradients)} == {dtype}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_arrays(name, dtype):
    x = np.zeros((0, 5), dtype)
    y, cache = activations.forward(name, *(x for _ in activations.FUNCTIONS[name].inputs))
    assert y.shape == (0, 5) and y.dtype == dtype
    assert all(gradient.shape == (0, 5) for gradient in activations.backward(y, cache))


X = np.ones((2, 3))
CACHE = activations.forward("silu", X)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: activations.forward("tanh", X), ValueError, "activations: name is 'tanh', needed one of relu, gelu, "),
        (lambda: activations.forward("relu"), TypeError, "relu was given 0 arrays, needed 1: x"),
        (lambda: activations.forward("relu", X, X), TypeError, "relu was given 2 arrays, needed 1: x"),
        (lambda: activations.forward("swiglu", X), TypeError, "swiglu was given 1 arrays, needed 2: a and b"),
        (lambda: activations.forward("gelu", [1.0]), TypeError, "activations: x is a list, needed a NumPy array"),
        (lambda: activations.forward("gelu", np.array(1.0)), ValueError, r"x has shape \(\), needed ndim >= 1"),
        (lambda: activations.forward("gelu", X.astype(int)), TypeError, "x has dtype int64, needed float16, bfloat16"),
        (lambda: activations.forward("swiglu", X + 0j, X), TypeError, "a has dtype complex128"),
        (lambda: activations.forward("swiglu", X, X.T), ValueError, r"b has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: activations.forward("swiglu", X, to_balls(X)), TypeError, "b holds balls, needed floats"),
        (lambda: activations.forward("swiglu", X.astype("f"), X), TypeError, "b has dtype float64, needed one that"),
        (lambda: activations.backward(X.T, CACHE), ValueError, r"dy has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: activations.backward(to_balls(X), CACHE), TypeError, "enclose nothing; call forward on"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, stable_shift, to_balls, to_floats, widen
from numeric.layers import softmax

OPTIONS = [(-1, 1.0), (0, 0.5), (1, 3.0), (-3, 0.1)]


def by_definition(z, axis, temperature):
    """exp(z_i / T) / sum_j exp(z_j / T) in mpmath, entry by entry, nothing subtracted."""

    def one(row):
        powers = [mpmath.exp(entry / mpmath.mpf(temperature)) for entry in row]
        return np.array([power / mpmath.fsum(powers) for power in powers], dtype=object)

    return np.apply_along_axis(one, axis, z)


def relative_error(z, axis, temperature, exact, r):
    """Bound on the relative error of s: of its own exp, the weighted mean of all, n - 1 additions, one division."""
    offset = np.abs(z - z.max(axis, keepdims=True)) / temperature
    of_exp = r.gamma(3 * r.u) * offset + r.elementary  # the offset rounds thrice: subtract, T itself, divide
    of_sum = (exact * r.gamma(of_exp)).sum(axis, keepdims=True) + (z.shape[axis] - 1) * r.u
    return r.gamma(of_exp + of_sum + r.u)


def float_misses(layer, z, ds, r, axis, temperature):
    with precision(160):
        exact, cache = softmax.forward(to_balls(z), axis, temperature)
        exact_dz = softmax.backward(to_balls(ds), cache)
    s, cache = layer.forward(z, axis, temperature)
    dz = layer.backward(ds, cache)
    p, g, n = to_floats(exact), ds.astype(float), z.shape[axis]
    relative = relative_error(z.astype(float), axis, temperature, p, r)
    underflow = (n + 2) * r.tiny  # the largest exp is 1, so a lost one moves s by no more than itself
    mean = (g * p).sum(axis, keepdims=True)
    of_mean = (np.abs(g) * p * r.gamma(relative + n * r.u)).sum(axis, keepdims=True)
    # s (g - mean) / T: the error of the mean, then those of s, the subtraction, the product, T and the division
    error = p * (of_mean + (np.abs(g - mean) + of_mean) * r.gamma(relative + 4 * r.u)) / temperature
    underflow_dz = underflow * (1 + 2 * np.abs(g).sum(axis, keepdims=True)) / temperature
    return r.misses(s, exact, p * relative + underflow), r.misses(dz, exact_dz, error + underflow_dz)


def ball_misses(layer, z, ds, axis, temperature, not_enclosed, gradient_by_differences):
    with precision(113):
        s, cache = layer.forward(to_balls(z), axis, temperature)
        dz = layer.backward(to_balls(ds), cache)
    with mpmath.workdps(50):
        forward = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(z), axis, temperature)
    backward = gradient_by_differences(lambda x: by_definition(x, axis, temperature), z, ds)
    return not_enclosed(s, forward), not_enclosed(dz, backward)


@pytest.mark.parametrize(("axis", "temperature"), OPTIONS)
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 1), (1, 2, 1), (2, 1, 64)])
def test_floats_stay_within_the_rounding_bound(shape, axis, temperature, dtype, rounding, sample):
    z, ds = sample(shape, dtype, 3), sample(shape, dtype, seed=1)
    assert float_misses(softmax, z, ds, rounding, axis, temperature) == (0, 0)


@pytest.mark.parametrize(("axis", "temperature"), OPTIONS)
def test_balls_enclose_the_definition(axis, temperature, sample, not_enclosed, gradient_by_differences):
    z, ds = sample((2, 3, 4), scale=2), sample((2, 3, 4), seed=1)
    assert ball_misses(softmax, z, ds, axis, temperature, not_enclosed, gradient_by_differences) == (0, 0)


def mutant_forward(power):
    def forward(z, axis, temperature):
        work = widen(z)
        weights = power(work - stable_shift(work, axis), temperature)
        s = weights / weights.sum(axis, keepdims=True)
        return round_to(s, z.dtype), softmax.Cache(s, axis, temperature)

    return SimpleNamespace(forward=forward, backward=softmax.backward)


def mutant_backward(formula):
    def backward(ds, cache):
        s, axis, temperature = cache
        g = widen(ds)
        return round_to(formula(s, g, lambda a: a.sum(axis, keepdims=True), temperature), ds.dtype)

    return SimpleNamespace(forward=softmax.forward, backward=backward)


MUTANTS = {
    "temperature ignored": mutant_forward(lambda z, t: np.exp(z)),
    "temperature multiplied": mutant_forward(lambda z, t: np.exp(z * t)),
    "base two": mutant_forward(lambda z, t: np.exp(z / t * 0.693)),
    "axis ignored": SimpleNamespace(forward=lambda z, axis, t: softmax.forward(z, -1, t), backward=softmax.backward),
    "mean dropped": mutant_backward(lambda s, g, total, t: s * g / t),
    "mean added": mutant_backward(lambda s, g, total, t: s * (g + total(s * g)) / t),
    "unweighted sum": mutant_backward(lambda s, g, total, t: s * (g - total(g)) / t),
    "weights squared": mutant_backward(lambda s, g, total, t: s * (g - total(s * s * g)) / t),
    "scale by s missing": mutant_backward(lambda s, g, total, t: (g - total(s * g)) / t),
    "temperature forgotten on the way back": mutant_backward(lambda s, g, total, t: s * (g - total(s * g))),
    "sum over everything": mutant_backward(lambda s, g, total, t: s * (g - (s * g).sum()) / t),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    z, ds = sample((2, 3, 4), dtype, 2), sample((2, 3, 4), dtype, seed=1)
    assert sum(float_misses(MUTANTS[name], z, ds, rounding, 1, 3.0)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], z, ds, 1, 3.0, not_enclosed, gradient_by_differences)) > 0


@pytest.mark.parametrize("row", [[1000, 0], [-1e4, -1e4], [65504, -65504], [65504, 65472], [0, -1000], [3e-6, 0]])
def test_extreme_logits(row, dtype, rounding):
    z, ds = np.array([row], dtype), np.array([[0.75, -2]], dtype)
    with np.errstate(all="raise", under="ignore"):
        assert float_misses(softmax, z, ds, rounding, -1, 1.0) == (0, 0)


def test_differences_that_overflow_a_float16_do_not(sample):
    s, _ = softmax.forward(np.array([65504, -65504, 65504], np.float16))
    assert s.tolist() == [0.5, 0, 0.5]


def test_jacobian_and_jvp(sample, not_enclosed, vanishes):
    z, ds, v = (to_balls(sample((2, 3, 4), seed=seed)) for seed in range(3))
    with precision(113):
        _, cache = softmax.forward(z, 1, 3.0)
        jacobian = softmax.jacobian(cache)
        ds_last, v_last = (np.moveaxis(a, 1, -1)[..., None] for a in (ds, v))
        assert vanishes(
            np.moveaxis(softmax.backward(ds, cache), 1, -1)[..., None] - jacobian.swapaxes(-1, -2) @ ds_last
        )
        assert vanishes(np.moveaxis(softmax.jvp(v, cache), 1, -1)[..., None] - jacobian @ v_last)
        assert vanishes(jacobian.sum(-1)) and vanishes(jacobian - jacobian.swapaxes(-1, -2))
        assert not vanishes(softmax.backward(ds, cache))
    with mpmath.workdps(50):
        p = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(sample((2, 3, 4))), 1, 3.0)[1, :, 2]
        entries = np.array([[p[i] * ((i == j) - p[j]) / 3 for j in range(3)] for i in range(3)])
    assert jacobian.shape == (2, 4, 3, 3) and not_enclosed(jacobian[1, 2], entries) == 0


def test_shift_invariance(sample, vanishes):
    z = np.round(8 * sample((4, 7), np.float32, 3)) / 8
    shifted, _ = softmax.forward(z + np.float32(1024))  # exact: multiples of 1/8 below 2^20
    assert np.array_equal(shifted, softmax.forward(z)[0])
    with precision(113):
        balls = to_balls(z)
        assert vanishes(softmax.forward(balls + arb(1) / 3)[0] - softmax.forward(balls)[0])
        assert not vanishes(softmax.forward(balls * (arb(4) / 3))[0] - softmax.forward(balls)[0])


def test_rows_sum_to_one_and_their_gradients_to_zero(sample, vanishes):
    with precision(113):
        s, cache = softmax.forward(to_balls(sample((3, 5))), 0, 0.5)
        assert vanishes(s.sum(0) - 1)
        assert vanishes(softmax.backward(to_balls(sample((3, 5), seed=1)), cache).sum(0))


def test_overlapping_balls_need_no_decision(sample):
    s, _ = softmax.forward(np.array([arb(0, 1e-3), arb(0, 1e-3)]))
    assert all(ball.contains(arb(0.5)) and ball.rad() < 0.01 for ball in s)


def test_masked_entries_are_exact_zeros():
    for z in (np.array([0, -np.inf, 1]), to_balls([0, -np.inf, 1])):
        s, cache = softmax.forward(z)
        kept, _ = softmax.forward(z[[0, 2]])
        assert s[1] == 0 and np.array_equal(to_floats(to_balls(s[[0, 2]])), to_floats(to_balls(kept)))
        assert softmax.backward(np.ones(3), cache)[1] == 0


def test_a_slice_of_minus_infinities_is_nan_and_leaves_the_others_alone():
    z = np.array([[-np.inf, -np.inf], [0, 0]])
    with np.errstate(invalid="ignore"):
        for s in (softmax.forward(z)[0], to_floats(softmax.forward(to_balls(z))[0])):
            assert np.isnan(s[0]).all() and s[1].tolist() == [0.5, 0.5]


def test_inputs_may_be_strided_and_read_only_and_stay_as_they_are(dtype, sample):
    z = sample((6, 5), dtype)[::2].T
    z.flags.writeable = False
    before = z.copy()
    s, cache = softmax.forward(z, 0)
    assert np.array_equal(s, softmax.forward(np.ascontiguousarray(z), 0)[0])
    assert softmax.backward(z, cache).shape == z.shape and np.array_equal(z, before)


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    s, cache = softmax.forward(np.zeros((0, 5), dtype))
    assert softmax.backward(s, cache).shape == softmax.jacobian(cache).shape[:-1] == (0, 5)


X = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: softmax.forward([1.0]), TypeError, "softmax: z is a list, needed a NumPy array"),
        (lambda: softmax.forward(X.astype(int)), TypeError, "z has dtype int64, needed float16, bfloat16"),
        (lambda: softmax.forward(X > 0), TypeError, "z has dtype bool"),
        (lambda: softmax.forward(X + 0j), TypeError, "z has dtype complex128"),
        (lambda: softmax.forward(X.astype(object)), TypeError, "dtype object and a float among its elements"),
        (lambda: softmax.forward(np.array(1.0)), ValueError, r"z has shape \(\), needed ndim >= 1"),
        (
            lambda: softmax.forward(X, 2),
            ValueError,
            r"axis 2 is not one of z with shape \(2, 3\), needed -2 <= axis < 2",
        ),
        (lambda: softmax.forward(X, (0, 1)), TypeError, r"axis is \(0, 1\), needed one integer"),
        (lambda: softmax.forward(X[:, :0]), ValueError, r"z has shape \(2, 0\), empty along axis -1"),
        (lambda: softmax.forward(X, temperature=0.0), ValueError, "temperature is 0.0, needed a finite number above 0"),
        (lambda: softmax.forward(X, temperature=np.inf), ValueError, "temperature is inf"),
        (lambda: softmax.forward(X.astype("f"), temperature=1e-60), ValueError, "1e-60, .* above 0 in float32"),
        (lambda: softmax.forward(to_balls(X), temperature=arb("inf")), ValueError, "temperature is .*inf"),
        (lambda: softmax.forward(X, temperature=True), TypeError, "temperature is True, needed one real number"),
        (lambda: softmax.forward(X, temperature="1"), TypeError, "temperature is '1', needed one real number"),
        (lambda: softmax.forward(X, temperature=arb(1)), TypeError, "temperature is a ball, needed a float"),
        (lambda: softmax.forward(to_balls(X), temperature=arb(0, 1)), UndecidedComparison, "undecided"),
        (lambda: softmax.backward(X.T, softmax.forward(X)[1]), ValueError, r"ds has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: softmax.jvp(X.T, softmax.forward(X)[1]), ValueError, r"dz has shape \(3, 2\), needed \(2, 3\)"),
        (lambda: softmax.backward(to_balls(X), softmax.forward(X)[1]), TypeError, "enclose nothing; call forward on"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

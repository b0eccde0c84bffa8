from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, round_to, stable_shift, to_balls, to_floats, widen
from numeric.layers import log_softmax, softmax

OPTIONS = [(-1, 1.0), (0, 0.5), (1, 3.0), (-3, 0.1)]


def by_definition(z, axis, temperature):
    """log(exp(z_i / T) / sum_j exp(z_j / T)) in mpmath, entry by entry, nothing subtracted."""

    def one(row):
        powers = [mpmath.exp(entry / mpmath.mpf(temperature)) for entry in row]
        return np.array([mpmath.log(power / mpmath.fsum(powers)) for power in powers], dtype=object)

    return np.apply_along_axis(one, axis, z)


def float_misses(layer, z, dy, r, axis, temperature):
    with precision(160):
        exact, cache = log_softmax.forward(to_balls(z), axis, temperature)
        exact_dz = log_softmax.backward(to_balls(dy), cache)
    y, cache = layer.forward(z, axis, temperature)
    dz = layer.backward(dy, cache)
    offset = np.abs(z.astype(float) - z.astype(float).max(axis, keepdims=True)) / temperature
    log_sum = -to_floats(exact).max(axis, keepdims=True)  # the largest logit is shifted to 0
    p, g, n = np.exp(to_floats(exact)), dy.astype(float), z.shape[axis]
    # the offset rounds thrice (subtract, T itself, divide), and enters exp; the sum adds n - 1 times, log once more
    of_offset = r.gamma(3 * r.u) * offset
    of_exp = of_offset + r.elementary
    of_sum = (p * r.gamma(of_exp)).sum(axis, keepdims=True) + (n - 1) * r.u
    of_log = r.gamma(of_sum) * (1 + r.elementary) + r.elementary * log_sum
    error = of_offset + of_log
    error = error + r.u * (np.abs(to_floats(exact)) + error)
    # (g - s total) / T: the errors of total, of s and the product, of the subtraction, T and the division
    total, relative = g.sum(axis, keepdims=True), of_exp + of_sum + 2 * r.u
    of_total = r.gamma(n * r.u) * np.abs(g).sum(axis, keepdims=True)
    of_product = p * (of_total + (np.abs(total) + of_total) * r.gamma(relative))
    error_dz = (of_product + (np.abs(g - p * total) + of_product) * r.gamma(3 * r.u)) / temperature
    underflow = (n + 2) * r.tiny
    underflow_dz = underflow * (1 + 2 * np.abs(g).sum(axis, keepdims=True)) / temperature
    return r.misses(y, exact, error + underflow), r.misses(dz, exact_dz, error_dz + underflow_dz)


def ball_misses(layer, z, dy, axis, temperature, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(to_balls(z), axis, temperature)
        dz = layer.backward(to_balls(dy), cache)
    with mpmath.workdps(50):
        forward = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(z), axis, temperature)
    backward = gradient_by_differences(lambda x: by_definition(x, axis, temperature), z, dy)
    return not_enclosed(y, forward), not_enclosed(dz, backward)


@pytest.mark.parametrize(("axis", "temperature"), OPTIONS)
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 1), (1, 2, 1), (2, 1, 64)])
def test_floats_stay_within_the_rounding_bound(shape, axis, temperature, dtype, rounding, sample):
    z, dy = sample(shape, dtype, 3), sample(shape, dtype, seed=1)
    assert float_misses(log_softmax, z, dy, rounding, axis, temperature) == (0, 0)


@pytest.mark.parametrize(("axis", "temperature"), OPTIONS)
def test_balls_enclose_the_definition(axis, temperature, sample, not_enclosed, gradient_by_differences):
    z, dy = sample((2, 3, 4), scale=2), sample((2, 3, 4), seed=1)
    assert ball_misses(log_softmax, z, dy, axis, temperature, not_enclosed, gradient_by_differences) == (0, 0)


def mutant_forward(formula):
    def forward(z, axis, temperature):
        logits = widen(z) - stable_shift(widen(z), axis)
        y = formula(logits, lambda a: np.log(np.exp(a).sum(axis, keepdims=True)), temperature)
        return round_to(y, z.dtype), log_softmax.forward(z, axis, temperature)[1]

    return SimpleNamespace(forward=forward, backward=log_softmax.backward)


def mutant_backward(formula):
    def backward(dy, cache):
        s, axis, temperature = cache
        g = widen(dy)
        return round_to(formula(s, g, lambda a: a.sum(axis, keepdims=True), temperature), dy.dtype)

    return SimpleNamespace(forward=log_softmax.forward, backward=backward)


MUTANTS = {
    "temperature ignored": mutant_forward(lambda z, lse, t: z - lse(z)),
    "temperature only outside": mutant_forward(lambda z, lse, t: (z - lse(z)) / t),
    "temperature only inside": mutant_forward(lambda z, lse, t: z - lse(z / t)),
    "sum left out": mutant_forward(lambda z, lse, t: z / t),
    "log-sum-exp added": mutant_forward(lambda z, lse, t: z / t + lse(z / t)),
    "gradient of softmax": mutant_backward(lambda s, g, total, t: s * (g - total(s * g)) / t),
    "jvp for vjp": mutant_backward(lambda s, g, total, t: (g - total(s * g)) / t),
    "mean for sum": mutant_backward(lambda s, g, total, t: (g - s * total(g) / 3) / t),
    "sum dropped": mutant_backward(lambda s, g, total, t: g / t),
    "s forgotten": mutant_backward(lambda s, g, total, t: (g - total(g)) / t),
    "sum added": mutant_backward(lambda s, g, total, t: (g + s * total(g)) / t),
    "temperature forgotten on the way back": mutant_backward(lambda s, g, total, t: g - s * total(g)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    z, dy = sample((2, 3, 4), dtype, 2), sample((2, 3, 4), dtype, seed=1)
    assert sum(float_misses(MUTANTS[name], z, dy, rounding, 1, 3.0)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], z, dy, 1, 3.0, not_enclosed, gradient_by_differences)) > 0


@pytest.mark.parametrize("row", [[1000, 0], [-1e4, -1e4], [30000, -30000], [65504, 65472], [0, -1000], [3e-6, 0]])
def test_extreme_logits(row, dtype, rounding):
    z, dy = np.array([row], dtype), np.array([[0.75, -2]], dtype)
    with np.errstate(all="raise", under="ignore"):
        assert float_misses(log_softmax, z, dy, rounding, -1, 1.0) == (0, 0)


def test_an_unlikely_class_keeps_its_logarithm():
    y, _ = log_softmax.forward(np.array([0.0, -1000.0]))
    assert y.tolist() == [0, -1000]


def test_jacobian_jvp_and_vjp(sample, not_enclosed, vanishes):
    z, dy, v = (to_balls(sample((2, 3, 4), seed=seed)) for seed in range(3))
    with precision(113):
        y, cache = log_softmax.forward(z, 1, 3.0)
        jacobian = log_softmax.jacobian(cache)
        dy_last, v_last = (np.moveaxis(a, 1, -1)[..., None] for a in (dy, v))
        vjp, jvp = log_softmax.backward(dy, cache), log_softmax.jvp(v, cache)
        assert vanishes(np.moveaxis(vjp, 1, -1)[..., None] - jacobian.swapaxes(-1, -2) @ dy_last)
        assert vanishes(np.moveaxis(jvp, 1, -1)[..., None] - jacobian @ v_last)
        assert vanishes(np.asarray((dy * jvp).sum() - (vjp * v).sum()))
        assert not vanishes(log_softmax.jvp(dy, cache) - vjp)
        assert vanishes(vjp.sum(1))
        assert vanishes(cache.s - softmax.forward(z, 1, 3.0)[0]) and vanishes(np.exp(y) - cache.s)
    with mpmath.workdps(50):
        p = [
            mpmath.exp(entry)
            for entry in by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(sample((2, 3, 4))), 1, 3.0)[1, :, 2]
        ]
        entries = np.array([[((i == j) - p[j]) / 3 for j in range(3)] for i in range(3)])
    assert jacobian.shape == (2, 4, 3, 3) and not_enclosed(jacobian[1, 2], entries) == 0


def test_shift_invariance(sample, vanishes):
    z = np.round(8 * sample((4, 7), np.float32, 3)) / 8
    shifted, _ = log_softmax.forward(z + np.float32(1024))  # exact: multiples of 1/8 below 2^20
    assert np.array_equal(shifted, log_softmax.forward(z)[0])
    with precision(113):
        balls = to_balls(z)
        assert vanishes(log_softmax.forward(balls + arb(1) / 3)[0] - log_softmax.forward(balls)[0])
        assert not vanishes(log_softmax.forward(balls * (arb(4) / 3))[0] - log_softmax.forward(balls)[0])


def test_masked_entries_are_minus_infinity_and_take_no_gradient():
    for z in (np.array([0, -np.inf, 1]), to_balls([0, -np.inf, 1])):
        y, cache = log_softmax.forward(z)
        assert to_floats(to_balls(y))[1] == -np.inf and np.isfinite(to_floats(to_balls(y))[[0, 2]]).all()
        dz = log_softmax.backward(np.array([1.0, 0, 1]), cache)
        assert dz[1] == 0 and np.isfinite(to_floats(to_balls(dz))).all()


def test_bad_input_gets_a_clear_error():
    x = np.zeros((2, 3))
    for call, error, message in (
        (lambda: log_softmax.forward([1.0]), TypeError, "log_softmax: z is a list, needed a NumPy array"),
        (lambda: log_softmax.forward(x, 2), ValueError, "log_softmax: axis 2 is not one of z with shape"),
        (lambda: log_softmax.forward(x, temperature=-1), ValueError, "log_softmax: temperature is -1, needed a finite"),
        (lambda: log_softmax.backward(x.T, log_softmax.forward(x)[1]), ValueError, "log_softmax: dy has shape"),
        (lambda: log_softmax.jvp(x.T, log_softmax.forward(x)[1]), ValueError, "log_softmax: dz has shape"),
    ):
        with pytest.raises(error, match=message):
            call()

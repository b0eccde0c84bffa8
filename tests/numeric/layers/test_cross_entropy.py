# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, precision, round_to, to_balls, to_floats, widen
from numeric.layers import cross_entropy, log_softmax

from . import bounds

IGNORED = -100
TARGETS = np.array([[0, 3, IGNORED], [4, IGNORED, 4]])
SMOOTHINGS = [0.0, 0.125, 1.0]


def by_definition(logits, targets, smoothing, ignore_index=IGNORED):
    """The mean over the rows that count of -sum_c y_c log(exp(z_c) / sum exp(z)), in mpmath, nothing subtracted."""
    losses, classes = [], logits.shape[-1]
    for row in np.ndindex(targets.shape):
        if targets[row] != ignore_index:
            powers = [mpmath.exp(logit) for logit in logits[row]]
            for c in range(classes):
                y = (1 - mpmath.mpf(smoothing)) * int(c == targets[row]) + mpmath.mpf(smoothing) / classes
                losses.append(-y * mpmath.log(powers[c] / mpmath.fsum(powers)))
    return np.array(mpmath.fsum(losses) / np.count_nonzero(targets != ignore_index), dtype=object)


def bound_of(logits, targets, dloss, smoothing, dtype):
    """Bounds on the errors of the loss and its gradient, by the formulas in the header of the layer."""
    counted = targets != IGNORED
    t, classes = targets[counted], logits.shape[-1]
    z = bounds.exact(logits[counted], dtype).below_maximum(-1)
    one, e = bounds.exact(1.0, dtype), z.given(smoothing, z.precision)
    at_target = bounds.moved(z, lambda x: x[np.arange(t.size), t][:, None])
    weights = z.exp(ceiling=1.0)
    total = weights.sum(-1)
    losses = -(one - e) * at_target
    if smoothing:
        losses = losses - e * z.sum(-1) * bounds.exact(1.0, dtype) / bounds.exact(classes, dtype)
    loss = (total.log() + losses).sum(0) / bounds.exact(t.size, dtype)
    targeted = bounds.exact(np.arange(classes) == t[:, None], dtype)
    rows = weights / total - e / bounds.exact(classes, dtype) - targeted * (one - e)
    rows = rows * (bounds.exact(dloss, dtype) / bounds.exact(t.size, dtype))
    of_gradient = np.zeros(logits.shape)
    of_gradient[counted] = rows.worst
    return loss.worst.reshape(()), of_gradient


def float_misses(layer, logits, targets, dloss, smoothing, r):
    with precision(160):
        exact, cache = cross_entropy.forward(to_balls(logits), targets, IGNORED, smoothing)
        exact_dz = cross_entropy.backward(to_balls(dloss), cache)
    loss, cache = layer.forward(logits, targets, IGNORED, smoothing)
    dz = layer.backward(dloss, cache)
    of_loss, of_gradient = bound_of(logits, targets, dloss, smoothing, r.dtype)
    return r.misses(loss, exact, of_loss), r.misses(dz, exact_dz, of_gradient)


def ball_misses(layer, logits, targets, dloss, smoothing, not_enclosed, gradient_by_differences):
    with precision(113):
        loss, cache = layer.forward(to_balls(logits), targets, IGNORED, smoothing)
        dz = layer.backward(to_balls(dloss), cache)
    with mpmath.workdps(50):
        truth = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(logits), targets, smoothing)
    of_logits = gradient_by_differences(lambda x: by_definition(x, targets, smoothing), logits, dloss[None])
    return not_enclosed(loss[None], truth[None]), not_enclosed(dz, of_logits)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize(
    ("shape", "targets"),
    [
        ((2, 3, 5), TARGETS),
        ((3, 5), TARGETS[1]),
        ((2, 5), np.array([1, 2], np.uint8)),
        ((1, 1), np.array([0])),
        ((40, 64), np.arange(40)),
    ],
)
def test_floats_stay_within_the_rounding_bound(shape, targets, smoothing, dtype, rounding, sample):
    logits, dloss = sample(shape, dtype, 3), np.array(0.75, dtype)
    before = logits.copy(), targets.copy()
    assert float_misses(cross_entropy, logits, targets, dloss, smoothing, rounding) == (0, 0)
    assert np.array_equal(logits, before[0]) and np.array_equal(targets, before[1])


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_balls_enclose_the_definition(smoothing, sample, not_enclosed, gradient_by_differences):
    logits, dloss = sample((2, 3, 5), scale=2), np.array(0.75)
    misses = ball_misses(cross_entropy, logits, TARGETS, dloss, smoothing, not_enclosed, gradient_by_differences)
    assert misses == (0, 0)


def mutant_forward(formula):
    """`formula` takes log s of the counted rows, their targets, the smoothing, the number of all rows."""

    def forward(logits, targets, ignore_index, smoothing):
        counted = targets != ignore_index
        log_s, _ = log_softmax.forward(widen(logits)[counted])
        loss = formula(log_s, targets[counted], smoothing, targets.size)
        return round_to(np.asarray(loss), logits.dtype), cross_entropy.forward(
            logits, targets, ignore_index, smoothing
        )[1]

    return SimpleNamespace(forward=forward, backward=cross_entropy.backward)


def mutant_backward(formula):
    """`formula` takes s, one-hot targets, the smoothing, the number of counted rows and of all, and the cotangent."""

    def backward(dloss, cache):
        s, targets, counted, e, _ = cache
        hot = (np.arange(s.shape[-1]) == targets[:, None]).astype(int)
        dz = np.broadcast_to(widen(dloss), (*counted.shape, s.shape[-1])) * 0
        dz[counted] = formula(s, hot, e, targets.size, counted.size, widen(dloss))
        return round_to(dz, dloss.dtype)

    return SimpleNamespace(forward=cross_entropy.forward, backward=backward)


def picked(log_s, t):
    return log_s[np.arange(t.size), t]


def right_loss(log_s, t, e, rows):
    return -((1 - e) * picked(log_s, t) + e * log_s.sum(-1) / log_s.shape[-1]).sum() / t.size


def right_rows(s, hot, e, n, rows, g):
    return (s - (1 - e) * hot - e / s.shape[-1]) * (g / n)


MUTANTS = {
    "sign": mutant_forward(lambda *a: -right_loss(*a)),
    "sum for mean": mutant_forward(lambda log_s, t, e, rows: right_loss(log_s, t, e, rows) * t.size),
    "ignored rows in the mean": mutant_forward(lambda log_s, t, e, rows: right_loss(log_s, t, e, rows) * t.size / rows),
    "smoothing ignored": mutant_forward(lambda log_s, t, e, rows: -picked(log_s, t).sum() / t.size),
    "smoothing summed over classes": mutant_forward(
        lambda log_s, t, e, rows: -((1 - e) * picked(log_s, t) + e * log_s.sum(-1)).sum() / t.size
    ),
    "target keeps its whole share": mutant_forward(
        lambda log_s, t, e, rows: -(picked(log_s, t) + e * log_s.sum(-1) / log_s.shape[-1]).sum() / t.size
    ),
    "another class": mutant_forward(lambda log_s, t, e, rows: right_loss(log_s, t - 1, e, rows)),
    "gradient: sign": mutant_backward(lambda *a: -right_rows(*a)),
    "gradient: sum for mean": mutant_backward(lambda s, hot, e, n, rows, g: right_rows(s, hot, e, 1, rows, g)),
    "gradient: mean over all rows": mutant_backward(lambda s, hot, e, n, rows, g: right_rows(s, hot, e, rows, n, g)),
    "gradient: target left out": mutant_backward(lambda s, hot, e, n, rows, g: (s - e / s.shape[-1]) * (g / n)),
    "gradient: smoothing ignored": mutant_backward(lambda s, hot, e, n, rows, g: (s - hot) * (g / n)),
    "gradient: uniform part left out": mutant_backward(lambda s, hot, e, n, rows, g: (s - (1 - e) * hot) * (g / n)),
    "gradient: uniform part added": mutant_backward(
        lambda s, hot, e, n, rows, g: (s - (1 - e) * hot + e / s.shape[-1]) * (g / n)
    ),
    "gradient: spread over other classes only": mutant_backward(
        lambda s, hot, e, n, rows, g: (s - (1 - e) * hot - e * (1 - hot) / (s.shape[-1] - 1)) * (g / n)
    ),
    "gradient: cotangent forgotten": mutant_backward(
        lambda s, hot, e, n, rows, g: right_rows(s, hot, e, n, rows, g * 0 + 1)
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    logits, dloss, smoothing = sample((2, 3, 5), dtype, 2), np.array(0.75, dtype), 0.125
    assert sum(float_misses(MUTANTS[name], logits, TARGETS, dloss, smoothing, rounding)) > 0
    if dtype == np.float64:
        mutant = MUTANTS[name]
        misses = ball_misses(mutant, logits, TARGETS, dloss, smoothing, not_enclosed, gradient_by_differences)
        assert sum(misses) > 0


@pytest.mark.parametrize("row", [[1000, 0], [-1e4, -1e4], [30000, -30000], [65504, 65472], [0, -1000], [3e-6, 0]])
@pytest.mark.parametrize("target", [0, 1])
def test_extreme_logits(row, target, dtype, rounding):
    logits, targets, dloss = np.array([row], dtype), np.array([target]), np.array(1, dtype)
    with np.errstate(all="raise", under="ignore"):
        assert float_misses(cross_entropy, logits, targets, dloss, 0.0, rounding) == (0, 0)


@pytest.mark.slow
def test_mutants_without_a_fault_are_let_through(sample, not_enclosed, gradient_by_differences):
    logits, dloss = sample((2, 3, 5), scale=2), np.array(0.75)
    for right in (mutant_forward(right_loss), mutant_backward(right_rows)):
        misses = ball_misses(right, logits, TARGETS, dloss, 0.125, not_enclosed, gradient_by_differences)
        assert misses == (0, 0)


def test_what_stands_in_an_ignored_row_is_not_computed_with(dtype, sample):
    logits, ignored = sample((2, 3, 5), dtype), TARGETS == IGNORED
    loss, cache = cross_entropy.forward(logits, TARGETS, smoothing=0.1)
    dz = cross_entropy.backward(np.array(1, dtype), cache)
    assert not dz[ignored].any() and dz[~ignored].all()
    strange = logits.copy()
    strange[ignored] = np.array([np.nan, np.inf, -np.inf, 65504.0, 0], dtype)
    with np.errstate(all="raise", under="ignore"):
        same, cache = cross_entropy.forward(strange, TARGETS, smoothing=0.1)
        assert same == loss and np.array_equal(cross_entropy.backward(np.array(1, dtype), cache), dz)


def test_ignored_rows_are_as_if_left_out(sample, vanishes):
    logits, kept = to_balls(sample((2, 3, 5))), TARGETS != IGNORED
    with precision(113):
        loss, cache = cross_entropy.forward(logits, TARGETS, smoothing=0.1)
        fewer, fewer_cache = cross_entropy.forward(logits[kept], TARGETS[kept], smoothing=0.1)
        assert vanishes(np.asarray(loss - fewer))
        dz, fewer_dz = (cross_entropy.backward(to_balls(1), c) for c in (cache, fewer_cache))
        assert vanishes(dz[kept] - fewer_dz) and vanishes(dz[~kept]) and not vanishes(fewer_dz)
        assert vanishes(dz.sum(-1))  # s and y both sum to 1


def test_another_ignore_index(sample):
    logits = sample((3, 5))
    loss, _ = cross_entropy.forward(logits, np.array([0, 2, 0]), ignore_index=0)
    assert loss == cross_entropy.forward(logits[1:2], np.array([2]))[0]


def test_the_mean_is_not_a_mean_of_means(sample, vanishes):
    logits = to_balls(sample((2, 3, 5)))
    targets = np.array([[0, 3, 1], [4, IGNORED, IGNORED]])
    with precision(113):
        loss, _ = cross_entropy.forward(logits, targets)
        first, second = (cross_entropy.forward(z, t)[0] for z, t in zip(logits, targets, strict=True))
        assert vanishes(np.asarray(loss - (3 * first + second) / 4))
        assert not vanishes(np.asarray(loss - (first + second) / 2))


def test_uniform_logits_lose_the_logarithm_of_the_number_of_classes(vanishes):
    with precision(113):
        for smoothing in SMOOTHINGS:
            loss, _ = cross_entropy.forward(to_balls(np.ones((2, 7))), np.array([3, 0]), smoothing=smoothing)
            assert vanishes(np.asarray(loss - arb(7).log()))


def test_a_masked_class_takes_no_gradient():
    for logits in (np.array([[0, -np.inf, 1]]), to_balls([[0, -np.inf, 1]])):
        loss, cache = cross_entropy.forward(logits, np.array([0]))
        dz = to_floats(to_balls(cross_entropy.backward(np.array(1.0), cache)))
        assert dz[0, 1] == 0 and np.isfinite(dz).all() and np.isfinite(to_floats(to_balls(loss)))


def test_results_have_the_dtypes_that_they_should(dtype, sample):
    loss, cache = cross_entropy.forward(sample((3, 5), dtype), np.array([0, 1, IGNORED]))
    assert isinstance(loss, np.ndarray) and loss.dtype == dtype and loss.shape == ()
    for other in (np.float16, np.float64):
        dz = cross_entropy.backward(np.array(1, other), cache)
        assert dz.dtype == other and dz.shape == (3, 5)
        assert np.array_equal(cross_entropy.backward(np.array(1, other), cache), dz)  # the cache is as it was


Z = np.zeros((2, 3))
T = np.array([0, 2])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cross_entropy.forward([[1.0]], T), TypeError, "cross_entropy: logits is a list, needed a NumPy array"),
        (lambda: cross_entropy.forward(Z.astype(int), T), TypeError, "logits has dtype int64, needed float16"),
        (lambda: cross_entropy.forward(Z[0], T), ValueError, r"logits has shape \(3,\), needed ndim >= 2"),
        (lambda: cross_entropy.forward(Z[:, :0], T), ValueError, r"logits has shape \(2, 0\), needed at least one"),
        (lambda: cross_entropy.forward(Z, [0, 2]), TypeError, "targets is a list, needed a NumPy array"),
        (lambda: cross_entropy.forward(Z, T * 1.0), TypeError, "targets has dtype float64, needed integers"),
        (lambda: cross_entropy.forward(Z, T[:1]), ValueError, r"targets has shape \(1,\), needed \(2,\), one for each"),
        (
            lambda: cross_entropy.forward(Z, T + 1),
            ValueError,
            "targets holds 3, needed 0 <= targets < 3, the number of",
        ),
        (lambda: cross_entropy.forward(Z, T - 1), ValueError, "targets holds -1, .* or ignore_index -100"),
        (lambda: cross_entropy.forward(Z, T * 0 - 100), ValueError, "no row counts, needed a target other than ignore"),
        (lambda: cross_entropy.forward(Z[:0], T[:0]), ValueError, "no row counts"),
        (
            lambda: cross_entropy.forward(Z, T, smoothing=-0.1),
            ValueError,
            "smoothing is -0.1, needed 0 <= smoothing <=",
        ),
        (
            lambda: cross_entropy.forward(Z, T, smoothing=1.5),
            ValueError,
            "smoothing is 1.5, needed 0 <= smoothing <= 1",
        ),
        (lambda: cross_entropy.forward(Z, T, smoothing=np.nan), ValueError, "smoothing is nan, needed 0 <= smoothing"),
        (lambda: cross_entropy.forward(Z, T, smoothing="0"), TypeError, "smoothing is '0', needed one real number"),
        (lambda: cross_entropy.forward(Z, T, smoothing=arb(0)), TypeError, "smoothing is a ball, needed a float"),
        (lambda: cross_entropy.forward(to_balls(Z), T, smoothing=arb(0, 1)), UndecidedComparison, "undecided"),
        (
            lambda: cross_entropy.backward(np.ones(2), cross_entropy.forward(Z, T)[1]),
            ValueError,
            r"dloss has shape \(2,\), needed \(\), the shape of the output",
        ),
        (
            lambda: cross_entropy.backward(to_balls(1), cross_entropy.forward(Z, T)[1]),
            TypeError,
            "enclose nothing; call forward on",
        ),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

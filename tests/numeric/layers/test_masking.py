# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, round_to, to_balls, to_floats, widen
from numeric.layers import masking, softmax

from . import bounds

KEEP = np.array([[1, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)


def by_definition(z, keep):
    """exp(z_j) / sum over kept exp(z_l) where key j is kept, else 0, in mpmath, entry by entry."""
    p, keep = np.empty(z.shape, dtype=object), np.broadcast_to(keep, z.shape)
    for index in np.ndindex(z.shape):
        row = index[:-1]
        total = mpmath.fsum(mpmath.exp(z[(*row, j)]) for j in range(z.shape[-1]) if keep[(*row, j)])
        p[index] = mpmath.exp(z[index]) / total if keep[index] else mpmath.mpf(0)
    return p


def float_misses(layer, z, dp, keep, r):
    with precision(160):
        exact, cache = masking.forward(to_balls(z), keep)
        exact_dz = masking.backward(to_balls(dp), cache)
    p, cache = layer.forward(z, keep)
    dz = layer.backward(dp, cache)
    bound = bounds.kept_softmax(bounds.exact(z, r.dtype), keep)
    bound_dz = bounds.softmax_cotangent(bound, bounds.exact(dp, r.dtype))
    return r.misses(p, exact, bound.worst), r.misses(dz, exact_dz, bound_dz.worst)


def ball_misses(layer, z, dp, keep, not_enclosed, gradient_by_differences):
    with precision(113):
        p, cache = layer.forward(to_balls(z), keep)
        dz = layer.backward(to_balls(dp), cache)
    with mpmath.workdps(50):
        forward = by_definition(np.frompyfunc(mpmath.mpf, 1, 1)(z), keep)
    backward = gradient_by_differences(lambda x: by_definition(x, keep), z, dp)
    return not_enclosed(p, forward), not_enclosed(dz, backward)


@pytest.mark.parametrize(
    ("shape", "keep"),
    [((2, 4, 5), KEEP), ((4, 5), KEEP[:1]), ((4, 1), KEEP[:, :1]), ((5,), KEEP[0]), ((1, 1), KEEP[3, 3:4])],
)
def test_floats_stay_within_the_rounding_bound(shape, keep, dtype, rounding, sample):
    z, dp = sample(shape, dtype, 3), sample(shape, dtype, seed=1)
    before = z.copy()
    assert float_misses(masking, z, dp, keep, rounding) == (0, 0)
    assert np.array_equal(z, before)


@pytest.mark.parametrize("keep", [KEEP, KEEP[0], KEEP[:, :1], ~KEEP])
def test_balls_enclose_the_definition(keep, sample, not_enclosed, gradient_by_differences):
    z, dp = sample((2, 4, 5), scale=2), sample((2, 4, 5), seed=1)
    assert ball_misses(masking, z, dp, keep, not_enclosed, gradient_by_differences) == (0, 0)


def mutant_forward(weights):
    def forward(z, keep):
        p = weights(widen(z), keep.astype(int))
        return round_to(p, z.dtype), masking.forward(z, keep)[1]

    return SimpleNamespace(forward=forward, backward=masking.backward)


def mutant_backward(formula):
    def backward(dp, cache):
        return round_to(formula(cache.p, widen(dp), lambda a: a.sum(-1, keepdims=True)), dp.dtype)

    return SimpleNamespace(forward=masking.forward, backward=backward)


def plain(z):
    return softmax.forward(z)[0]


MUTANTS = {
    "mask ignored": mutant_forward(lambda z, keep: plain(z)),
    "mask inverted": mutant_forward(lambda z, keep: masking.forward(z, keep == 0)[0]),
    "scores multiplied": mutant_forward(lambda z, keep: plain(z * keep)),
    "weights multiplied and not renormalised": mutant_forward(lambda z, keep: plain(z) * keep),
    "finite mask, too shallow": mutant_forward(lambda z, keep: plain(z - 5 * (1 - keep))),
    "finite mask, empty rows uniform": mutant_forward(lambda z, keep: plain(z - 1000 * (1 - keep))),
    "mask along the wrong axis": mutant_forward(lambda z, keep: masking.forward(z, keep.T != 0)[0]),
    "mean dropped": mutant_backward(lambda p, g, total: p * g),
    "mean added": mutant_backward(lambda p, g, total: p * (g + total(p * g))),
    "unweighted sum": mutant_backward(lambda p, g, total: p * (g - total(g))),
    "p forgotten": mutant_backward(lambda p, g, total: g - total(p * g)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    z, dp, keep = sample((4, 4), dtype), sample((4, 4), dtype, seed=1), KEEP[:, :4]
    assert sum(float_misses(MUTANTS[name], z, dp, keep, rounding)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], z, dp, keep, not_enclosed, gradient_by_differences)) > 0


def test_what_stands_at_a_masked_place_is_not_computed_with(dtype, sample):
    z, dp = sample((4, 5), dtype), sample((4, 5), dtype, seed=1)
    p, cache = masking.forward(z, KEEP)
    for other in (np.nan, np.inf, -np.inf, 65504.0, -65504.0):
        strange = np.where(KEEP, z, np.asarray(other, dtype))
        with np.errstate(all="raise", under="ignore"):
            q, strange_cache = masking.forward(strange, KEEP)
            assert np.array_equal(p, q)
            assert np.array_equal(masking.backward(dp, cache), masking.backward(dp, strange_cache))
    assert (p[~KEEP] == 0).all() and (masking.backward(dp, cache)[~KEEP] == 0).all()


def test_masked_balls_may_be_unbounded():
    p, _ = masking.forward(np.array([arb(0), arb("nan"), arb("inf"), arb(0)]), np.array([True, False, False, True]))
    assert p.tolist() == [0.5, 0, 0, 0.5]


@pytest.mark.parametrize("row", [[1000, 0, 5], [-65504, -65472, 0], [65504, -65504, 0], [-65504, 65504, 65504]])
def test_extreme_scores(row, dtype, rounding):
    z, dp = np.array([row], dtype), np.array([[0.75, -2, 1]], dtype)
    with np.errstate(all="raise", under="ignore"):
        assert float_misses(masking, z, dp, np.array([True, True, False]), rounding) == (0, 0)


def test_it_is_softmax_over_the_kept_keys(sample, vanishes):
    with precision(113):
        z, dp = to_balls(sample((3, 5))), to_balls(sample((3, 5), seed=1))
        p, cache = masking.forward(z, KEEP[0])
        kept, kept_cache = softmax.forward(z[:, KEEP[0]])
        assert vanishes(p[:, KEEP[0]] - kept) and vanishes(p[:, ~KEEP[0]])
        assert vanishes(masking.backward(dp, cache)[:, KEEP[0]] - softmax.backward(dp[:, KEEP[0]], kept_cache))
        assert vanishes(p.sum(-1) - 1)


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_rows_that_keep_no_key_are_zeros(dtype):
    z = to_balls(np.ones((2, 3))) if dtype is object else np.ones((2, 3), dtype)
    with np.errstate(all="raise"):
        p, cache = masking.forward(z, np.zeros((2, 3), bool))
        dz = masking.backward(z, cache)
    assert not to_floats(to_balls(p)).any() and not to_floats(to_balls(dz)).any()


def test_causal_masks():
    for n_q, n_k in ((1, 1), (3, 3), (2, 4), (4, 2), (1, 5)):
        left, right = masking.causal(n_q, n_k), masking.causal(n_q, n_k, lower_right=True)
        assert left.shape == right.shape == (n_q, n_k) and left.dtype == right.dtype == bool
        for i, j in np.ndindex(n_q, n_k):
            assert left[i, j] == (j <= i) and right[i, j] == (j - n_k <= i - n_q)
        assert np.array_equal(left, right) == (n_q == n_k)
    assert np.array_equal(masking.causal(3), masking.causal(3, 3))
    assert masking.causal(5, 2, lower_right=True).any(-1).tolist() == [False] * 3 + [True] * 2


def test_padding_and_both():
    tokens = np.array([[7, 0, 3], [0, 0, 0]])
    keep = masking.padding(tokens, 0)
    assert keep.shape == (2, 1, 3) and keep[:, 0].tolist() == [[True, False, True], [False] * 3]
    joint = masking.both(masking.causal(3), keep)
    assert joint.shape == (2, 3, 3)
    for b, i, j in np.ndindex(2, 3, 3):
        assert joint[b, i, j] == (j <= i and tokens[b, j] != 0)


def test_a_view_of_the_input_is_not_written_to(dtype, sample):
    z = sample((6, 5), dtype)[::2].T
    z.flags.writeable = False
    p, cache = masking.forward(z, KEEP[0, :3])
    kept = cache.p.copy()
    assert np.array_equal(p, masking.forward(np.ascontiguousarray(z), KEEP[0, :3])[0])
    assert masking.backward(z, cache).shape == z.shape and np.array_equal(cache.p, kept)


X = np.zeros((2, 3))
M = X == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: masking.forward([1.0], M), TypeError, "masking: z is a list, needed a NumPy array"),
        (lambda: masking.forward(X.astype(int), M), TypeError, "z has dtype int64, needed float16"),
        (lambda: masking.forward(X[:, :0], M[:, :0]), ValueError, r"z has shape \(2, 0\), needed at least one entry"),
        (lambda: masking.forward(X, [True]), TypeError, "keep is a list, needed a NumPy array"),
        (lambda: masking.forward(X, X), TypeError, "keep has dtype float64, needed bool, True where a key is kept"),
        (
            lambda: masking.forward(X, M.T),
            ValueError,
            r"keep has shape \(3, 2\), needed one that broadcasts to \(2, 3\)",
        ),
        (lambda: masking.forward(X, M[None]), ValueError, r"keep has shape \(1, 2, 3\), needed one that broadcasts"),
        (
            lambda: masking.backward(X.T, masking.forward(X, M)[1]),
            ValueError,
            r"dp has shape \(3, 2\), needed \(2, 3\)",
        ),
        (lambda: masking.backward(to_balls(X), masking.forward(X, M)[1]), TypeError, "enclose nothing"),
        (lambda: masking.causal(0), ValueError, "masking: n_q is 0, needed an integer of at least 1"),
        (lambda: masking.causal(2, -1), ValueError, "n_k is -1, needed an integer of at least 1"),
        (lambda: masking.causal(2.0), TypeError, "n_q is 2.0, needed an integer"),
        (lambda: masking.padding(X, 0), TypeError, "tokens has dtype float64, needed integers"),
        (lambda: masking.padding(np.array(1), 0), ValueError, r"tokens has shape \(\), needed \(..., n_k\)"),
        (lambda: masking.both(M, X), TypeError, "other has dtype float64, needed bool"),
        (lambda: masking.both(M, M.T), ValueError, r"one has shape \(2, 3\) and other \(3, 2\), needed shapes that"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()

"""The inequalities behind the bounds of attention, and that all ways to them agree."""

import numpy as np
import pytest

from numeric.checker.contracts import _attention_bounds as bounds
from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded

SEEDS = range(20)


def softened(rng, relative):
    """Exponentials (n_q, n_k) with errors, the worst ones, of random signs."""
    w = np.exp(rng.uniform(-6, 0, (3, 7)))
    return w, Rounded(w, relative * w * rng.uniform(0, 1, w.shape), 0 * w, precision_of("float64"))


@pytest.mark.parametrize("relative", [1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("seed", SEEDS)
def test_moved_exponentials_move_weights_output_and_gradient_by_no_more(seed, relative):
    rng = np.random.default_rng(seed)
    w, rounded = softened(rng, relative)
    v, dp = rng.standard_normal((7, 4)) + 3, rng.standard_normal((3, 7))
    exact = [Rounded.exact(each, precision_of("float64")) for each in (v, dp)]
    p = w / w.sum(-1, keepdims=True)
    y, r = p @ v, (p * dp).sum(-1, keepdims=True)
    moved, growth = bounds.movement(rounded)
    output = bounds.distances(moved, exact[0], Rounded.exact(y, precision_of("float64")))
    gradient = bounds._moved_gradient(exact[1], p, moved)
    reached = 0.0
    for _ in range(30):
        other = w + rounded.worst * rng.choice([-1, 1], w.shape)
        q = other / other.sum(-1, keepdims=True)
        off_y = np.abs(q @ v - y)
        off_ds = np.abs(q * (dp - (q * dp).sum(-1, keepdims=True)) - p * (dp - r))
        slack = 1e-12  # of the test's own evaluation, against numbers of size 1
        assert (np.abs(q - p) <= moved + p * moved.sum(-1, keepdims=True) + slack).all()
        assert (q <= p * growth + slack).all()
        assert (off_y <= output + slack).all() and (off_ds <= gradient + slack).all()
        reached = max(reached, float((off_y / output).max()), float((off_ds / gradient).max()))
    assert reached > 0.3  # no more than three times as wide as what was met


def given(dtype, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((2, 3, 4, 5), (2, 1, 6, 5), (2, 1, 6, 2), (2, 3, 4, 2))
    return [Rounded.exact(rng.integers(-8, 9, shape) / 8, precision_of(dtype)) for shape in shapes]


@pytest.mark.parametrize("mask", [None, np.arange(24).reshape(4, 6) % 3 > 0])
def test_matrix_by_matrix_gives_the_plain_analysis_of_the_stack(monkeypatch, mask):
    q, k, v, g = given("float32")
    near = bounds.attention_bound(q, k, v, mask)
    monkeypatch.setattr(bounds, "CHEAP", 0)
    one_by_one = bounds.attention_bound(q, k, v, mask)
    assert isinstance(one_by_one, bounds.Matrices) and len(one_by_one.each) == 6
    assert np.allclose(one_by_one.y.worst, near.plain.y.worst, rtol=1e-12)
    assert (near.y.worst <= near.plain.y.worst).all() and near.y.worst.sum() < near.plain.y.worst.sum()
    pairs = zip(bounds.gradient_bounds(g, q, k, v, one_by_one), bounds.gradient_bounds(g, q, k, v, near), strict=True)
    for (plain, closer), of in zip(pairs, (q, k, v), strict=True):
        assert plain.value.shape == closer.value.shape == of.value.shape
        assert np.allclose(plain.value, closer.value) and (closer.worst <= plain.worst * (1 + 1e-9)).all()


def test_errors_of_scores_count_once_where_they_are_large():
    q, k, _, _ = given("float32")
    large = Rounded.exact(8 * q.value, q.precision)
    v = Rounded.exact(np.random.default_rng(0).standard_normal((2, 1, 6, 2)) + 10, q.precision)
    at = bounds.attention_bound(large, k, v, None)
    assert at.y.worst.mean() < 0.5 * at.plain.y.worst.mean()


def test_a_masked_key_has_no_weight_and_a_row_without_keys_is_zero():
    q, k, v, g = given("bfloat16")
    mask = np.ones((4, 6), bool)
    mask[:, 2], mask[1] = False, False
    at = bounds.attention_bound(q, k, v, mask)
    assert (at.plain.p.value[..., 2] == 0).all() and (at.plain.p.worst[..., 2] < 1e-30).all()
    assert (at.y.value[..., 1, :] == 0).all() and np.isfinite(at.y.worst).all()
    assert all(np.isfinite(each.worst).all() for each in bounds.gradient_bounds(g, q, k, v, at))

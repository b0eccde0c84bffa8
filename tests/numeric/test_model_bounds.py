"""The bounds hold for the ways of computing that they are derived for, in float32, on inputs that bring out errors."""

import numpy as np
import pytest
from scipy import special

from . import model_bounds
from .layers import bounds

SINGLE, DOUBLE = np.float32, np.float64


def within(found, wide, bound_of):
    """Is what was found in float32 within the bound of the truth, of which float64 knows more?"""
    single, double = bound_of(SINGLE), bound_of(DOUBLE)
    assert found.dtype == SINGLE and wide.dtype == DOUBLE and np.isfinite(single.worst).all()
    return bool((np.abs(found - wide) <= single.worst + double.worst).all())


def drawn(shape, seed=0, scale=1.0, offset=0.0):
    """Numbers that float32 holds."""
    return (offset + scale * np.random.default_rng(seed).normal(size=shape)).astype(SINGLE)


def merged_moments(x, draw):
    """Mean and variance, from parts that are merged in random order."""
    parts = [(SINGLE(1), entry, SINGLE(0)) for entry in x]
    while len(parts) > 1:
        draw.shuffle(parts)
        (n_a, a, s_a), (n_b, b, s_b), *parts = parts
        share, delta = n_b / (n_a + n_b), b - a
        parts.append((n_a + n_b, a + share * delta, s_a + s_b + delta * delta * share * n_a))
    return parts[0][1], parts[0][2] / SINGLE(len(x))


@pytest.mark.parametrize("offset", [0, 10, 1000])
@pytest.mark.parametrize("d", [2, 4, 7, 16])
def test_moments_merged_in_any_order_are_within_their_bound(d, offset):
    draw, x = np.random.default_rng(0), drawn((50, d), offset=offset)
    found = np.array([merged_moments(row, draw) for row in x]).T[..., None]
    wide = x.astype(DOUBLE)
    for place, truth in enumerate((wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True))):
        assert within(
            found[place], truth, lambda dtype, place=place: list(model_bounds.moments(bounds.exact(x, dtype)))[place]
        )


def scaled_first(x, gain, bias, dy, eps, dtype, slip=1.0):
    """a x - a mean, and back by dx = a g + b x + c; `slip` is a factor to plant."""
    x, gain, bias, dy = (each.astype(dtype) for each in (x, gain, bias, dy))
    d, eps = dtype(x.shape[-1]), dtype(eps)
    mean = x.mean(-1, keepdims=True)
    a = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    y = (x * a - a * mean) * gain + bias
    g = dy * gain
    along, across = (g * x).sum(-1, keepdims=True), g.sum(-1, keepdims=True)
    b = (across * mean - along) * a * a * a / d * dtype(slip)
    return y, a * g + b * x + (-b * mean - across * a / d)


@pytest.mark.parametrize("offset", [0, 10])
def test_normalisation_scaled_first_is_within_its_bound(offset):
    x, gain, bias, dy = drawn((50, 6), offset=offset), drawn(6, 1), drawn(6, 2), drawn((50, 6), 3)
    found, wide = (scaled_first(x, gain, bias, dy, 1e-5, dtype) for dtype in (SINGLE, DOUBLE))

    def bound_of(dtype):
        y, pull = model_bounds.layer_norm(*(bounds.exact(each, dtype) for each in (x, gain, bias)), 1e-5)
        return y, pull(bounds.exact(dy, dtype))[0]

    for place in (0, 1):
        assert within(found[place], wide[place], lambda dtype, place=place: bound_of(dtype)[place])
    if not offset:
        faulty = scaled_first(x, gain, bias, dy, 1e-5, SINGLE, slip=1.001)[1]
        assert not within(faulty, wide[1], lambda dtype: bound_of(dtype)[1])


def weights_by_log_sum_exp(scores, dtype, slip=0.0):
    scores = scores.astype(dtype)
    top = scores.max(-1, keepdims=True)
    return np.exp(scores - (top + np.log(np.exp(scores - top).sum(-1, keepdims=True)) + dtype(slip)))


@pytest.mark.parametrize("scale", [0.1, 3, 30])
def test_weights_by_log_sum_exp_are_within_their_bound(scale):
    scores = drawn((100, 5), scale=scale, offset=scale)
    found, wide = (weights_by_log_sum_exp(scores, dtype) for dtype in (SINGLE, DOUBLE))

    def bound_of(dtype):
        return model_bounds.by_log_sum_exp(bounds.exact(scores, dtype), True)

    assert within(found, wide, bound_of)
    assert not within(weights_by_log_sum_exp(scores, SINGLE, slip=scale * 1e-4), wide, bound_of)


def test_gelu_by_erf_is_within_its_bound():
    a = drawn(2000, scale=3)
    single = a / 2 * (1 + special.erf(a * SINGLE(0.5**0.5)))
    wide = a.astype(DOUBLE) * special.ndtr(a.astype(DOUBLE))
    assert within(single, wide, lambda dtype: model_bounds.gelu(bounds.exact(a, dtype))[0])
    assert not within(single * SINGLE(1.0001), wide, lambda dtype: model_bounds.gelu(bounds.exact(a, dtype))[0])

from dataclasses import replace

import numpy as np
import pytest

from numeric import sublayers
from numeric.layers import dropout, feed_forward, layer_norm, multi_head
from numeric.parameters import flatten

from .small_models import CONFIGS, sample

CONFIG = CONFIGS["encoder-decoder, pre"]
PARAMS = sample(CONFIG, dtype=np.float64)["decoder"]
LAYER = PARAMS["layers"][0]
X, M, DY = (np.random.default_rng(seed).normal(size=(2, n, 4)) for seed, n in enumerate((3, 5, 3)))
KEEP = np.array([[1, 1, 0, 1, 1]], bool)
NAMES = {"w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"}


def equal(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_self_attention_reads_one_input_and_gathers_both_its_gradients():
    weights, keep = multi_head.Weights(**LAYER["self_attention"]), np.tri(3, dtype=bool)
    y, cache = multi_head.forward(X, X, weights, CONFIG.n_heads, CONFIG.n_groups, keep)
    dx, dm, dweights = multi_head.backward(DY, cache)
    mine, inner = sublayers.self_attention(LAYER["self_attention"], CONFIG, keep)(X)
    dmine, gradients = sublayers.pull_self_attention(DY, inner)
    assert np.array_equal(mine, y) and np.array_equal(dmine, dx + dm)
    assert gradients.keys() == NAMES and equal(gradients, dweights._asdict())


def test_cross_attention_reads_a_memory_too():
    weights = multi_head.Weights(**LAYER["cross_attention"])
    y, cache = multi_head.forward(X, M, weights, CONFIG.n_heads, CONFIG.n_groups, KEEP)
    dx, dm, dweights = multi_head.backward(DY, cache)
    mine, inner = sublayers.cross_attention(M, LAYER["cross_attention"], CONFIG, KEEP)(X)
    dmine, dmemory, gradients = sublayers.pull_cross_attention(DY, inner)
    assert np.array_equal(mine, y) and np.array_equal(dmine, dx) and np.array_equal(dmemory, dm)
    assert equal(gradients, dweights._asdict())


def test_projections_without_biases_have_no_gradients_of_them():
    params = {name: array for name, array in LAYER["self_attention"].items() if name[0] == "w"}
    _, inner = sublayers.self_attention(params, CONFIG, None)(X)
    assert sublayers.pull_self_attention(DY, inner)[1].keys() == params.keys()


@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_position_wise_is_the_feed_forward_layer(activation):
    params = LAYER["feed_forward"]
    y, cache = feed_forward.forward(X, **params, activation=activation)
    dx, *gradients = feed_forward.backward(DY, cache)
    mine, inner = sublayers.position_wise(params, replace(CONFIG, activation=activation))(X)
    dmine, named = sublayers.pull_position_wise(DY, inner)
    assert np.array_equal(mine, y) and np.array_equal(dmine, dx)
    assert equal(named, dict(zip(("W_1", "b_1", "W_2", "b_2"), gradients, strict=True)))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_connection_is_norm_dropout_and_sum(norm):
    config, gain_and_bias = replace(CONFIG, norm=norm, dropout=0.5, eps=0.25), LAYER["feed_forward_norm"]
    y, cache = sublayers.connect(X, lambda u: (2 * u, None), gain_and_bias, config, np.random.default_rng(3))
    keep = dropout.draw(X.shape, 0.5, np.random.default_rng(3))

    def normed(x):
        return layer_norm.forward(x, **gain_and_bias, eps=0.25)[0]

    inside = 2 * (X if norm == "post" else normed(X))
    thinned = X + keep * inside / 0.5
    assert np.array_equal(y, normed(thinned) if norm == "post" else thinned)
    dx, dnorm, others = sublayers.disconnect(DY, cache, lambda df, _: (2 * df, "more"))
    assert dx.shape == X.shape and others == ("more",)
    assert {name: array.shape for name, array in dnorm.items()} == {"gain": (4,), "bias": (4,)}


def test_nothing_is_dropped_without_a_generator_or_a_rate():
    rng = np.random.default_rng(0)
    assert sublayers.keep_some((5,), replace(CONFIG, dropout=0.5), None) is None
    assert sublayers.keep_some((5,), CONFIG, rng) is None
    before = rng.bit_generator.state
    assert sublayers.keep_some((5,), replace(CONFIG, dropout=0.5), rng).shape == (5,)
    assert rng.bit_generator.state != before


def test_the_final_norm_is_there_when_the_parameters_have_one():
    y, cache = sublayers.final_norm(X, PARAMS, CONFIG)
    expected, inner = layer_norm.forward(X, **PARAMS["norm"], eps=CONFIG.eps)
    dx, gradients = sublayers.pull_final_norm(DY, cache)
    assert np.array_equal(y, expected)
    for mine, right in zip((dx, *flatten(gradients).values()), layer_norm.backward(DY, inner), strict=True):
        assert np.array_equal(mine, right)
    assert flatten(gradients).keys() == {"norm.gain", "norm.bias"}


def test_without_a_final_norm_nothing_happens():
    y, cache = sublayers.final_norm(X, {"layers": []}, CONFIG)
    dx, gradients = sublayers.pull_final_norm(DY, cache)
    assert y is X and dx is DY and gradients == {}

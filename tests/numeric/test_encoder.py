from dataclasses import replace

import numpy as np
import pytest

from numeric import encoder, sublayers
from numeric.arithmetic import precision, to_balls
from numeric.derivatives import derivative
from numeric.layers import masking
from numeric.parameters import flatten, unflatten

from . import transformer_by_definition as definition
from .small_models import CONFIGS, differ, sample

SETTINGS = {norm: CONFIGS[f"encoder, {norm}"] for norm in ("post", "pre")}
EVERY = pytest.mark.parametrize("config", SETTINGS.values(), ids=SETTINGS)
X, DY = (to_balls(np.random.default_rng(seed).normal(size=(2, 3, 4)).round(3)) for seed in (10, 11))
CAUSAL = masking.causal(3)


def misses(config, keep):
    """How far the stack is from its definition, and its gradient from the derivative; keep is None or CAUSAL."""
    flat = flatten(sample(config)["encoder"])
    along = [to_balls(np.random.default_rng(i).normal(size=a.shape)) for i, a in enumerate((X, *flat.values()))]

    def run(x, *arrays):
        return encoder.forward(x, unflatten(dict(zip(flat, arrays, strict=True))), config, keep)

    with precision(300):
        y, cache = run(X, *flat.values())
        dx, gradients = encoder.backward(DY, cache)
        gradients = flatten(gradients)
        assert gradients.keys() == flat.keys()
        (dy,) = derivative(lambda *arrays: run(*arrays)[0], [X, *flat.values()], along)
        pulled = (dx, *(gradients[name] for name in flat))
        backwards = sum((np.sum(g * v) for g, v in zip(pulled, along, strict=True)), to_balls(0)[()])
        return differ(y, by_definition(unflatten(flat), config, keep)), differ(np.sum(DY * dy), backwards)


def by_definition(params, config, keep):
    return np.array([definition.stack(list(sequence), params, config, keep is not None) for sequence in X])


@EVERY
@pytest.mark.parametrize("keep", [None, CAUSAL], ids=["all", "causal"])
def test_the_stack_is_its_definition_and_its_gradient_the_derivative(config, keep):
    assert misses(config, keep) == (0, 0)


@EVERY
def test_rows_that_none_reads_change_nothing(config):
    params = sample(config)["encoder"]
    with precision(160):
        y, _ = encoder.forward(X, params, config, np.array([[1, 1, 0]], bool))
        alone, _ = encoder.forward(X[:, :2], params, config)
        assert differ(y[:, :2], alone) == 0


def feed_forward_first(x, params, config, keep=None, rng=None):
    transformation = sublayers.position_wise(params["feed_forward"], config)
    x, second = sublayers.connect(x, transformation, params["feed_forward_norm"], config, rng)
    attention = sublayers.self_attention(params["self_attention"], config, keep)
    y, first = sublayers.connect(x, attention, params["self_attention_norm"], config, rng)
    return y, encoder.LayerCache(first, second)


def attention_pulled_first(dy, cache):
    dx, dfirst, (dattention,) = sublayers.disconnect(dy, cache.self_attention, sublayers.pull_self_attention)
    dx, dsecond, (dmap,) = sublayers.disconnect(dx, cache.feed_forward, sublayers.pull_position_wise)
    names = "self_attention self_attention_norm feed_forward feed_forward_norm".split()
    return dx, dict(zip(names, (dattention, dfirst, dmap, dsecond), strict=True))


def norms_exchanged(dy, cache, right=encoder.layer_backward):
    dx, gradients = right(dy, cache)
    first, second = gradients["self_attention_norm"], gradients["feed_forward_norm"]
    return dx, {**gradients, "self_attention_norm": second, "feed_forward_norm": first}


def layers_in_the_order_of_the_way_back(dy, cache):
    dx, dnorm = sublayers.pull_final_norm(dy, cache.norm)
    layers = []
    for each in reversed(cache.layers):
        dx, gradients = encoder.layer_backward(dx, each)
        layers.append(gradients)
    return dx, {"layers": layers, **dnorm}


MUTANTS = {
    "feed-forward first": ("layer_forward", feed_forward_first, (1, 1)),
    "attention pulled first": ("layer_backward", attention_pulled_first, (0, 1)),
    "gradients of the norms exchanged": ("layer_backward", norms_exchanged, (0, 1)),
    "gradients of the layers in reverse": ("backward", layers_in_the_order_of_the_way_back, (0, 1)),
}


@EVERY
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(config, name, monkeypatch):
    attribute, mutant, expected = MUTANTS[name]
    monkeypatch.setattr(encoder, attribute, mutant)
    assert tuple(min(count, 1) for count in misses(config, None)) == expected


def test_a_final_norm_may_follow_post_norm_as_well():
    config, params = SETTINGS["post"], sample(SETTINGS["post"])["encoder"]
    params = {**params, "norm": sample(SETTINGS["pre"])["encoder"]["norm"]}
    with precision(160):
        y, cache = encoder.forward(X, params, config)
        assert differ(y, [definition.stack(list(sequence), params, config, causal=False) for sequence in X]) == 0
        assert encoder.backward(DY, cache)[1]["norm"].keys() == {"gain", "bias"}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_a_layer_in_floats_is_its_sublayers_one_after_the_other(dtype):
    config = replace(SETTINGS["pre"], dropout=0.25)
    layer = sample(config, dtype=dtype)["encoder"]["layers"][1]
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(dtype)
    y, cache = encoder.layer_forward(x, layer, config, CAUSAL, np.random.default_rng(1))
    rng, attention = np.random.default_rng(1), sublayers.self_attention(layer["self_attention"], config, CAUSAL)
    between, _ = sublayers.connect(x, attention, layer["self_attention_norm"], config, rng)
    transformation = sublayers.position_wise(layer["feed_forward"], config)
    expected, _ = sublayers.connect(between, transformation, layer["feed_forward_norm"], config, rng)
    dx, gradients = encoder.layer_backward(y, cache)
    assert y.dtype == dtype and np.array_equal(y, expected)
    assert {array.dtype for array in (dx, *flatten(gradients).values())} == {np.dtype(dtype)}

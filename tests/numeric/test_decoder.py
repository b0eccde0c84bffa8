import itertools

import numpy as np
import pytest

from numeric import decoder, encoder, sublayers
from numeric.arithmetic import precision, to_balls
from numeric.derivatives import derivative
from numeric.layers import masking
from numeric.parameters import flatten, unflatten

from . import transformer_by_definition as definition
from .small_models import CONFIGS, differ, sample

SETTINGS = {norm: CONFIGS[f"encoder-decoder, {norm}"] for norm in ("post", "pre")}
EVERY = pytest.mark.parametrize("config", SETTINGS.values(), ids=SETTINGS)
X, MEMORY, DY = (
    to_balls(np.random.default_rng(seed).normal(size=(2, n, 4)).round(3)) for seed, n in ((20, 3), (21, 2), (22, 3))
)
CAUSAL = masking.causal(3)


def misses(config):
    """How far the stack is from its definition, and its gradient from the derivative."""
    flat = flatten(sample(config)["decoder"])
    at = [X, MEMORY, *flat.values()]
    along = [to_balls(np.random.default_rng(i).normal(size=array.shape)) for i, array in enumerate(at)]

    def run(x, memory, *arrays):
        return decoder.forward(x, unflatten(dict(zip(flat, arrays, strict=True))), config, CAUSAL, memory)

    with precision(300):
        y, cache = run(*at)
        dx, dmemory, gradients = decoder.backward(DY, cache)
        gradients = flatten(gradients)
        assert gradients.keys() == flat.keys()
        (dy,) = derivative(lambda *arrays: run(*arrays)[0], at, along)
        pulled = (dx, dmemory, *(gradients[name] for name in flat))
        backwards = sum((np.sum(g * v) for g, v in zip(pulled, along, strict=True)), to_balls(0)[()])
        expected = [
            definition.stack(list(x), unflatten(flat), config, causal=True, memory=list(m))
            for x, m in zip(X, MEMORY, strict=True)
        ]
        return differ(y, expected), differ(np.sum(DY * dy), backwards)


@EVERY
def test_the_stack_is_its_definition_and_its_gradient_the_derivative(config):
    assert misses(config) == (0, 0)


@EVERY
def test_the_first_half_of_a_memory_may_be_all_there_is(config):
    params, keep = sample(config)["decoder"], np.array([[1, 0]], bool)
    with precision(160):
        y, cache = decoder.forward(X, params, config, CAUSAL, MEMORY, keep)
        alone, other = decoder.forward(X, params, config, CAUSAL, MEMORY[:, :1])
        dmemory, of_the_half = (decoder.backward(DY, each)[1] for each in (cache, other))
        assert differ(y, alone) == 0
        assert differ(dmemory[:, :1], of_the_half) == 0 and differ(dmemory[:, 1:], 0 * MEMORY[:, 1:]) == 0


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_without_a_memory_it_is_an_encoder_with_a_causal_mask(norm):
    config = CONFIGS[f"decoder, {norm}"]
    params = sample(config)["decoder"]
    with precision(160):
        y, cache = decoder.forward(X, params, config, CAUSAL)
        same, of_encoder = encoder.forward(X, params, config, CAUSAL)
        dx, dmemory, gradients = decoder.backward(DY, cache)
        dx_same, gradients_same = encoder.backward(DY, of_encoder)
        assert dmemory is None and differ(y, same) == 0 and differ(dx, dx_same) == 0
        one, other = flatten(gradients), flatten(gradients_same)
        assert sum(differ(one[name], other[name]) for name in one) == 0 and one.keys() == other.keys()


def memory_first(x, params, config, self_attention, cross_attention=None, rng=None):
    x, second = sublayers.connect(x, cross_attention, params["cross_attention_norm"], config, rng)
    x, first = sublayers.connect(x, self_attention, params["self_attention_norm"], config, rng)
    transformation = sublayers.position_wise(params["feed_forward"], config)
    y, third = sublayers.connect(x, transformation, params["feed_forward_norm"], config, rng)
    return y, decoder.LayerCache(first, second, third)


def of_the_memory(change):
    """What a layer sends back to the memory, changed; layers count from 0 for the last one."""

    def planted(right=decoder.layer_backward):
        calls = itertools.count()

        def mutant(dy, cache):
            dx, dmemory, gradients = right(dy, cache)
            return dx, change(next(calls), dmemory), gradients

        return mutant

    return planted


def attentions_exchanged(right=decoder.layer_backward):
    def mutant(dy, cache):
        dx, dmemory, gradients = right(dy, cache)
        own, across = gradients["self_attention"], gradients["cross_attention"]
        return dx, dmemory, {**gradients, "self_attention": across, "cross_attention": own}

    return mutant


MUTANTS = {
    "memory read first": ("layer_forward", lambda: memory_first, (1, 1)),
    "memory: gradient of the last layer only": (
        "layer_backward", of_the_memory(lambda call, gradient: gradient * to_balls(int(call == 0))), (0, 1)
    ),
    "memory: gradient of the first layer only": (
        "layer_backward", of_the_memory(lambda call, gradient: gradient * to_balls(int(call == 1))), (0, 1)
    ),
    "memory: sign": ("layer_backward", of_the_memory(lambda call, gradient: -gradient), (0, 1)),
    "gradients of the attentions exchanged": ("layer_backward", attentions_exchanged, (0, 1)),
}  # fmt: skip


@EVERY
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(config, name, monkeypatch):
    attribute, planted, expected = MUTANTS[name]
    monkeypatch.setattr(decoder, attribute, planted())
    assert tuple(min(count, 1) for count in misses(config)) == expected

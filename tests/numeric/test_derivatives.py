import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import UndecidedComparison, encloses, greater, precision, radius, to_balls
from numeric.derivatives import coefficient, derivative, line
from numeric.jets import order
from numeric.layers import (
    activations,
    attention,
    cross_entropy,
    embedding,
    feed_forward,
    layer_norm,
    linear,
    log_softmax,
    masking,
    multi_head,
    positional_encoding,
    rms_norm,
    rotary,
    softmax,
)

TOKENS = np.array([1, 2, 0])
CAUSAL = masking.causal(3)


def of_heads(x, m, *weights):
    return multi_head.forward(x, m, multi_head.Weights(*weights), 2)


def of_heads_backward(dy, cache):
    dx, dm, weights = multi_head.backward(dy, cache)
    return dx, dm, *weights


def sample(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).round(4)


LAYERS = {
    "softmax": (softmax.forward, softmax.backward, [(3, 4)]),
    "log_softmax": (log_softmax.forward, log_softmax.backward, [(3, 4)]),
    "layer_norm": (layer_norm.forward, layer_norm.backward, [(3, 4), (4,), (4,)]),
    "rms_norm": (rms_norm.forward, rms_norm.backward, [(3, 4), (4,)]),
    "linear": (linear.forward, linear.backward, [(3, 4), (4, 2), (2,)]),
    **{
        name: (lambda *inputs, name=name: activations.forward(name, *inputs), activations.backward, [(3, 4)] * count)
        for name, count in (("relu", 1), ("gelu", 1), ("gelu_tanh", 1), ("silu", 1), ("swiglu", 2))
    },
    "feed_forward": (feed_forward.forward, feed_forward.backward, [(3, 4), (4, 5), (5,), (5, 2), (2,)]),
    "attention": (lambda *qkv: attention.forward(*qkv, CAUSAL), attention.backward, [(2, 3, 4), (2, 3, 4), (2, 3, 2)]),
    "multi_head": (of_heads, of_heads_backward, [(3, 4)] * 2 + [(4, 4)] * 4 + [(4,)] * 4),
    "masking": (lambda z: masking.forward(z, CAUSAL), masking.backward, [(3, 3)]),
    "cross_entropy": (lambda z: cross_entropy.forward(z, TOKENS, 0, 0.25), cross_entropy.backward, [(3, 4)]),
    "embedding": (lambda table: embedding.forward(table, TOKENS), embedding.backward, [(5, 4)]),
    "rotary": (lambda x: rotary.forward(x, np.arange(3)), rotary.backward, [(3, 4)]),
    "positional_encoding": (positional_encoding.forward, positional_encoding.backward, [(3, 4)]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_runs_on_jets_and_its_backward_agrees(name):
    forward, backward, shapes = LAYERS[name]
    at = [to_balls(sample(shape, seed)) for seed, shape in enumerate(shapes)]
    along = [to_balls(sample(shape, seed)) for seed, shape in enumerate(shapes, 20)]
    with precision(160):
        y, cache = forward(*at)
        cotangent = to_balls(sample(y.shape, 50))
        (dy,) = derivative(lambda *inputs: forward(*inputs)[0], at, along)
        gradients = backward(cotangent, cache)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        forwards = np.sum(cotangent * dy)
        backwards = sum((np.sum(g * v) for g, v in zip(gradients, along, strict=True)), to_balls(0)[()])
        assert forwards.overlaps(backwards) and forwards.rad() < 1e-30 and backwards.rad() < 1e-30
        assert not forwards.overlaps(backwards * 2)


def test_higher_derivatives_of_a_position():
    """encode(p) solves y'' = -w^2 y in each column, with w = base^(-2i/d)."""
    p, v = to_balls(sample((3,))), to_balls(np.ones(3))
    with precision(160):
        y = positional_encoding.encode(p, 4)
        (second,) = derivative(lambda p: positional_encoding.encode(p, 4), [p], [v], times=2)
        w = np.repeat(positional_encoding.frequencies(4, dtype=object), 2)
        assert encloses(second + w * w * y, np.zeros((3, 4))).all() and (radius(second) < 1e-30).all()


def test_backward_can_be_differentiated_too():
    """The second derivative of softmax along dz, by way of its own gradient: d<ds, s> is linear in ds."""
    z, dz, ds = (to_balls(sample((4,), seed)) for seed in range(3))
    with precision(160):
        (bent,) = derivative(lambda z: softmax.backward(ds, softmax.forward(z)[1]), [z], [dz])
        (twice,) = derivative(lambda z: softmax.forward(z)[0], [z], [dz], times=2)
        assert np.sum(bent * dz).overlaps(np.sum(ds * twice))


def test_a_ball_is_a_constant_and_a_decision_is_made_at_zero():
    with order(1):
        jets = line(to_balls([0.0, -1.0]), to_balls([1.0, 1.0]))
        assert encloses(coefficient(jets, 1), [1, 1]).all() and encloses(coefficient(jets, 0), [0, -1]).all()
        assert greater(jets, -0.5).tolist() == [True, False]
    constants = to_balls([2.0])
    assert encloses(coefficient(constants, 0), [2]).all() and encloses(coefficient(constants, 1), [0]).all()


def test_an_undecided_jet_raises():
    around = np.array([arb(0, 1e-10)], dtype=object)
    with order(1), pytest.raises(UndecidedComparison):
        activations.forward("relu", line(around, to_balls([1.0])))


def test_a_direction_has_the_shape_of_the_point():
    with pytest.raises(ValueError, match=r"derivatives: v has shape \(2,\), needed \(3,\), the shape of x"):
        derivative(lambda x: x, [np.zeros(3)], [np.zeros(2)])


def test_several_outputs_and_several_inputs():
    point, direction = [to_balls([2.0]), to_balls([3.0])], [to_balls([1.0]), to_balls([10.0])]
    first, second = derivative(lambda x, y: (x * y, x + y), point, direction)
    assert encloses(first, [23]).all() and encloses(second, [11]).all()

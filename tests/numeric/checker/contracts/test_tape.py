"""The graph of the right wiring gives what the layers' own backward passes give; cuts in it leave out what they should."""

import numpy as np
import pytest

from numeric.arithmetic import precision, to_balls
from numeric.checker.contracts import _decoder_layer_probes, _encoder_layer_probes, _transformer_probes, contract_named
from numeric.checker.contracts import _transformer_wiring as whole
from numeric.checker.contracts._layer_wiring import DecoderLayer, EncoderLayer, gradients_of, output_of
from numeric.checker.contracts._tape import Node, attention, detached, gradients, on_the_way_back
from numeric.checker.formats import FORMATS

DOUBLE = FORMATS["float64"]
KEEP = np.array([[True, False, True], [True, True, True], [False, True, True]])
CASES = {
    "encoder_layer": (
        lambda rng, options: _encoder_layer_probes.inputs(rng, DOUBLE, options, 2, 3),
        {"mask": KEEP, "activation": "gelu"},
        output_of(EncoderLayer, EncoderLayer.output),
        gradients_of(EncoderLayer, EncoderLayer.output),
    ),
    "decoder_layer": (
        lambda rng, options: _decoder_layer_probes.inputs(rng, DOUBLE, options, 2, 3, 2),
        {"mask": None, "memory_mask": np.array([[True, True]] * 2 + [[False, True]]), "activation": "relu"},
        output_of(DecoderLayer, DecoderLayer.output),
        gradients_of(DecoderLayer, DecoderLayer.output),
    ),
    "transformer": (
        lambda rng, options: _transformer_probes.inputs(rng, DOUBLE, options, 2, 3, 2),
        {"src_mask": np.array([[True, True, False], [True, True, True]])},
        whole.output_of(whole.Transformer.logits),
        whole.gradients_of(whole.Transformer.logits),
    ),
}


@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("name", CASES)
def test_the_right_wiring_is_right(name, order):
    """In balls: those of either way overlap, and are small."""
    draw, settings, output, backward = CASES[name]
    contract, options = contract_named(name), {**settings, "heads": 2, "order": order, "eps": 1e-3}
    rng = np.random.default_rng(5)
    with precision(160):
        arrays = contract.in_balls(draw(rng, options))
        y, pullback = contract.layer(*arrays, **options)
        dy = to_balls(rng.standard_normal(y.shape))
        ours, theirs = (y, *pullback(dy)), (output(*arrays, **options), *backward(dy, *arrays, **options))
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            assert all(
                a.overlaps(b) and a.rad() < 1e-30 and b.rad() < 1e-30 for a, b in zip(one.flat, other.flat, strict=True)
            )


def nodes(*shapes):
    rng = np.random.default_rng(0)
    return [Node(rng.standard_normal(shape)) for shape in shapes]


def test_attention_of_two_is_attention_where_the_two_are_one():
    x, m, *weights = nodes((2, 3, 4), (2, 5, 4), *[(4, 4)] * 4)
    same = Node(m.value)
    one, two = attention(x, m, m, weights, 2, None), attention(x, m, same, weights, 2, None)
    dy = np.random.default_rng(1).standard_normal(one.value.shape)
    assert np.allclose(one.value, two.value, rtol=1e-13)
    dx, dm, *dw = gradients(one, dy, [x, m, *weights])
    dx_two, dkeys, dvalues, *dw_two = gradients(two, dy, [x, m, same, *weights])
    assert np.allclose(dm, dkeys + dvalues, rtol=1e-12) and not np.allclose(dkeys, 0)
    for each, other in zip((dx, *dw), (dx_two, *dw_two), strict=True):
        assert np.allclose(each, other, rtol=1e-11)


def test_a_node_used_twice_adds_up_both_ways_back():
    (x,) = nodes((2, 3))
    y = x.times(2.0)
    z = y + on_the_way_back(y, lambda dy: -dy) + x
    assert np.array_equal(gradients(z, np.ones((2, 3)), [x])[0], np.ones((2, 3)))
    assert np.array_equal(gradients(y + detached(y), np.ones((2, 3)), [x])[0], np.full((2, 3), 2.0))
    assert np.array_equal(gradients(detached(y), np.ones((2, 3)), [x])[0], np.zeros((2, 3)))

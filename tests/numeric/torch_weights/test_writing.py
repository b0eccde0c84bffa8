# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import sys

import ml_dtypes
import numpy as np
import pytest

from numeric import torch_weights
from numeric.arithmetic import to_balls
from numeric.layers.multi_head import Weights
from numeric.parameters import flatten, map_leaves
from numeric.torch_weights import (
    as_tensors,
    from_encoder,
    from_encoder_layer,
    from_multihead_attention,
    from_transformer,
    to_encoder,
    to_encoder_layer,
    to_multihead_attention,
    to_transformer,
)

from .state_dicts import DECODER_LAYER, ENCODER_LAYER, PACKED, SEPARATE, SHAPES, D, identical, random, stack


def ways(kind):
    return getattr(torch_weights, f"from_{kind}"), getattr(torch_weights, f"to_{kind}")


def leaves(parameters):
    """By name, in an order that is the same for all."""
    flat = parameters._asdict() if isinstance(parameters, Weights) else flatten(parameters)
    return dict(sorted(flat.items()))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("kind", SHAPES)
def test_both_round_trips_are_exact(kind, dtype):
    read, write = ways(kind)
    state = random(SHAPES[kind], dtype)
    state["out_proj.bias" if "out_proj.bias" in state else next(iter(state))].flat[:3] = -0.0, np.nan, np.inf
    written = write(read(state))
    assert identical(written, state)
    assert identical(leaves(read(written)), leaves(read(state)))
    assert all(array.flags.c_contiguous for array in written.values())


@pytest.mark.parametrize("kind", [kind for kind in SHAPES if kind != "multihead_attention"])
def test_round_trips_without_biases_are_exact(kind):
    read, write = ways(kind)
    state = random(SHAPES[kind], bias=False)
    assert identical(write(read(state), bias=False), state)


@pytest.mark.parametrize("shapes", [PACKED, SEPARATE])
@pytest.mark.parametrize("bias", [False, True])
def test_attention_goes_back_to_the_form_it_came_in(shapes, bias):
    state = random(shapes, bias=bias)
    assert identical(to_multihead_attention(from_multihead_attention(state)), state)


def test_a_stack_without_final_norm_goes_back_without():
    state = random(stack(ENCODER_LAYER, norm=False))
    assert identical(to_encoder(from_encoder(state)), state)


def test_a_decoder_without_cross_attention_is_an_encoder():
    tree = from_transformer(random(SHAPES["transformer"]))["decoder"]
    for layer in tree["layers"]:
        del layer["cross_attention"], layer["cross_attention_norm"]
    assert to_encoder(tree).keys() == random(SHAPES["encoder"]).keys()


def test_attention_biases_that_there_are_not_become_zeros():
    state = random(ENCODER_LAYER)
    layer = from_encoder_layer(state)
    for name in ("b_q", "b_k", "b_v", "b_o"):
        del layer["self_attention"][name]
    written = to_encoder_layer(layer)
    assert list(written) == list(state)
    assert not written["self_attn.in_proj_bias"].any() and not written["self_attn.out_proj.bias"].any()
    assert np.array_equal(written["linear1.bias"], state["linear1.bias"])
    weights = from_multihead_attention(random(PACKED))._replace(b_k=None)
    bias = to_multihead_attention(weights)["in_proj_bias"]
    assert np.array_equal(bias, np.concatenate([weights.b_q, np.zeros(D), weights.b_v]))
    assert "in_proj_bias" in to_multihead_attention(weights._replace(b_q=None, b_v=None, b_o=None), bias=True)


def test_biases_that_count_are_not_dropped():
    layer = from_encoder_layer(random(ENCODER_LAYER))
    with pytest.raises(ValueError, match=r"self_attention\.b_q is not zero, so bias=False would change the function"):
        to_encoder_layer(layer, bias=False)
    assert list(to_encoder_layer(map_leaves(lambda leaf: 0 * leaf, layer), bias=False)) == [
        name for name in ENCODER_LAYER if not name.endswith("bias")
    ]


def test_shared_keys_and_values_are_refused():
    weights = from_multihead_attention(random(PACKED))
    half = weights._replace(w_k=weights.w_k[:, : D // 2], w_v=weights.w_v[:, : D // 2], b_k=None, b_v=None)
    with pytest.raises(
        ValueError, match=r"w_k has shape \(4, 2\), needed \(4, 4\) \(in PyTorch every head has its own"
    ):
        to_multihead_attention(half)


def test_a_transformer_needs_final_norms_and_both_sides():
    tree = from_transformer(random(SHAPES["transformer"]))
    del tree["encoder"]["norm"]
    with pytest.raises(
        ValueError, match=r"encoder\.norm\.gain is missing, needed \(4,\) \(nn\.Transformer has norms.*to_encoder"
    ):
        to_transformer(tree)
    with pytest.raises(ValueError, match="the tree has decoder, needed encoder and decoder"):
        to_transformer({"decoder": tree["decoder"]})


def test_other_branches_of_a_model_are_left_out():
    state = random(SHAPES["transformer"])
    assert identical(to_transformer({"embedding": {"table": np.ones((9, D))}, **from_transformer(state)}), state)


def test_what_is_no_float_and_no_weights_is_refused():
    layer = from_encoder_layer(random(ENCODER_LAYER))
    with pytest.raises(
        TypeError, match=r"self_attention\.w_q has dtype object, needed float16, bfloat16, float32, float64"
    ):
        to_encoder_layer(map_leaves(to_balls, layer))
    with pytest.raises(TypeError, match=r"weights is a dict, needed multi_head\.Weights"):
        to_multihead_attention(layer["self_attention"])


def test_a_decoder_layer_is_no_encoder_layer():
    decoder_layer = torch_weights.from_decoder_layer(random(DECODER_LAYER))
    with pytest.raises(ValueError, match=r"cross_attention\.w_q is not known here"):
        to_encoder_layer(decoder_layer)


def test_without_pytorch_there_are_no_tensors(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="PyTorch is not installed; pip install torch"):
        as_tensors({})

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from numeric import torch_weights
from numeric.parameters import flatten
from numeric.torch_weights import from_encoder, from_encoder_layer, from_multihead_attention, from_transformer

from . import state_dicts
from .state_dicts import D_FF, ENCODER_LAYER, PACKED, SEPARATE, SHAPES, D, random, stack, under


def test_packed_projections_are_split_and_transposed():
    state = random(PACKED)
    weights = from_multihead_attention(state, 2)
    packed, biases = state["in_proj_weight"], state["in_proj_bias"]
    for part, letter in enumerate("qkv"):
        rows = slice(part * D, (part + 1) * D)
        assert np.array_equal(getattr(weights, f"w_{letter}"), packed[rows].T)
        assert np.array_equal(getattr(weights, f"b_{letter}"), biases[rows])
    assert np.array_equal(weights.w_o, state["out_proj.weight"].T)
    assert np.array_equal(weights.b_o, state["out_proj.bias"])


def test_projections_of_their_own_widths():
    state = random(SEPARATE)
    weights = from_multihead_attention(state)
    for letter in "qkv":
        assert np.array_equal(getattr(weights, f"w_{letter}"), state[f"{letter}_proj_weight"].T)
    assert np.array_equal(weights.b_v, state["in_proj_bias"][2 * D :])


@pytest.mark.parametrize("shapes", [PACKED, SEPARATE])
def test_attention_without_biases_has_none(shapes):
    assert from_multihead_attention(random(shapes, bias=False))[4:] == (None,) * 4


def test_a_layer_has_our_names():
    state = random(ENCODER_LAYER)
    layer = from_encoder_layer(state, 2)
    assert layer.keys() == {"self_attention", "self_attention_norm", "feed_forward", "feed_forward_norm"}
    assert np.array_equal(layer["feed_forward"]["W_1"], state["linear1.weight"].T)
    assert np.array_equal(layer["feed_forward"]["b_2"], state["linear2.bias"])
    assert np.array_equal(layer["self_attention_norm"]["gain"], state["norm1.weight"])
    assert np.array_equal(layer["feed_forward_norm"]["bias"], state["norm2.bias"])


def test_a_transformer_has_two_stacks_with_norms():
    tree = from_transformer(random(SHAPES["transformer"]))
    assert [len(tree[side]["layers"]) for side in ("encoder", "decoder")] == [2, 2]
    assert "norm" in tree["encoder"] and "norm" in tree["decoder"]
    assert "cross_attention_norm" in tree["decoder"]["layers"][1]
    assert "cross_attention" not in tree["encoder"]["layers"][1]


def test_a_stack_without_final_norm_has_none():
    assert from_encoder(random(stack(ENCODER_LAYER, norm=False))).keys() == {"layers"}


def test_without_biases_norms_and_feed_forward_get_zeros():
    layer = from_encoder_layer(random(ENCODER_LAYER, np.float64, bias=False))
    assert layer["self_attention"].keys() == {"w_q", "w_k", "w_v", "w_o"}
    for zeros, size in ((layer["feed_forward"]["b_1"], D_FF), (layer["feed_forward_norm"]["bias"], D)):
        assert np.array_equal(zeros, np.zeros(size)) and zeros.dtype == np.float64


def test_a_final_norm_may_have_the_only_bias():
    state = random(stack(ENCODER_LAYER), bias=False)
    state["norm.bias"] = np.ones(D, np.float32)
    encoder = from_encoder(state)
    assert np.array_equal(encoder["norm"]["bias"], np.ones(D))
    assert "b_q" not in encoder["layers"][0]["self_attention"]


def test_more_than_ten_layers_keep_their_order():
    shapes = {}
    for place in range(12):
        shapes |= under(f"layers.{place}", ENCODER_LAYER)
    state = random(shapes)
    layers = from_encoder(dict(sorted(state.items())))["layers"]
    assert np.array_equal(layers[10]["feed_forward"]["W_1"], state["layers.10.linear1.weight"].T)


def test_a_prefix_selects_and_is_removed():
    state = random(under("model.encoder", stack(ENCODER_LAYER)) | {"model.head.weight": (9, D)})
    assert len(from_encoder(state, 2, "model.encoder.")["layers"]) == 2
    with pytest.raises(
        ValueError, match=r"no name begins with 'encoder\.'; there are model\.encoder\.layers\.0\.self_attn"
    ):
        from_encoder(state, prefix="encoder.")


def test_npz_files_are_state_dicts(tmp_path):
    state = random(ENCODER_LAYER)
    np.savez(tmp_path / "layer.npz", **state)
    with np.load(tmp_path / "layer.npz") as stored:
        read = flatten(from_encoder_layer(stored))
    assert state_dicts.identical(read, flatten(from_encoder_layer(state)))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("kind", SHAPES)
def test_nothing_shares_memory_with_the_state_dict(kind, dtype):
    state = random(SHAPES[kind], dtype)
    parameters = getattr(torch_weights, f"from_{kind}")(state)
    arrays = parameters if kind == "multihead_attention" else flatten(parameters).values()
    for array in arrays:
        assert array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
        assert not any(np.shares_memory(array, theirs) for theirs in state.values())


@pytest.mark.parametrize("n_heads", [0, 3, 8])
def test_heads_that_do_not_divide_the_width_are_refused(n_heads):
    with pytest.raises(ValueError, match=f"n_heads is {n_heads}, needed a divisor of d = 4"):
        from_multihead_attention(random(PACKED), n_heads)


def test_other_things_than_state_dicts_are_refused():
    with pytest.raises(TypeError, match="source is a list, needed a state dict or a module"):
        from_encoder([1])
    with pytest.raises(TypeError, match="state_dict is a dict, needed a tensor or a NumPy array; of a checkpoint pass"):
        from_encoder({"state_dict": {}})
    with pytest.raises(ValueError, match="no name begins with ''; there are none at all"):
        from_encoder({})


def test_pytorch_is_not_imported():
    program = (
        "import sys; from numeric import torch_weights as t; from tests.numeric.torch_weights.state_dicts import *;"
        "t.to_transformer(t.from_transformer(random(SHAPES['transformer']))); print('torch' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    ran = subprocess.run([sys.executable, "-c", program], check=True, cwd=root, capture_output=True, text=True)
    assert ran.stdout == "False\n"

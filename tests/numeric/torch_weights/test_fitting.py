import numpy as np
import pytest

from numeric.torch_weights import (
    from_decoder,
    from_encoder,
    from_encoder_layer,
    from_multihead_attention,
    from_transformer,
)

from .state_dicts import DECODER_LAYER, ENCODER_LAYER, PACKED, SHAPES, D, random, stack


def told(read, state, kind=ValueError):
    """What the error says, line by line."""
    before = {name: array.copy() for name, array in state.items()}
    with pytest.raises(kind) as caught:
        read(state)
    assert all(np.array_equal(state[name], array) for name, array in before.items())
    first, *lines = str(caught.value).split("\n")
    return first, [line.strip() for line in lines]


def without(state, *names):
    return {name: array for name, array in state.items() if name not in names}


def test_a_misspelt_name_is_told_with_the_nearest():
    state = random(ENCODER_LAYER)
    state["linear1.wieght"] = state.pop("linear1.weight")
    first, lines = told(from_encoder_layer, state)
    assert first == "from_encoder_layer: the arrays do not fit nn.TransformerEncoderLayer (d = 4, d_ff = 6):"
    assert lines == [
        "linear1.weight is missing, needed (6, 4); nearest found: linear1.wieght",
        "linear1.wieght is not known here; nearest needed: linear1.weight",
    ]


@pytest.mark.parametrize("name", ENCODER_LAYER)
def test_each_missing_name_is_told(name):
    _, lines = told(from_encoder_layer, without(random(ENCODER_LAYER), name))
    assert lines[0].startswith(f"{name} is missing, needed {ENCODER_LAYER[name]}")
    assert len(lines) == 1


@pytest.mark.parametrize("name", ENCODER_LAYER)
@pytest.mark.parametrize("axis", [0, -1])
def test_each_truncated_array_is_the_one_that_is_told(name, axis):
    state = random(ENCODER_LAYER)
    state[name] = state[name].take(range(state[name].shape[axis] - 1), axis)
    _, lines = told(from_encoder_layer, state)
    assert lines == [f"{name} has shape {state[name].shape}, needed {ENCODER_LAYER[name]}"]


def test_exchanged_names_of_other_shapes_are_told():
    state = random(ENCODER_LAYER)
    one, other = "self_attn.in_proj_weight", "self_attn.out_proj.weight"
    state[one], state[other] = state[other], state[one]
    _, lines = told(from_encoder_layer, state)
    assert lines == [f"{one} has shape (4, 4), needed (12, 4)", f"{other} has shape (12, 4), needed (4, 4)"]


def test_further_names_are_told():
    _, lines = told(from_encoder_layer, random(ENCODER_LAYER | {"head.weight": (9, D)}))
    assert lines == ["head.weight is not known here"]


def test_an_appended_key_is_told_with_its_option():
    _, lines = told(from_multihead_attention, random(PACKED | {"bias_k": (1, 1, D), "bias_v": (1, 1, D)}))
    assert lines[0].startswith("bias_k is not known here (add_bias_kv appends a learned key and value")
    assert len(lines) == 2


def test_a_missing_layer_is_told():
    state = random(stack(ENCODER_LAYER))
    moved = {name.replace("layers.1.", "layers.2."): array for name, array in state.items()}
    _, lines = told(from_encoder, moved)
    assert lines[0].startswith(
        "layers.1.self_attn.in_proj_weight is missing, needed (12, 4); nearest found: layers.2.self"
    )
    assert lines[-1] == "and 16 more"  # 12 missing and 12 that are not known, of which 8 are shown
    assert len(lines) == 9


def test_an_encoder_is_no_decoder():
    _, lines = told(from_decoder, random(stack(ENCODER_LAYER)))
    assert lines[0].startswith("layers.0.multihead_attn.in_proj_weight is missing, needed (12, 4)")


def test_a_decoder_is_no_encoder():
    _, lines = told(from_encoder, random(stack(DECODER_LAYER)))
    assert lines[0].startswith("layers.0.multihead_attn.in_proj_weight is not known here")


def test_a_transformer_has_final_norms():
    state = without(random(SHAPES["transformer"]), "encoder.norm.weight", "encoder.norm.bias")
    _, lines = told(from_transformer, state)
    assert lines[0].startswith("encoder.norm.weight is missing, needed (4,)")
    assert lines[0].endswith("from_encoder and from_decoder take stacks without)")


def test_a_state_dict_of_something_else_is_told_without_sizes():
    first, lines = told(from_encoder_layer, {"weight": np.ones((2, 2), np.float32)})
    assert first.endswith("nn.TransformerEncoderLayer (no size known):")
    assert lines[0].startswith("self_attn.in_proj_weight is missing, needed (3 d, d)")


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.complex64])
def test_numbers_that_are_no_floats_are_told(dtype):
    state = random(ENCODER_LAYER)
    state["norm1.weight"] = state["norm1.weight"].astype(dtype)
    _, lines = told(from_encoder_layer, state, TypeError)
    assert lines == [f"norm1.weight has dtype {np.dtype(dtype)}, needed float16, bfloat16, float32, float64"]


def test_two_dtypes_are_told():
    state = random(ENCODER_LAYER)
    state["norm1.weight"] = state["norm1.weight"].astype(np.float64)
    _, lines = told(from_encoder_layer, state, TypeError)
    assert lines == ["norm1.weight has dtype float64, needed float32 as most of the others"]


def test_names_and_dtypes_are_told_together():
    state = without(random(ENCODER_LAYER), "norm2.bias")
    state["norm1.weight"] = state["norm1.weight"].astype(int)
    _, lines = told(from_encoder_layer, state)
    assert len(lines) == 2

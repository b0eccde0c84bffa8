"""PyTorch's own modules: read as they are, and loaded with what we write."""

import warnings

import numpy as np
import pytest

from numeric import torch_weights
from numeric.parameters import flatten
from numeric.torch_weights import as_tensors, from_encoder_layer, from_multihead_attention, from_transformer

torch = pytest.importorskip("torch", reason="the modules are PyTorch's")
from torch import nn  # noqa: E402

D, HEADS, D_FF = 4, 2, 6


def built(kind, bias=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the fast path will not do
        if kind == "multihead_attention":
            return nn.MultiheadAttention(D, HEADS, bias=bias)
        if kind == "separate_attention":
            return nn.MultiheadAttention(D, HEADS, bias=bias, kdim=3, vdim=5)
        encoder_layer = nn.TransformerEncoderLayer(D, HEADS, D_FF, bias=bias)
        decoder_layer = nn.TransformerDecoderLayer(D, HEADS, D_FF, bias=bias)
        return {
            "encoder_layer": encoder_layer,
            "decoder_layer": decoder_layer,
            "encoder": nn.TransformerEncoder(encoder_layer, 3),
            "decoder": nn.TransformerDecoder(decoder_layer, 3, nn.LayerNorm(D, bias=bias)),
            "transformer": nn.Transformer(D, HEADS, 2, 3, D_FF, bias=bias),
        }[kind]


KINDS = [
    "multihead_attention",
    "separate_attention",
    "encoder_layer",
    "decoder_layer",
    "encoder",
    "decoder",
    "transformer",
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_modules_take_back_what_they_gave(kind, bias, dtype):
    name = kind.replace("separate", "multihead")
    read, write = getattr(torch_weights, f"from_{name}"), getattr(torch_weights, f"to_{name}")
    module, other = built(kind, bias).to(dtype), built(kind, bias).to(dtype)
    state = as_tensors(write(read(module, HEADS), bias=bias))
    assert list(state) == list(module.state_dict())
    other.load_state_dict(state, strict=True)
    assert all(torch.equal(a, b) for a, b in zip(other.parameters(), module.parameters(), strict=True))
    by_state = as_tensors(write(read(module.state_dict()), bias=bias))
    assert all(torch.equal(state[name], by_state[name]) for name in state)


def test_parameters_with_gradients_and_their_gradients_are_read():
    layer = built("encoder_layer")
    layer(torch.ones(2, 3, D)).sum().backward()
    named = dict(layer.named_parameters())
    assert np.array_equal(from_encoder_layer(named)["feed_forward"]["b_2"], layer.linear2.bias.detach().numpy())
    gradients = from_encoder_layer({name: parameter.grad for name, parameter in named.items()})
    assert np.array_equal(gradients["feed_forward"]["W_1"], layer.linear1.weight.grad.numpy().T)


def test_reading_does_not_tie_us_to_the_module():
    module = built("transformer")
    tree = from_transformer(module)
    before = [parameter.clone() for parameter in module.parameters()]
    for leaf in flatten(tree).values():
        leaf += 1
    state = torch_weights.to_transformer(tree)
    tensors = as_tensors(state)
    for tensor in tensors.values():
        tensor += 1
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), before, strict=True))
    assert all(np.array_equal(state[name] + 1, tensors[name].numpy()) for name in state)


def test_what_a_state_dict_does_not_show_is_refused_of_a_module():
    with pytest.raises(ValueError, match="the module has add_zero_attn=True, a key and value of zeros"):
        from_multihead_attention(nn.MultiheadAttention(D, HEADS, add_zero_attn=True))
    with pytest.raises(ValueError, match=r"encoder\.layers\.0\.self_attn has 2 heads, but n_heads is 4"):
        from_transformer(built("transformer"), 4)
    norm = nn.LayerNorm(D, elementwise_affine=False)
    with pytest.raises(ValueError, match="norm has elementwise_affine=False, needed a norm with weight and bias"):
        torch_weights.from_decoder(nn.TransformerDecoder(built("decoder_layer"), 1, norm))


def test_an_appended_key_is_refused():
    with pytest.raises(ValueError, match="bias_k is not known here"):
        from_multihead_attention(nn.MultiheadAttention(D, HEADS, add_bias_kv=True))


def test_quantised_numbers_are_refused():
    state = built("encoder_layer").state_dict()
    state["linear1.weight"] = state["linear1.weight"].to(torch.int8)
    with pytest.raises(TypeError, match=r"linear1\.weight has dtype int8, needed float16"):
        from_encoder_layer(state)

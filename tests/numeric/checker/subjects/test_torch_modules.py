"""The modules get the weights that are theirs: each computes what our own layers compute of the same weights."""

import numpy as np
import pytest

from numeric import decoder, encoder, model, sublayers
from numeric.config import Config
from numeric.initialisation import initialise
from numeric.layers import masking
from numeric.parameters import flatten, map_leaves

torch = pytest.importorskip("torch", reason="these subjects are PyTorch's")
modules = pytest.importorskip("numeric.checker.subjects._torch_modules")

NEAR = (
    1e-12  # says where the weights go, not how well they are used: in a wrong place they give 1e-3 and more (last test)
)
pytestmark = pytest.mark.filterwarnings("ignore:.*nested")
ATTENTION = ("w_q", "w_k", "w_v", "w_o")


def config(order, activation="relu"):
    return Config("encoder-decoder", 11, 8, 6, 2, 2, norm=order, activation=activation)


def drawn(order, activation="relu"):
    """Nothing special: gains and biases are random too."""
    rng = np.random.default_rng(4)
    return map_leaves(
        lambda leaf: leaf + 0.3 * rng.standard_normal(leaf.shape), initialise(config(order, activation), 0, np.float64)
    )


def tensors(arrays):
    return [torch.tensor(each) for each in arrays]


def of_layer(layer, *names):
    return tensors(flatten(layer)[name] for name in names)


def norm(place):
    return f"{place}.gain", f"{place}.bias"


FEED_FORWARD = tuple(f"feed_forward.{name}" for name in ("W_1", "b_1", "W_2", "b_2"))
SELF, CROSS = ([f"{place}.{name}" for name in ATTENTION] for place in ("self_attention", "cross_attention"))
MASK = np.array(
    [[True, False, True, True], [True, True, False, True], [False, True, True, True], [True, True, True, False]]
)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("order", "activation"), [("post", "relu"), ("pre", "gelu")])
def test_the_encoder_layer(order, activation, masked):
    layer = drawn(order, activation)["encoder"]["layers"][0]
    x, mask = np.random.default_rng(1).standard_normal((3, 4, 8)), MASK if masked else None
    weights = of_layer(layer, *SELF, *norm("self_attention_norm"), *FEED_FORWARD, *norm("feed_forward_norm"))
    given = None if mask is None else torch.tensor(mask)
    found = modules.encoder_layer(torch.tensor(x), *weights, mask=given, order=order, activation=activation)
    expected, _ = encoder.layer_forward(x, layer, config(order, activation), mask)
    assert np.abs(found.numpy() - expected).max() < NEAR


@pytest.mark.parametrize("order", ["post", "pre"])
def test_the_decoder_layer(order):
    layer, shape = drawn(order)["decoder"]["layers"][1], config(order)
    rng = np.random.default_rng(1)
    x, memory = rng.standard_normal((3, 4, 8)), rng.standard_normal((3, 5, 8))
    mask, memory_mask = masking.causal(4), rng.random((3, 4, 5)) < 0.7
    memory_mask[..., 2] = True
    rest = of_layer(
        layer, *norm("self_attention_norm"), *norm("cross_attention_norm"), *FEED_FORWARD, *norm("feed_forward_norm")
    )
    found = modules.decoder_layer(
        *tensors((x, memory)),
        of_layer(layer, *SELF),
        of_layer(layer, *CROSS),
        *rest,
        mask=torch.tensor(mask),
        memory_mask=torch.tensor(memory_mask),
        order=order,
    )
    own = sublayers.self_attention(layer["self_attention"], shape, mask)
    across = sublayers.cross_attention(memory, layer["cross_attention"], shape, memory_mask)
    expected, _ = decoder.layer_forward(x, layer, shape, own, across)
    assert np.abs(found.numpy() - expected).max() < NEAR


@pytest.mark.parametrize("order", ["post", "pre"])
def test_the_whole_transformer(order):
    params = drawn(order)
    src, tgt = np.array([[3, 4, 5, 6], [7, 8, 0, 0]]), np.array([[1, 2, 9], [4, 3, 2]])
    named = {name: torch.tensor(each) for name, each in flatten(params).items()}
    found = modules.transformer(*tensors((src, tgt)), named, src_mask=torch.tensor(src != 0), order=order)
    assert np.abs(found.numpy() - model.logits(params, src, tgt, config(order))).max() < NEAR


def test_a_weight_in_a_wrong_place_shows():
    layer = drawn("post")["encoder"]["layers"][0]
    x = np.random.default_rng(1).standard_normal((3, 4, 8))
    weights = of_layer(layer, *SELF, *norm("self_attention_norm"), *FEED_FORWARD, *norm("feed_forward_norm"))
    weights[0], weights[1] = weights[1], weights[0]
    expected, _ = encoder.layer_forward(x, layer, config("post"))
    assert np.abs(modules.encoder_layer(torch.tensor(x), *weights).numpy() - expected).max() > 1e-3

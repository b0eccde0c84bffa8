"""PyTorch's modules and our layers with their weights lie within the rounding bound of the same exact values."""

import warnings
from functools import cache

import numpy as np
import pytest

from numeric import torch_weights
from numeric.arithmetic import largest_error, precision, to_balls
from numeric.layers import masking, multi_head
from numeric.layers.multi_head import Weights
from numeric.parameters import flatten, unflatten

from . import model_bounds
from .layers import bounds

torch = pytest.importorskip("torch", reason="the modules are PyTorch's")
from . import torch_modules as modules  # noqa: E402
from .torch_modules import HEADS, D, Setting  # noqa: E402

slow = pytest.mark.slow
DTYPES = [np.float32, np.float64]
KINDS = [modules.EncoderLayer, modules.Encoder, modules.DecoderLayer, modules.Decoder, modules.Transformer]
compared = cache(modules.compared)

SETTINGS = [
    (modules.EncoderLayer, Setting("post", "relu", "none", dtype=np.float32)),
    (modules.EncoderLayer, Setting("pre", "gelu", "float")),
    (modules.Encoder, Setting("pre", "relu", "padding", final_norm=False)),
    (modules.Encoder, Setting("post", "gelu", "bool", dtype=np.float32, bias=False)),
    (modules.DecoderLayer, Setting("pre", "relu", "bool", dtype=np.float32)),
    (modules.Decoder, Setting("post", "gelu", "none")),
    (modules.Transformer, Setting("post", "relu", "padding")),
    (modules.Transformer, Setting("pre", "gelu", "bool", layers=1, dtype=np.float32)),
]


@pytest.mark.parametrize(("kind", "setting"), SETTINGS)
def test_outputs_and_gradients_agree_with_pytorch(kind, setting):
    comparison = compared(kind, setting)
    assert comparison.torch.keys() <= comparison.ours.keys()
    assert comparison.misses(comparison.torch) == []
    assert comparison.misses(comparison.ours) == []


@slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masks", ["none", "padding", "bool", "float"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("kind", KINDS)
def test_they_agree_in_every_setting(kind, norm, activation, masks, dtype):
    layers = 1 if kind is modules.Transformer and dtype == np.float32 else 2
    setting = Setting(norm, activation, masks, layers, dtype)
    test_outputs_and_gradients_agree_with_pytorch(kind, setting)
    test_the_bounds_would_show_a_fault(kind, setting)


@slow
@pytest.mark.parametrize("kind", [modules.Encoder, modules.Decoder])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_they_agree_without_final_norm_and_biases(kind, norm, bias):
    test_outputs_and_gradients_agree_with_pytorch(kind, Setting(norm, final_norm=bias, bias=not bias))


@pytest.mark.parametrize(("kind", "setting"), SETTINGS)
def test_the_bounds_would_show_a_fault(kind, setting):
    """One part in a million in float64; in float32 that an entry is missing.

    The largest bounds there are, relative to the largest entry of an array: 5e-8 and 0.24, 4e-12 and 3e-4 for outputs.
    """
    comparison = compared(kind, setting)
    for name in comparison.nonzero():
        faulty = comparison.torch[name].copy()
        place = np.unravel_index(np.abs(faulty).argmax(), faulty.shape)
        faulty[place] *= 1 + 1e-6 if setting.dtype == np.float64 else 0
        assert comparison.misses({name: faulty}) == [name]


@pytest.mark.parametrize("masks", ["none", "padding", pytest.param("bool", marks=slow)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_fast_path_of_inference_agrees(masks, dtype, monkeypatch):
    """With padding PyTorch packs the tokens of the batch, and leaves zeros where the padding was."""
    setting = Setting("post", "gelu", masks, dtype=dtype)
    comparison = compared(modules.Encoder, setting)
    calls = []
    fast = torch._transformer_encoder_layer_fwd
    monkeypatch.setattr(torch, "_transformer_encoder_layer_fwd", lambda *args: (calls.append(1), fast(*args))[1])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        module = modules.randomised(modules.Encoder.module(setting), setting).eval()
        x, _ = setting.drawn(modules.OF_SRC, modules.OF_SRC)
        y = modules.Encoder.torch(module, setting, torch.tensor(x)).numpy()
    assert len(calls) == setting.layers
    shown = modules.SRC != 0 if masks != "none" else np.ones(modules.SRC.shape, bool)
    assert not modules.outside(y[shown], comparison.exact["y"][shown], comparison.allowed["y"][shown])


# Mutants


def renamed(pairs):
    """Names that contain one part of a pair get the array of the name with the other part."""

    def change(tree):
        flat = flatten(tree)
        swapped = {}
        for name in flat:
            source = name
            for one, other in pairs:
                source = source.replace(one, "\0").replace(other, one).replace("\0", other)
            swapped[name] = flat[source]
        return unflatten(swapped)

    return change


def transposed(*endings):
    def change(tree):
        return unflatten(
            {name: leaf.T.copy() if name.endswith(endings) else leaf for name, leaf in flatten(tree).items()}
        )

    return change


MUTANTS = {
    "w_q not transposed": transposed("self_attention.w_q"),
    "w_o not transposed": transposed("self_attention.w_o"),
    "w_v of the cross-attention not transposed": transposed("cross_attention.w_v"),
    "keys and values exchanged": renamed([("w_k", "w_v"), ("b_k", "b_v")]),
    "queries and keys exchanged": renamed([("w_q", "w_k"), ("b_q", "b_k")]),
    "biases of queries and values exchanged": renamed([("b_q", "b_v")]),
    "gain and bias exchanged": renamed([("gain", "bias")]),
    "norm1 and norm2 exchanged": renamed([("self_attention_norm", "cross_attention_norm")]),
    "norm2 and norm3 exchanged": renamed([("cross_attention_norm", "feed_forward_norm")]),
    "attentions exchanged": renamed([("self_attention.", "cross_attention.")]),
    "layers in reverse": renamed([("layers.0", "layers.1")]),
    "final norms exchanged": renamed([("encoder.norm", "decoder.norm")]),
    "b_2 and b_o exchanged": renamed([("self_attention.b_o", "feed_forward.b_2")]),
}


QUICK = ("w_o not transposed", "keys and values exchanged", "norm1 and norm2 exchanged", "final norms exchanged")


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=slow) for name in MUTANTS])
def test_mistaken_parameters_are_caught(name):
    kind = modules.Transformer if "final" in name else modules.Decoder
    comparison = modules.compared(kind, Setting("post", "gelu", "none"), MUTANTS[name])
    assert "y" in comparison.misses(comparison.torch)
    assert comparison.misses(comparison.ours) == []


@pytest.mark.parametrize("name", [name for name in MUTANTS if "final" not in name])
def test_mistaken_gradients_are_caught(name):
    comparison = compared(modules.Decoder, Setting("post", "gelu", "none"))
    gradients = unflatten({n: g for n, g in comparison.torch.items() if n.startswith("gradients")})
    assert comparison.misses(flatten(MUTANTS[name](gradients))) != []


# Attention by itself


class Attention:
    """One nn.MultiheadAttention. m is what both keys and values come from, or keys and values side by side."""

    def __init__(self, dtype, kdim=None, vdim=None, bias=True, mask=True, self_attention=False, need_weights=False):
        self.setting, self.mask, self.need_weights = Setting(dtype=dtype), mask, need_weights
        options = {"bias": bias, "kdim": kdim, "vdim": vdim, "batch_first": True}
        self.module = modules.randomised(torch.nn.MultiheadAttention(D, HEADS, **options), self.setting, 0.5)
        self.kdim, self.vdim = kdim or D, vdim or D
        x, k, v, self.dy = self.setting.drawn(modules.OF_TGT, (2, 4, self.kdim), (2, 4, self.vdim), modules.OF_TGT)
        self.x, self.k = x, x if self_attention else k
        self.v = self.k if self.kdim == self.vdim else v

    def keep(self):
        n = self.k.shape[1]
        return masking.both(masking.causal(3, n), np.arange(n) < [[[n]], [[2]]]) if self.mask else None

    def of_torch(self):
        x = torch.tensor(self.x, requires_grad=True)
        k = x if self.k is self.x else torch.tensor(self.k, requires_grad=True)
        v = k if self.v is self.k else torch.tensor(self.v, requires_grad=True)
        n = k.shape[1]
        masks = {}
        if self.mask:
            masks["attn_mask"] = torch.tensor(~masking.causal(3, n))
            masks["key_padding_mask"] = torch.tensor(np.arange(n) >= [[n], [2]])
        y, _ = self.module(x, k, v, need_weights=self.need_weights, **masks)
        y.backward(torch.tensor(self.dy))
        inputs = {"dx": x.grad} | ({} if k is x else {"dm": k.grad if v is k else torch.cat([k.grad, v.grad], -1)})
        gradients = torch_weights.from_multihead_attention(
            {n: p.grad for n, p in self.module.named_parameters()}, HEADS
        )
        return {"y": y.detach().numpy(), **{name: g.numpy() for name, g in inputs.items()}, **self.named(gradients)}

    def named(self, weights):
        """The arrays by name; of keys and values side by side, only the rows that count."""
        arrays = {name: array for name, array in weights._asdict().items() if array is not None}
        if self.v is not self.k and len(arrays["w_k"]) != self.kdim:
            arrays["w_k"], arrays["w_v"] = arrays["w_k"][: self.kdim], arrays["w_v"][self.kdim :]
        return arrays

    def weights(self):
        weights = torch_weights.from_multihead_attention(self.module.state_dict(), HEADS)
        if self.v is self.k:
            return weights
        below, above = (np.zeros((rows, D), self.setting.dtype) for rows in (self.vdim, self.kdim))
        return weights._replace(w_k=np.concatenate([weights.w_k, below]), w_v=np.concatenate([above, weights.w_v]))

    def tokens(self):
        return self.k if self.v is self.k else np.concatenate([self.k, self.v], -1)

    def of_ours(self, convert=np.asarray):
        weights = Weights._make(None if array is None else convert(array) for array in self.weights())
        y, cached = multi_head.forward(convert(self.x), convert(self.tokens()), weights, HEADS, keep=self.keep())
        dx, dm, gradients = multi_head.backward(convert(self.dy), cached)
        inputs = {"dx": dx + dm} if self.k is self.x else {"dx": dx, "dm": dm}
        return {"y": y, **inputs, **self.named(gradients)}

    def compared(self):
        with precision(128):
            exact = self.of_ours(to_balls)
        x, m, dy = (bounds.exact(array, self.setting.dtype) for array in (self.x, self.tokens(), self.dy))
        held = {
            name: bounds.exact(a, self.setting.dtype) for name, a in self.weights()._asdict().items() if a is not None
        }
        terms, pull = model_bounds.multi_head(x, m, held, HEADS, True if self.keep() is None else self.keep())
        dx, dm, gradients = pull(dy)
        inputs = {"dx": [*dx, *dm]} if self.k is self.x else {"dx": dx, "dm": dm}
        inputs = {"y": model_bounds.summed(*terms), **{n: model_bounds.summed(*each) for n, each in inputs.items()}}
        allowed = modules.allowances({**inputs, **gradients})
        padded = Weights(**{name: allowed.get(name) for name in Weights._fields})
        return modules.Comparison(self.of_torch(), self.of_ours(), exact, {**allowed, **self.named(padded)})


CASES = {
    "of one sequence": {"self_attention": True},
    "of two, packed": {"need_weights": True},
    "narrow memory": {"kdim": 3, "vdim": 3, "need_weights": True},
    "keys and values of two widths": {"kdim": 3, "vdim": 5},
    "no biases": {"bias": False, "mask": False},
    "no biases, narrow memory": {"bias": False, "kdim": 3, "vdim": 3},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_agrees_with_pytorch(name, dtype):
    comparison = Attention(dtype, **CASES[name]).compared()
    assert comparison.torch.keys() == comparison.ours.keys() == comparison.exact.keys()
    assert comparison.misses(comparison.torch) == []
    assert comparison.misses(comparison.ours) == []
    for array in comparison.nonzero():
        faulty = comparison.torch[array] * dtype(1 + (1e-6 if dtype == np.float64 else 0.1))
        assert comparison.misses({array: faulty}) == [array]


def test_mistaken_attention_is_caught():
    right = Attention(np.float64, self_attention=True)
    found = right.of_torch()
    for wrong in (
        lambda w: w._replace(w_q=w.w_q.T),
        lambda w: w._replace(w_o=w.w_o.T),
        lambda w: w._replace(w_k=w.w_v, w_v=w.w_k),
        lambda w: w._replace(b_q=w.b_k, b_k=w.b_q),
        lambda w: w._replace(w_v=w.w_v[:, ::-1]),
    ):
        mutant = Attention(np.float64, self_attention=True)
        weights = wrong(mutant.weights())
        mutant.weights = lambda weights=weights: weights
        comparison = mutant.compared()
        assert "y" in comparison.misses(found)
        assert comparison.misses(comparison.ours) == []


def test_the_masks_of_the_two_are_opposite():
    """Our keep taken for PyTorch's mask keeps the wrong keys."""
    attention = Attention(np.float64, need_weights=True)
    comparison = attention.compared()
    mask = torch.tensor(np.repeat(attention.keep(), HEADS, axis=0))
    with torch.no_grad():
        tensors = [torch.tensor(each) for each in (attention.x, attention.k, attention.v)]
        taken, _ = attention.module(*tensors, attn_mask=~mask)
        mistaken, _ = attention.module(*tensors, attn_mask=mask)
    assert comparison.misses({"y": taken.numpy()}) == []
    assert largest_error(mistaken.numpy(), comparison.exact["y"]).max() > 0.01

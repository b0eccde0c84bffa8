"""PyTorch's modules, and how PyTorch, our layers and the rounding bounds each run one; then all three side by side.

The exact values are enclosed by our layers in balls, the bounds are those of model_bounds.py. Compared are the outputs
and the gradients of all inputs and parameters, which come over by the same conversion as the parameters themselves.
"""

import warnings
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from numeric import decoder, encoder, torch_weights
from numeric.arithmetic import largest_error, precision, to_balls
from numeric.checker.rounding import Rounded, allowance
from numeric.config import Config
from numeric.layers import masking
from numeric.parameters import flatten, map_leaves

from . import model_bounds
from .layers import bounds

torch.set_num_threads(1)  # small arrays: a second thread only waits

D, HEADS, D_FF = 4, 2, 8
SRC, TGT = np.array([[1, 1, 1, 1], [1, 1, 1, 0]]), np.array([[1, 1, 1], [1, 1, 0]])  # 0 is padding
OF_SRC, OF_TGT = (*SRC.shape, D), (*TGT.shape, D)


class Setting(NamedTuple):
    """Masks are "none", "padding", or, for causal and padding together, "bool" or "float", the form that PyTorch gets.

    With this seed, norms pass on less than they get, errors too, so that a bound says something after a dozen of them.
    """

    norm: str = "post"
    activation: str = "gelu"
    masks: str = "bool"
    layers: int = 2
    dtype: type = np.float64
    final_norm: bool = True
    bias: bool = True
    seed: int = 9

    @property
    def torch_dtype(self):
        return getattr(torch, np.dtype(self.dtype).name)

    def config(self):
        return Config("encoder-decoder", 2, D, D_FF, HEADS, 2, norm=self.norm, activation=self.activation)

    def options(self):
        return {
            "dropout": 0.0,
            "activation": self.activation,
            "norm_first": self.norm == "pre",
            "batch_first": True,
            "bias": self.bias,
        }

    def last_norm(self):
        return nn.LayerNorm(D) if self.final_norm else None

    def keep(self, tokens, causal=True):
        """Our mask: True is a key that is kept."""
        if self.masks == "none":
            return None
        padding = masking.padding(tokens, 0)
        return masking.both(masking.causal(tokens.shape[1]), padding) if causal and self.masks != "padding" else padding

    def padding(self, tokens):
        """PyTorch's mask of keys: True, or -inf, is a key that is left out."""
        return None if self.masks == "none" else self._left_out(tokens == 0)

    def causal(self, tokens):
        return None if self.masks in ("none", "padding") else self._left_out(~masking.causal(tokens.shape[1]))

    def _left_out(self, mask):
        mask = torch.tensor(mask)
        if self.masks != "float":
            return mask
        return torch.zeros(mask.shape, dtype=self.torch_dtype).masked_fill(mask, -torch.inf)

    def drawn(self, *shapes):
        draw = np.random.default_rng(100 + self.seed)
        return [draw.normal(size=shape).astype(self.dtype) for shape in shapes]


def randomised(module, setting, scale=0.1):
    """PyTorch starts with gains of 1 and biases of 0, which would hide that one is taken for another."""
    draw = np.random.default_rng(setting.seed)
    module = module.to(setting.torch_dtype)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            noise = draw.normal(size=tuple(parameter.shape))
            gain, bias = ("norm" in name and name.endswith(each) for each in ("weight", "bias"))
            parameter.copy_(torch.tensor(0.5 + 0.15 * noise if gain else noise if bias else scale * noise))
    return module


def kept(mask):
    return True if mask is None else mask


class Encoder:
    inputs = {"x": OF_SRC}

    @staticmethod
    def module(setting):
        layer = nn.TransformerEncoderLayer(D, HEADS, D_FF, **setting.options())
        return nn.TransformerEncoder(layer, setting.layers, setting.last_norm())

    read = staticmethod(torch_weights.from_encoder)

    @staticmethod
    def torch(module, setting, x):
        return module(x, setting.causal(SRC), setting.padding(SRC))

    @staticmethod
    def ours(params, setting, dy, x):
        y, cache = encoder.forward(x, params, setting.config(), setting.keep(SRC))
        dx, gradients = encoder.backward(dy, cache)
        return {"y": y, "dx": dx, "gradients": gradients}

    @staticmethod
    def bounds(params, setting, dy, x):
        y, pull = model_bounds.stack(x, params, setting.config(), kept(setting.keep(SRC)))
        dx, _, gradients = pull(dy)
        return {"y": y, "dx": dx, "gradients": gradients}


class EncoderLayer(Encoder):
    @staticmethod
    def module(setting):
        return nn.TransformerEncoderLayer(D, HEADS, D_FF, **setting.options())

    @staticmethod
    def read(state):
        return {"layers": [torch_weights.from_encoder_layer(state)]}


class Decoder:
    inputs = {"x": OF_TGT, "memory": OF_SRC}

    @staticmethod
    def module(setting):
        layer = nn.TransformerDecoderLayer(D, HEADS, D_FF, **setting.options())
        return nn.TransformerDecoder(layer, setting.layers, setting.last_norm())

    read = staticmethod(torch_weights.from_decoder)

    @staticmethod
    def torch(module, setting, x, memory):
        return module(x, memory, setting.causal(TGT), None, setting.padding(TGT), setting.padding(SRC))

    @staticmethod
    def ours(params, setting, dy, x, memory):
        across = memory, setting.keep(SRC, causal=False)
        y, cache = decoder.forward(x, params, setting.config(), setting.keep(TGT), *across)
        dx, dmemory, gradients = decoder.backward(dy, cache)
        return {"y": y, "dx": dx, "dmemory": dmemory, "gradients": gradients}

    @staticmethod
    def bounds(params, setting, dy, x, memory):
        across = memory, kept(setting.keep(SRC, causal=False))
        y, pull = model_bounds.stack(x, params, setting.config(), kept(setting.keep(TGT)), *across)
        dx, dmemory, gradients = pull(dy)
        return {"y": y, "dx": dx, "dmemory": model_bounds.summed(*dmemory), "gradients": gradients}


class DecoderLayer(Decoder):
    @staticmethod
    def module(setting):
        return nn.TransformerDecoderLayer(D, HEADS, D_FF, **setting.options())

    @staticmethod
    def read(state):
        return {"layers": [torch_weights.from_decoder_layer(state)]}


class Transformer:
    inputs = {"tgt": OF_TGT, "src": OF_SRC}

    @staticmethod
    def module(setting):
        return nn.Transformer(D, HEADS, setting.layers, setting.layers, D_FF, **setting.options())

    read = staticmethod(torch_weights.from_transformer)

    @staticmethod
    def torch(module, setting, tgt, src):
        masks = setting.causal(SRC), setting.causal(TGT), None
        return module(src, tgt, *masks, setting.padding(SRC), setting.padding(TGT), setting.padding(SRC))

    @staticmethod
    def ours(params, setting, dy, tgt, src):
        memory, of_encoder = encoder.forward(src, params["encoder"], setting.config(), setting.keep(SRC))
        across = memory, setting.keep(SRC, causal=False)
        y, of_decoder = decoder.forward(tgt, params["decoder"], setting.config(), setting.keep(TGT), *across)
        dtgt, dmemory, in_decoder = decoder.backward(dy, of_decoder)
        dsrc, in_encoder = encoder.backward(dmemory, of_encoder)
        return {"y": y, "dtgt": dtgt, "dsrc": dsrc, "gradients": {"encoder": in_encoder, "decoder": in_decoder}}

    @staticmethod
    def bounds(params, setting, dy, tgt, src):
        keeps = (setting.keep(SRC), setting.keep(TGT), setting.keep(SRC, causal=False))
        y, pull = model_bounds.transformer(src, tgt, params, setting.config(), *map(kept, keeps))
        dsrc, dtgt, gradients = pull(dy)
        return {"y": y, "dtgt": dtgt, "dsrc": dsrc, "gradients": gradients}


class Comparison(NamedTuple):
    """Arrays by name: y, the gradients of the inputs, those of the parameters."""

    torch: dict[str, np.ndarray]
    ours: dict[str, np.ndarray]
    exact: dict[str, np.ndarray]
    allowed: dict[str, np.ndarray]

    def misses(self, results):
        """The names of those results that somewhere lie outside the bound."""
        assert all(np.isfinite(bound).all() for bound in self.allowed.values()), "the bound is void here"
        return [name for name, found in results.items() if outside(found, self.exact[name], self.allowed[name])]

    def nonzero(self):
        """The names of arrays that are not zero: the gradient of a bias of the keys is."""
        return [name for name in self.torch if not name.endswith("b_k") and np.any(self.ours[name])]


def outside(found, exact, allowed):
    assert found.shape == exact.shape == allowed.shape, (found.shape, exact.shape, allowed.shape)
    return not (largest_error(found, exact) <= allowed).all()


def allowances(tree):
    if isinstance(tree, Rounded):
        return allowance(tree)
    return {k: allowances(v) for k, v in tree.items()} if isinstance(tree, dict) else [*map(allowances, tree)]


def compared(kind, setting, change=lambda params: params):
    """`change` is made to our parameters, and not to PyTorch's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the fast path will not do, and of two kinds of masks
        module = randomised(kind.module(setting), setting).train()
        *arrays, dy = setting.drawn(*kind.inputs.values(), next(iter(kind.inputs.values())))
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
        y = kind.torch(module, setting, *tensors)
    y.backward(torch.tensor(dy))
    found = {f"d{name}": tensor.grad.numpy() for name, tensor in zip(kind.inputs, tensors, strict=True)}
    gradients = flatten({"gradients": kind.read({name: p.grad for name, p in module.named_parameters()})})
    if not setting.bias:  # layers without biases have no gradients of them, and the reader puts zeros
        gradients = {
            n: g for n, g in gradients.items() if ".layers." not in n or not n.endswith(("b_1", "b_2", "bias"))
        }
    params = change(kind.read(module.state_dict()))
    ours = flatten(kind.ours(params, setting, dy, *arrays))
    with precision(128):
        exact = flatten(kind.ours(map_leaves(to_balls, params), setting, *map(to_balls, (dy, *arrays))))
    held = (bounds.exact(array, setting.dtype) for array in (dy, *arrays))
    allowed = kind.bounds(map_leaves(lambda leaf: bounds.exact(leaf, setting.dtype), params), setting, *held)
    return Comparison({"y": y.detach().numpy(), **found, **gradients}, ours, exact, flatten(allowances(allowed)))

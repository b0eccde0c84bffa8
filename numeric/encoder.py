"""The encoder: a stack of layers, each self-attention and then feed-forward; forward and backward side by side.

    x = self_attention(x), in a residual connection         each layer in turn,
    x = feed_forward(x), in a residual connection           then the final norm, where there is one

Shapes: x, y, dx, dy (..., n, d), any number of rows n. With a causal mask it is the decoder of a decoder-only model.
As Vaswani et al. 2017, section 3.1; pre-norm as Xiong et al. 2020.
"""

from typing import Any, NamedTuple

import numpy as np

from . import sublayers
from .config import Config
from .layers import layer_norm, residual
from .parameters import Tree


class LayerCache(NamedTuple):
    self_attention: residual.Cache
    feed_forward: residual.Cache


class Cache(NamedTuple):
    layers: list[LayerCache]
    norm: layer_norm.Cache | None


def forward(
    x: np.ndarray,
    params: dict[str, Any],
    config: Config,
    keep: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs; keep says which keys a row attends to, and broadcasts to (..., n, n).

    Raises TypeError or ValueError as the layers do.
    """
    caches = []
    for layer in params["layers"]:
        x, cache = layer_forward(x, layer, config, keep, rng)
        caches.append(cache)
    y, norm = sublayers.final_norm(x, params, config)
    return y, Cache(caches, norm)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, Tree]:
    """The gradients of <dy, y> with respect to x and the parameters."""
    dx, dnorm = sublayers.pull_final_norm(dy, cache.norm)
    dlayers = []
    for each in reversed(cache.layers):
        dx, dlayer = layer_backward(dx, each)
        dlayers.append(dlayer)
    return dx, {"layers": dlayers[::-1], **dnorm}


def layer_forward(
    x: np.ndarray,
    params: dict[str, Any],
    config: Config,
    keep: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, LayerCache]:
    """One layer of the stack."""
    attention = sublayers.self_attention(params["self_attention"], config, keep)
    x, first = sublayers.connect(x, attention, params["self_attention_norm"], config, rng)
    transformation = sublayers.position_wise(params["feed_forward"], config)
    y, second = sublayers.connect(x, transformation, params["feed_forward_norm"], config, rng)
    return y, LayerCache(first, second)


def layer_backward(dy: np.ndarray, cache: LayerCache) -> tuple[np.ndarray, Tree]:
    """The gradients of one layer: of x, and of its parameters by name."""
    # forward: attention came first; so now the feed-forward sublayer does
    dx, dsecond, (dtransformation,) = sublayers.disconnect(dy, cache.feed_forward, sublayers.pull_position_wise)
    dx, dfirst, (dattention,) = sublayers.disconnect(dx, cache.self_attention, sublayers.pull_self_attention)
    return dx, {
        "self_attention": dattention,
        "self_attention_norm": dfirst,
        "feed_forward": dtransformation,
        "feed_forward_norm": dsecond,
    }

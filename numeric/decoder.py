"""The decoder: as the encoder, but with attention to a memory in between; forward and backward side by side.

    x = self_attention(x), in a residual connection         each layer in turn,
    x = cross_attention(x, memory), likewise                then the final norm, where there is one
    x = feed_forward(x), likewise

Shapes: x, y, dx, dy (..., n, d); memory, dmemory (..., m, d), the output of the encoder. All layers read the one
memory, so its gradient is the sum over them. Without a memory there is no cross-attention (Radford et al. 2018).
As Vaswani et al. 2017, section 3.1; pre-norm as Xiong et al. 2020, where the memory is not normalised once more.
"""

from typing import Any, NamedTuple

import numpy as np

from . import sublayers
from .config import Config
from .layers import layer_norm, residual
from .parameters import Tree


class LayerCache(NamedTuple):
    self_attention: residual.Cache
    cross_attention: residual.Cache | None
    feed_forward: residual.Cache


class Cache(NamedTuple):
    layers: list[LayerCache]
    norm: layer_norm.Cache | None


def forward(
    x: np.ndarray,
    params: dict[str, Any],
    config: Config,
    keep: np.ndarray | None = None,
    memory: np.ndarray | None = None,
    memory_keep: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs.

    keep broadcasts to (..., n, n), memory_keep to (..., n, m). Raises TypeError or ValueError as the layers do.
    """
    caches = []
    for layer in params["layers"]:
        own = sublayers.self_attention(layer["self_attention"], config, keep)
        across = None
        if memory is not None:
            across = sublayers.cross_attention(memory, layer["cross_attention"], config, memory_keep)
        x, cache = layer_forward(x, layer, config, own, across, rng)
        caches.append(cache)
    y, norm = sublayers.final_norm(x, params, config)
    return y, Cache(caches, norm)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray | None, Tree]:
    """The gradients of <dy, y> with respect to x, the memory (None without one) and the parameters."""
    dx, dnorm = sublayers.pull_final_norm(dy, cache.norm)
    dmemory = None
    dlayers = []
    for each in reversed(cache.layers):
        dx, dread, dlayer = layer_backward(dx, each)
        dlayers.append(dlayer)
        # forward: every layer read the same memory; so now it collects what each of them sends back
        if dmemory is None:
            dmemory = dread
        else:
            dmemory += dread
    return dx, dmemory, {"layers": dlayers[::-1], **dnorm}


def layer_forward(
    x: np.ndarray,
    params: dict[str, Any],
    config: Config,
    self_attention: residual.Sublayer,
    cross_attention: residual.Sublayer | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, LayerCache]:
    """One layer of the stack, given its attention: over all tokens at once, or over the cached ones (decoding.py)."""
    x, first = sublayers.connect(x, self_attention, params["self_attention_norm"], config, rng)
    second = None
    if cross_attention is not None:
        x, second = sublayers.connect(x, cross_attention, params["cross_attention_norm"], config, rng)
    transformation = sublayers.position_wise(params["feed_forward"], config)
    y, third = sublayers.connect(x, transformation, params["feed_forward_norm"], config, rng)
    return y, LayerCache(first, second, third)


def layer_backward(dy: np.ndarray, cache: LayerCache) -> tuple[np.ndarray, np.ndarray | None, Tree]:
    """The gradients of one layer: of x, of the memory, and of its parameters by name."""
    dx, dthird, (dtransformation,) = sublayers.disconnect(dy, cache.feed_forward, sublayers.pull_position_wise)
    dmemory, crossing = None, {}
    if cache.cross_attention is not None:
        dx, dsecond, (dmemory, dcross) = sublayers.disconnect(dx, cache.cross_attention, sublayers.pull_cross_attention)
        crossing = {"cross_attention": dcross, "cross_attention_norm": dsecond}
    dx, dfirst, (dattention,) = sublayers.disconnect(dx, cache.self_attention, sublayers.pull_self_attention)
    return (
        dx,
        dmemory,
        {
            "self_attention": dattention,
            "self_attention_norm": dfirst,
            **crossing,
            "feed_forward": dtransformation,
            "feed_forward_norm": dthird,
        },
    )

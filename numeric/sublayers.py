"""What the layers of encoder and decoder are made of: attention or feed-forward, each inside a residual connection.

A sublayer is a function of its input alone, u -> (f(u), its cache), as layers/residual.py takes it; its pull goes
back. A generator `rng` means training: what a sublayer gives is thinned by dropout (Vaswani et al. 2017, section
5.4). Without one nothing is dropped.
"""

from typing import Any

import numpy as np

from .config import Config
from .layers import dropout, feed_forward, layer_norm, multi_head, residual
from .parameters import Tree

FEED_FORWARD = ("W_1", "b_1", "W_2", "b_2")


def self_attention(params: dict[str, Any], config: Config, keep: np.ndarray | None) -> residual.Sublayer:
    weights = multi_head.Weights(**params)
    return lambda u: multi_head.forward(u, u, weights, config.n_heads, config.n_groups, keep)


def pull_self_attention(df: np.ndarray, cache: multi_head.Cache) -> tuple[np.ndarray, Tree]:
    du, dm, dweights = multi_head.backward(df, cache)
    # forward: u gave the queries, and the keys and values too; so now it takes both cotangents
    du += dm
    return du, _named(dweights)


def cross_attention(
    memory: np.ndarray, params: dict[str, Any], config: Config, keep: np.ndarray | None
) -> residual.Sublayer:
    weights = multi_head.Weights(**params)
    return lambda u: multi_head.forward(u, memory, weights, config.n_heads, config.n_groups, keep)


def pull_cross_attention(df: np.ndarray, cache: multi_head.Cache) -> tuple[np.ndarray, np.ndarray, Tree]:
    """The gradients of the input, of the memory, and of the parameters."""
    du, dmemory, dweights = multi_head.backward(df, cache)
    return du, dmemory, _named(dweights)


def position_wise(params: dict[str, Any], config: Config) -> residual.Sublayer:
    """The feed-forward layer."""
    W_1, b_1, W_2, b_2 = (params[name] for name in FEED_FORWARD)
    return lambda u: feed_forward.forward(u, W_1, b_1, W_2, b_2, config.activation)


def pull_position_wise(df: np.ndarray, cache: feed_forward.Cache) -> tuple[np.ndarray, Tree]:
    du, *gradients = feed_forward.backward(df, cache)
    return du, dict(zip(FEED_FORWARD, gradients, strict=True))


# Around a sublayer, and after the last one


def connect(
    x: np.ndarray, sublayer: residual.Sublayer, norm: dict[str, Any], config: Config, rng: np.random.Generator | None
) -> tuple[np.ndarray, residual.Cache]:
    """LN(x + dropout(f(x))), or x + dropout(f(LN(x))) for pre-norm."""
    keep = keep_some(x.shape, config, rng)
    return residual.forward(x, sublayer, norm["gain"], norm["bias"], config.norm, config.eps, keep, config.dropout)


def disconnect(
    dy: np.ndarray, cache: residual.Cache, pull: residual.Pull
) -> tuple[np.ndarray, dict[str, np.ndarray], tuple[Any, ...]]:
    """The gradients of x and of the norm, and what else the pull gives, besides the gradient of its input."""
    dx, dgain, dbias, others = residual.backward(dy, cache, pull)
    return dx, {"gain": dgain, "bias": dbias}, others


def keep_some(shape: tuple[int, ...], config: Config, rng: np.random.Generator | None) -> np.ndarray | None:
    """A mask for dropout, or None where nothing is to be dropped."""
    return None if rng is None or config.dropout == 0 else dropout.draw(shape, config.dropout, rng)


def final_norm(x: np.ndarray, params: dict[str, Any], config: Config) -> tuple[np.ndarray, layer_norm.Cache | None]:
    """The norm after the last layer, where the parameters have one."""
    if "norm" not in params:
        return x, None
    return layer_norm.forward(x, params["norm"]["gain"], params["norm"]["bias"], config.eps)


def pull_final_norm(dy: np.ndarray, cache: layer_norm.Cache | None) -> tuple[np.ndarray, dict[str, Any]]:
    """The gradient of x, and the gradients as they stand beside those of the layers."""
    if cache is None:
        return dy, {}
    dx, dgain, dbias = layer_norm.backward(dy, cache)
    return dx, {"norm": {"gain": dgain, "bias": dbias}}


def _named(weights: multi_head.Weights) -> Tree:
    return {name: array for name, array in weights._asdict().items() if array is not None}

"""The cases of every layer. One line each: layer, variant, shapes, call; `backward` is the layer's own unless it is
given.

Sizes are small and of all different lengths where they may be, so that no two axes can be mistaken for each other.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..layers import (
    activations,
    attention,
    blocked_attention,
    cross_entropy,
    dropout,
    embedding,
    feed_forward,
    layer_norm,
    linear,
    log_softmax,
    masking,
    multi_head,
    positional_encoding,
    residual,
    rms_norm,
    rotary,
    softmax,
    unembedding,
)
from .case import Case, Shape

KEEP = np.array(
    [[True, False, True, True], [False, False, False, False], [True, True, False, True]]
)  # a row keeps none
TOKENS = np.array([[1, 4, 1], [0, 2, 1]])  # of 5, one repeated, one absent
TARGETS = np.array([[1, 2, 0], [-100, 3, 1]])  # a row does not count
KEPT = np.array([[True, False, True, True], [True, True, False, False], [False, True, True, True]])
POSITIONS = np.array([0, 1, 5])


# A case of a layer


def _of(layer: ModuleType, variant: str, forward: Callable[..., Any], **shapes: Shape) -> Case:
    def backward(cotangent: np.ndarray, cache: Any) -> Any:
        return layer.backward(cotangent, cache)

    return Case(layer.__name__.rpartition(".")[2], variant, shapes, forward, backward)


def _activation(name: str) -> Case:
    names = activations.FUNCTIONS[name].inputs
    return _of(activations, name, lambda *x: activations.forward(name, *x), **dict.fromkeys(names, (3, 4)))


def _feed_forward(activation: str) -> Case:
    return _of(
        feed_forward, activation, lambda x, W_1, b_1, W_2, b_2: feed_forward.forward(x, W_1, b_1, W_2, b_2, activation),
        x=(2, 3, 4), W_1=(4, 5), b_1=(5,), W_2=(5, 2), b_2=(2,),
    )  # fmt: skip


def _multi_head(variant: str, heads: int, groups: int, d_k: int, keep: np.ndarray | None = None) -> Case:
    columns = {"q": heads * d_k, "k": groups * d_k, "v": groups * 3, "o": 5}
    rows = {"q": 3, "k": 4, "v": 4, "o": heads * 3}
    shapes: dict[str, Shape] = {"x": (3, 3), "m": (4, 4)}
    shapes |= {f"w_{each}": (rows[each], columns[each]) for each in columns}
    if variant.endswith("biased"):
        shapes |= {f"b_{each}": (columns[each],) for each in columns}
    return _of(
        multi_head,
        variant,
        lambda x, m, *each: multi_head.forward(x, m, multi_head.Weights(*each), heads, groups, keep),
        **shapes,
    )


def _residual(variant: str, keep: np.ndarray | None = None) -> Case:
    """The sublayer is linear, so that it has parameters of its own."""
    placement = variant.partition("_")[0]

    def forward(
        x: np.ndarray, gain: np.ndarray, bias: np.ndarray, W: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, Any]:
        return residual.forward(x, lambda u: linear.forward(u, W, b), gain, bias, placement, keep=keep, rate=0.25)

    def backward(cotangent: np.ndarray, cache: Any) -> Any:
        return residual.backward(cotangent, cache, linear.backward)

    shapes = {"x": (3, 4), "gain": (4,), "bias": (4,), "W": (4, 4), "b": (4,)}
    return Case("residual", variant, shapes, forward, backward)


def layer_cases() -> list[Case]:
    qkv: dict[str, Shape] = {"q": (3, 2), "k": (4, 2), "v": (4, 3)}
    shared: dict[str, Shape] = {"q": (2, 3, 2), "k": (1, 4, 2), "v": (4, 3)}
    normed: dict[str, Shape] = {"x": (2, 3, 4), "gain": (4,), "bias": (4,)}
    return [
        _of(softmax, "rows", lambda z: softmax.forward(z), z=(3, 4)),
        _of(softmax, "columns_cooler", lambda z: softmax.forward(z, 0, 0.5), z=(3, 4)),
        _of(log_softmax, "rows", lambda z: log_softmax.forward(z), z=(3, 4)),
        _of(log_softmax, "columns_warmer", lambda z: log_softmax.forward(z, 0, 3.0), z=(3, 4)),
        _of(layer_norm, "rows", lambda x, gain, bias: layer_norm.forward(x, gain, bias), **normed),
        _of(layer_norm, "large_eps", lambda x, gain, bias: layer_norm.forward(x, gain, bias, 0.5), **normed),
        _of(rms_norm, "rows", lambda x, gain: rms_norm.forward(x, gain), x=(2, 3, 4), gain=(4,)),
        _of(rms_norm, "large_eps", lambda x, gain: rms_norm.forward(x, gain, 0.5), x=(3, 4), gain=(4,)),
        _of(linear, "batch", lambda x, W, b: linear.forward(x, W, b), x=(2, 3, 4), W=(4, 5), b=(5,)),
        *map(_activation, activations.FUNCTIONS),
        *map(_feed_forward, feed_forward.ACTIVATIONS),
        _of(masking, "causal", lambda z: masking.forward(z, masking.causal(3, 4)), z=(3, 4)),
        _of(masking, "row_without_key", lambda z: masking.forward(z, KEEP), z=(3, 4)),
        _of(attention, "all_keys", lambda q, k, v: attention.forward(q, k, v), **qkv),
        _of(attention, "row_without_key", lambda q, k, v: attention.forward(q, k, v, KEEP), **qkv),
        _of(attention, "shared_keys", lambda q, k, v: attention.forward(q, k, v), **shared),
        _of(blocked_attention, "all_keys", lambda q, k, v: blocked_attention.forward(q, k, v, block=2), **qkv),
        _of(blocked_attention, "row_without_key", lambda q, k, v: blocked_attention.forward(q, k, v, KEEP, 2), **qkv),
        _of(blocked_attention, "causal", lambda q, k, v: blocked_attention.forward(q, k, v, "causal", 2), **qkv),
        _of(blocked_attention, "shared_keys", lambda q, k, v: blocked_attention.forward(q, k, v, block=3), **shared),
        _multi_head("two_heads", 2, 2, 2),
        _multi_head("grouped_biased", 4, 2, 1, masking.causal(3, 4)),
        _residual("post"),
        _residual("pre"),
        _residual("post_dropout", KEPT),
        _residual("pre_dropout", KEPT),
        _of(dropout, "quarter", lambda x: dropout.forward(x, KEPT, 0.25), x=(3, 4)),
        _of(embedding, "scaled", lambda table: embedding.forward(table, TOKENS), table=(5, 3)),
        _of(embedding, "unscaled", lambda table: embedding.forward(table, TOKENS, scaled=False), table=(5, 3)),
        _of(unembedding, "batch", lambda y, table: unembedding.forward(y, table), y=(2, 3, 4), table=(5, 4)),
        _of(cross_entropy, "hard", lambda z: cross_entropy.forward(z, TARGETS), logits=(2, 3, 4)),
        _of(cross_entropy, "smoothed", lambda z: cross_entropy.forward(z, TARGETS, smoothing=0.25), logits=(2, 3, 4)),
        _of(positional_encoding, "sinusoids", lambda x: positional_encoding.forward(x), x=(3, 4)),
        _of(rotary, "positions", lambda x: rotary.forward(x, POSITIONS), x=(2, 3, 4)),
    ]

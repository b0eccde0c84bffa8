"""The layers as nodes of a graph that remembers the way back, so that wrong formulas are wirings of right parts.

An output is what a wiring computes; its gradients come by walking the graph back from there. Where a wiring cuts a way
back (`detached`), or changes what passes it (`on_the_way_back`), only the gradients are wrong. On floats, balls and jets.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from ...arithmetic import zeros
from ...layers import embedding, feed_forward, layer_norm, multi_head, positional_encoding, unembedding

Pull = Callable[[Any], tuple[Any, ...]]

_order = count()


class Node:
    """A value, what it was computed from, and what takes its cotangent to theirs."""

    def __init__(self, value: Any, parents: Sequence["Node"] = (), pull: Pull | None = None) -> None:
        self.value, self.parents, self.pull, self.order = value, tuple(parents), pull, next(_order)

    def __add__(self, other: "Node") -> "Node":
        return Node(self.value + other.value, (self, other), lambda dy: (dy, dy))

    def times(self, factor: Any) -> "Node":
        """By a number, or an array of constants."""
        return Node(self.value * factor, (self,), lambda dy: (dy * factor,))

    def moved(self, move: Callable[[Any], Any], back: Callable[[Any], Any]) -> "Node":
        """Its entries in other places."""
        return Node(move(self.value), (self,), lambda dy: (back(dy),))

    @property
    def transposed(self) -> "Node":
        return self.moved(np.transpose, np.transpose)


def detached(x: Node) -> Node:
    """The same value, without a way back."""
    return Node(x.value)


def on_the_way_back(x: Node, change: Callable[[Any], Any]) -> Node:
    """The same value, with its cotangent changed."""
    return Node(x.value, (x,), lambda dy: (change(dy),))


def gradients(output: Node, dy: Any, inputs: Sequence[Node]) -> tuple[Any, ...]:
    """Of <dy, output>, for each of the inputs; zeros where no way leads back."""
    cotangents: dict[Node, Any] = {output: dy}
    waiting = {output}
    while waiting:
        node = max(waiting, key=lambda each: each.order)  # all that used it came later
        waiting.remove(node)
        if node.pull is None:
            continue
        for parent, part in zip(node.parents, node.pull(cotangents[node]), strict=True):
            cotangents[parent] = cotangents[parent] + part if parent in cotangents else part
            waiting.add(parent)
    return tuple(cotangents[each] if each in cotangents else zeros(each.value.shape, dy.dtype) for each in inputs)


# Layers

Weights = tuple[Node, Node, Node, Node]


def attention(q: Node, k: Node, v: Node, weights: Weights, heads: int, keep: Any) -> Node:
    """Multi-head attention of tokens q to tokens that give keys and others that give values."""
    if k is v:
        y, cache = _attention(q.value, k.value, [each.value for each in weights], heads, keep)

        def pull(dy: Any) -> tuple[Any, ...]:
            dq, dm, dweights = multi_head.backward(dy, cache)
            return dq, dm, *dweights[:4]

        return Node(y, (q, k, *weights), pull)
    return _of_two(q, k, v, weights, heads, keep)


def _of_two(q: Node, k: Node, v: Node, weights: Weights, heads: int, keep: Any) -> Node:
    """Tokens for keys and for values side by side, each with zeros for rows of the other's weights."""
    w_q, w_k, w_v, w_o = (each.value for each in weights)
    d = len(w_k)
    nothing = zeros((d, w_k.shape[1]), w_k.dtype)
    wide = [w_q, np.concatenate([w_k, nothing]), np.concatenate([nothing, w_v]), w_o]
    y, cache = _attention(q.value, np.concatenate([k.value, v.value], -1), wide, heads, keep)

    def pull(dy: Any) -> tuple[Any, ...]:
        dq, dm, (dw_q, dw_k, dw_v, dw_o, *_) = multi_head.backward(dy, cache)
        return dq, dm[..., :d], dm[..., d:], dw_q, dw_k[:d], dw_v[d:], dw_o

    return Node(y, (q, k, v, *weights), pull)


def _attention(x: Any, m: Any, weights: Sequence[Any], heads: int, keep: Any) -> Any:
    return multi_head.forward(x, m, multi_head.Weights(*weights), heads, None, keep)


def fed(x: Node, w1: Node, b1: Node, w2: Node, b2: Node, activation: str) -> Node:
    y, cache = feed_forward.forward(x.value, w1.value, b1.value, w2.value, b2.value, activation)
    return Node(y, (x, w1, b1, w2, b2), lambda dy: feed_forward.backward(dy, cache))


def normalised(x: Node, gain: Node, bias: Node, eps: Any) -> Node:
    y, cache = layer_norm.forward(x.value, gain.value, bias.value, eps)
    return Node(y, (x, gain, bias), lambda dy: layer_norm.backward(dy, cache))


def embedded(table: Node, ids: np.ndarray, scaled: bool = True) -> Node:
    y, cache = embedding.forward(table.value, ids, scaled)
    return Node(y, (table,), lambda dy: (embedding.backward(dy, cache),))


def with_positions(x: Node, start: int = 0, base: float = 10000.0) -> Node:
    y, cache = positional_encoding.forward(x.value, base, start)
    return Node(y, (x,), lambda dy: (positional_encoding.backward(dy, cache),))


def read_out(y: Node, table: Node) -> Node:
    z, cache = unembedding.forward(y.value, table.value)
    return Node(z, (y, table), lambda dz: unembedding.backward(dz, cache))

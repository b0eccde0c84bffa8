"""The orders in which a correct implementation may evaluate a Transformer, as bounds.

Layers as in `_layer_orders`; embeddings times sqrt(d), rounded or not, plus sines and cosines as in `positional_encoding`.
The gradient of the table adds up what comes from source, target and logits, token by token or part by part.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..formats import Precision
from ..rounding import Rounded, any_of, interleaved
from . import _layer_orders
from ._angles import angle_bounds
from ._attention_orders import transposed
from ._embedding_orders import gathered
from ._layer_orders import added
from ._layer_parameters import FEED_FORWARD, NORM, PROJECTIONS
from ._multi_head_orders import weight_gradient
from ._transformer_parameters import LAYERS

Gradients = dict[str, Rounded]
Tree = Mapping[str, Rounded]
Sublayers = Mapping[str, Callable[[str], _layer_orders.Sublayer]]


def embedded(table: Rounded, ids: np.ndarray) -> Rounded:
    """sqrt(d) table[ids] + PE."""
    (n, d), precision = (ids.shape[1], table.value.shape[1]), table.precision
    rows = table.rearranged(lambda part: part[ids]) * Rounded.given(math.sqrt(d), precision)
    return rows + encoding(precision, n, d)


def encoding(precision: Precision, n: int, d: int) -> Rounded:
    angles = any_of(angle_bounds(precision, np.arange(n), d, 10000.0))
    return interleaved(angles.sin(), angles.cos()).within(precision)


def gradient_of_table(
    embeddings: Sequence[tuple[Rounded, np.ndarray]], table: Rounded, y: Rounded, dz: Rounded
) -> Rounded:
    """`embeddings` are cotangents and the ids that they belong to."""
    factor = Rounded.given(math.sqrt(table.value.shape[1]), table.precision)
    rows = len(table.value)
    from_logits = weight_gradient(dz, y)
    parts = [any_of([gathered(g, ids, rows) * factor, gathered(g * factor, ids, rows)]) for g, ids in embeddings]
    # added up token by token, and product by product, in one place
    terms = sum(ids.size for _, ids in embeddings) + math.prod(dz.value.shape[:-1])
    size = np.abs(np.swapaxes(dz.value, -1, -2)) @ np.abs(y.value)
    total = size.sum(0) + sum(gathered(g.magnitude(), ids, rows).value * np.abs(factor.value) for g, ids in embeddings)
    return added(*parts, from_logits).loosened(2 * terms * table.precision.wide.unit * total)


def encoder(p: Tree, x: Rounded, keep: Any, heads: int, order: str, eps: float) -> tuple[Rounded, Any]:
    """y; the pull gives dx, None, and the gradients of the parameters by name."""
    parts: Sublayers = {
        "self_attention": lambda place: _layer_orders.self_attention(_of(p, place, PROJECTIONS), heads, keep),
        "feed_forward": lambda place: _fed(p, place),
    }
    return _stack(p, "encoder", x, parts, order, eps)


def decoder(
    p: Tree, x: Rounded, memory: Rounded, keep: Any, memory_keep: Any, heads: int, order: str, eps: float
) -> tuple[Rounded, Any]:
    """y; the pull gives dx, dmemory, and the gradients of the parameters by name."""
    parts: Sublayers = {
        "self_attention": lambda place: _layer_orders.self_attention(_of(p, place, PROJECTIONS), heads, keep),
        "cross_attention": lambda place: _layer_orders.cross_attention(
            memory, _of(p, place, PROJECTIONS), heads, memory_keep
        ),
        "feed_forward": lambda place: _fed(p, place),
    }
    return _stack(p, "decoder", x, parts, order, eps)


def _of(p: Tree, place: str, names: Sequence[str]) -> tuple[Rounded, ...]:
    return tuple(p[f"{place}.{name}"] for name in names)


def _fed(p: Tree, place: str) -> _layer_orders.Sublayer:
    return _layer_orders.feed_forward(_of(p, place, FEED_FORWARD), "relu")


def _stack(p: Tree, stack: str, x: Rounded, parts: Sublayers, order: str, eps: float) -> tuple[Rounded, Any]:
    pulls = []
    for layer in range(LAYERS):
        for name, sublayer in parts.items():
            place = f"{stack}.layers.{layer}.{name}"
            x, pull = _layer_orders.connected(x, sublayer(place), _of(p, f"{place}_norm", NORM), order, eps)
            pulls.append((place, name, pull))
    last = None
    if f"{stack}.norm.gain" in p:
        x, last = _layer_orders.normalised(x, _of(p, f"{stack}.norm", NORM), eps)

    def pull_all(dy: Rounded) -> tuple[Rounded, Rounded | None, Gradients]:
        found: Gradients = {}
        read: list[Rounded] = []
        if last is not None:
            dy, *of_norm = last(dy)
            found |= _named(f"{stack}.norm", NORM, of_norm)
        for place, name, pull in reversed(pulls):
            dy, dgain, dbias, *others = pull(dy)
            if name == "cross_attention":
                read.append(others.pop(0))
            found |= _named(place, FEED_FORWARD if name == "feed_forward" else PROJECTIONS, others)
            found |= _named(f"{place}_norm", NORM, (dgain, dbias))
        return dy, added(*read) if read else None, found

    return x, pull_all


def _named(place: str, names: Sequence[str], arrays: Sequence[Rounded]) -> Gradients:
    return {f"{place}.{name}": array for name, array in zip(names, arrays, strict=True)}


def logits(y: Rounded, table: Rounded) -> Rounded:
    return y @ transposed(table)

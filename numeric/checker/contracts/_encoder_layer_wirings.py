"""Wrong wirings of a layer of the encoder, for `_encoder_layer_mistakes`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._layer_faults import (
    back_as,
)
from ._layer_wiring import EncoderLayer, gradients_of, output_of
from ._tape import Node, detached

Wire = Callable[[EncoderLayer], Node]


def first(attend: Callable[[EncoderLayer], Any]) -> Wire:
    """With another attention."""
    return lambda l: l.second(l.around(1, attend(l), l.x))


def second(feed: Callable[[EncoderLayer], Any]) -> Wire:
    """With another feed-forward layer."""
    return lambda l: l.around(2, feed(l), l.first(l.x))


def of_order(order: str) -> Wire:
    return lambda l: l.around(2, l.fed, l.around(1, l.attend, l.x, order=order), order=order)


def other_order(l: EncoderLayer) -> Node:
    return of_order("pre" if l.post else "post")(l)


def both_norms(l: EncoderLayer) -> Node:
    x1 = l.norm(1, l.x + l.attend(l.norm(1, l.x)))
    return l.norm(2, x1 + l.fed(l.norm(2, x1)))


def norm_of_sublayers(l: EncoderLayer) -> Node:
    x1 = l.x + l.norm(1, l.attend(l.x))
    return x1 + l.norm(2, l.fed(x1))


def norms(first: int, second: int) -> Wire:
    return lambda l: l.around(second, l.fed, l.around(first, l.attend, l.x))


def fed_unnormalised(l: EncoderLayer) -> Node:
    if not l.post:
        x1 = l.first(l.x)
        return x1 + l.fed(x1)
    total = l.x + l.attend(l.x)
    return l.norm(2, l.norm(1, total) + l.fed(total))


def attended_unnormalised(l: EncoderLayer) -> Node:
    return l.second(l.first(l.x) if l.post else l.x + l.attend(l.x))


def keys_unnormalised(l: EncoderLayer) -> Node:
    return l.second(l.first(l.x) if l.post else l.x + l.attend(l.norm(1, l.x), l.x, l.x))


def values_unnormalised(l: EncoderLayer) -> Node:
    if l.post:
        return l.output()
    u = l.norm(1, l.x)
    return l.second(l.x + l.attend(u, u, l.x))


def skip_normalised(l: EncoderLayer) -> Node:
    if l.post:
        return l.output()
    u = l.norm(1, l.x)
    x1 = u + l.attend(u)
    v = l.norm(2, x1)
    return v + l.fed(v)


def skip_past_norm(l: EncoderLayer) -> Node:
    """Post-norm whose second sum takes x1 before its norm."""
    if not l.post:
        return l.output()
    total = l.x + l.attend(l.x)
    return l.norm(2, total + l.fed(l.norm(1, total)))


def parallel(l: EncoderLayer) -> Node:
    if l.post:
        return l.norm(2, l.x + l.attend(l.x) + l.fed(l.x))
    return l.x + l.attend(l.norm(1, l.x)) + l.fed(l.norm(2, l.x))


def fed_first(l: EncoderLayer) -> Node:
    return l.around(1, l.attend, l.around(2, l.fed, l.x))


def masked_by(keep: Callable[[Any, int], Any]) -> Wire:
    def attend(l: EncoderLayer) -> Any:
        return lambda u: l.attend(u, keep=keep(l.keep, u.value.shape[-2]))

    return first(attend)


def with_triangle(keep: Any, n: int) -> Any:
    triangle = np.tri(n, dtype=np.bool_)
    return triangle if keep is None else triangle & keep


# Gradients


def detached_attention(*which: str) -> Wire:
    """Without the ways back to x through queries, keys or values."""

    def attend(l: EncoderLayer) -> Any:
        def part(u: Node) -> Node:
            return l.attend(*(detached(u) if each in which else u for each in ("queries", "keys", "values")))

        return part

    return first(attend)


def weights_constant(l: EncoderLayer) -> Any:
    w_q, w_k, w_v, w_o = l.weights
    held = (detached(w_q), detached(w_k), w_v, w_o)
    return lambda u: l.attend(detached(u), detached(u), u, weights=held)


def unmasked(l: EncoderLayer) -> Any:
    return lambda u: back_as(l.attend(u), l.attend(u, keep=None))


def of_last(dy: Any, *inputs: Any, **options: Any) -> Any:
    """The parameters' gradients come from the last of the batch only."""
    right = gradients_of(EncoderLayer, EncoderLayer.output)
    mask = options["mask"]
    last = {**options, "mask": mask[-1:] if mask is not None and mask.ndim == 3 else mask}
    return (right(dy, *inputs, **options)[0], *right(dy[-1:], inputs[0][-1:], *inputs[1:], **last)[1:])


def output(wire: Wire) -> Any:
    return output_of(EncoderLayer, wire)


def backward(wire: Wire, change: Any = None) -> Any:
    return gradients_of(EncoderLayer, wire, change)


def fitted(change: Callable[[EncoderLayer, Any], Node]) -> Any:
    def formula(theta: Any, *inputs: Any, **options: Any) -> Any:
        return change(EncoderLayer(list(map(Node, inputs)), **options), theta).value

    return formula

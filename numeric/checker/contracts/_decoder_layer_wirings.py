"""Wrong wirings of a layer of the decoder, for `_decoder_layer_mistakes`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._layer_faults import (
    back_as,
)
from ._layer_wiring import DecoderLayer, gradients_of, output_of
from ._tape import Node, detached

Wire = Callable[[DecoderLayer], Node]


def first(attend: Callable[[DecoderLayer], Any]) -> Wire:
    """With another self-attention."""
    return lambda l: l.third(l.second(l.around(1, attend(l), l.x)))


def second(cross: Callable[[DecoderLayer], Any]) -> Wire:
    """With another attention to the memory."""
    return lambda l: l.third(l.around(2, cross(l), l.first(l.x)))


def third(feed: Callable[[DecoderLayer], Any]) -> Wire:
    """With another feed-forward layer."""
    return lambda l: l.around(3, feed(l), l.second(l.first(l.x)))


def parts(l: DecoderLayer) -> dict[int, Any]:
    return {1: l.attend, 2: l.cross, 3: l.fed}


def arranged(order: tuple[int, ...], norms: tuple[int, ...] = (), without_skip: tuple[int, ...] = ()) -> Wire:
    """The sublayers in this order, with these norms, some without a skip path."""

    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for number, norm in zip(order, norms or order, strict=True):
            x = (l.alone if number in without_skip else l.around)(norm, parts(l)[number], x)
        return x

    return wire


def of_order(order: str) -> Wire:
    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for number, part in parts(l).items():
            x = l.around(number, part, x, order=order)
        return x

    return wire


def other_order(l: DecoderLayer) -> Node:
    return of_order("pre" if l.post else "post")(l)


def both_norms(l: DecoderLayer) -> Node:
    x = l.x
    for number, part in parts(l).items():
        x = l.norm(number, x + part(l.norm(number, x)))
    return x


def norm_of_sublayers(l: DecoderLayer) -> Node:
    x = l.x
    for number, part in parts(l).items():
        x = x + l.norm(number, part(x))
    return x


def skip_normalised(l: DecoderLayer) -> Node:
    if l.post:
        return l.output()
    x = l.x
    for number, part in parts(l).items():
        u = l.norm(number, x)
        x = u + part(u)
    return x


def second_skip_from_input(l: DecoderLayer) -> Node:
    return l.third(l.around(2, l.cross, l.first(l.x), skip=l.x))


def third_skip_from_first(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    return l.around(3, l.fed, l.second(x1), skip=x1)


def third_skip_from_input(l: DecoderLayer) -> Node:
    return l.around(3, l.fed, l.second(l.first(l.x)), skip=l.x)


def attentions_side_by_side(l: DecoderLayer) -> Node:
    if l.post:
        return l.third(l.norm(2, l.x + l.attend(l.x) + l.cross(l.x)))
    return l.third(l.x + l.attend(l.norm(1, l.x)) + l.cross(l.norm(2, l.x)))


def queries_of_input(l: DecoderLayer) -> Node:
    """The attention to the memory asks for x, not for x1."""
    x1 = l.first(l.x)
    return l.third(l.norm(2, x1 + l.cross(l.x)) if l.post else x1 + l.cross(l.norm(2, l.x)))


def fed_unnormalised(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    if not l.post:
        x2 = l.second(x1)
        return x2 + l.fed(x2)
    total = x1 + l.cross(x1)
    return l.norm(3, l.norm(2, total) + l.fed(total))


def queries_unnormalised(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    return l.third(l.second(x1) if l.post else x1 + l.cross(x1))


def keys_and_values_unnormalised(l: DecoderLayer) -> Node:
    if l.post:
        return l.output()
    return l.third(l.second(l.x + l.attend(l.norm(1, l.x), l.x, l.x)))


def memory_normalised(l: DecoderLayer) -> Any:
    memory = l.norm(2, l.memory)
    return lambda u: l.cross(u, memory, memory)


def self_for_cross(l: DecoderLayer) -> Any:
    return lambda u: l.attend(u, weights=l.across, keep=None)


def values_of_itself(l: DecoderLayer) -> Any:
    """Keys of the memory, values of the tokens; where there are as many of them, else as it should be."""
    return lambda u: l.cross(u, None, u) if u.value.shape == l.memory.value.shape else l.cross(u)


def memory_masked_by(keep: Callable[[DecoderLayer, int, int], Any]) -> Wire:
    def cross(l: DecoderLayer) -> Any:
        return lambda u: l.cross(u, keep=keep(l, u.value.shape[-2], l.memory.value.shape[-2]))

    return second(cross)


def masked_by(keep: Callable[[DecoderLayer, int], Any]) -> Wire:
    def attend(l: DecoderLayer) -> Any:
        return lambda u: l.attend(u, keep=keep(l, u.value.shape[-2]))

    return first(attend)


def both(keep: Any, other: Any) -> Any:
    return other if keep is None else keep & other


def either(l: DecoderLayer, n: int) -> Any:
    return np.tri(n, dtype=np.bool_) if l.mask is None else l.mask | np.tri(n, dtype=np.bool_)


# Gradients


def detached_tokens(*which: str) -> Wire:
    """Without the ways back through queries, keys or values of the self-attention."""

    def attend(l: DecoderLayer) -> Any:
        def part(u: Node) -> Node:
            return l.attend(*(detached(u) if each in which else u for each in ("queries", "keys", "values")))

        return part

    return first(attend)


def detached_memory(keys: bool, values: bool) -> Wire:
    def cross(l: DecoderLayer) -> Any:
        given = [detached(l.memory) if each else l.memory for each in (keys, values)]
        return lambda u: l.cross(u, *given)

    return second(cross)


def detached_skip(number: int) -> Wire:
    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for each, part in parts(l).items():
            x = l.around(each, part, x, skip=detached(x) if each == number else None)
        return x

    return wire


def past(number: int) -> Wire:
    """Without the way back through a sublayer to the tokens that it reads."""

    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for each, part in parts(l).items():
            x = l.around(each, _blind(part) if each == number else part, x)
        return x

    return wire


def _blind(part: Any) -> Any:
    return lambda u: part(detached(u))


def weights_constant(l: DecoderLayer) -> Any:
    w_q, w_k, w_v, w_o = l.across
    held = (detached(w_q), detached(w_k), w_v, w_o)
    return lambda u: l.cross(detached(u), detached(l.memory), l.memory, weights=held)


def without_triangle(l: DecoderLayer) -> Any:
    return lambda u: back_as(l.attend(u), l.attend(u, keep=l.mask))


def without_memory_mask(l: DecoderLayer) -> Any:
    return lambda u: back_as(l.cross(u), l.cross(u, keep=None))


def output(wire: Wire) -> Any:
    return output_of(DecoderLayer, wire)


def backward(wire: Wire, change: Any = None) -> Any:
    return gradients_of(DecoderLayer, wire, change)


def transposed(weights: Any) -> Any:
    return tuple(each.transposed for each in weights)


def fitted(change: Callable[[DecoderLayer, Any], Node]) -> Any:
    def formula(theta: Any, *inputs: Any, **options: Any) -> Any:
        return change(DecoderLayer(list(map(Node, inputs)), **options), theta).value

    return formula

"""Wrong wirings of a Transformer around its layers, for `_transformer_mistakes`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import widen
from ._attention_formulas import root
from ._layer_faults import back_as, scaled
from ._layer_wiring import EncoderLayer
from ._tape import Node, detached, embedded, on_the_way_back
from ._transformer_inputs import encoding, plus
from ._transformer_wiring import Transformer, Wire, gradients_of, output_of, plain_norm


def replaced(
    source: Any = None, target: Any = None, memory: Any = None, hidden: Any = None, logits: Any = None
) -> Wire:
    """With one step or another replaced: each is a function of the Transformer and, but for the first two, of what came before."""

    def wire(t: Transformer) -> Node:
        x = source(t) if source else t.source
        m = memory(t, x) if memory else t.encode(x)
        y = target(t) if target else t.target
        h = hidden(t, y, m) if hidden else t.decode(y, m)
        return logits(t, h) if logits else t.read(h)

    return wire


def on_both(embed: Callable[[Transformer, np.ndarray], Node]) -> Wire:
    return replaced(lambda t: embed(t, t.src), lambda t: embed(t, t.tgt))


def changed(**attributes: Any) -> Wire:
    def wire(t: Transformer) -> Node:
        for name, value in attributes.items():
            setattr(t, name, value)
        return t.logits()

    return wire


def layers_changed(change: Callable[[Any], Any]) -> Wire:
    return changed(change=change)


def of_order(order: str) -> Wire:
    """With the norms after the last layers where there are some, for pre-norm only."""

    def wire(t: Transformer) -> Node:
        t.order = order
        final = order == "pre"
        return t.read(t.decode(t.target, t.encode(t.source, final=final), final=final))

    return wire


def norms_after_post(t: Transformer) -> Node:
    if not t.post:
        return t.logits()
    memory = plain_norm(t.encode(t.source), t.eps)
    return t.read(plain_norm(t.decode(t.target, memory), t.eps))


def norms_exchanged(t: Transformer) -> Node:
    x, y = (t.encode(t.source, final=False), t.target)
    return t.read(t.last_norm("encoder", t.decode(y, t.last_norm("decoder", x), final=False)))


def layer_by_layer(t: Transformer, y: Node, m: Node) -> Node:
    """Each layer of the decoder reads that of the encoder with its number."""
    x = t.source
    for number in range(2):
        x = t.encoder_layer(number, x).output()
        y = t.decoder_layer(number, y, t.last_norm("encoder", x) if number else x).output()
    return t.last_norm("decoder", y)


def positions_in_every_layer(t: Transformer, x: Node) -> Node:
    for number in range(2):
        x = t.encoder_layer(number, x if number == 0 else plus(x, encoding(t, np.arange(t.src.shape[1])))).output()
    return t.last_norm("encoder", x)


def log_softmax(z: Node) -> Node:
    work = widen(z.value)
    shifted = work - work.mean(-1, keepdims=True)
    return Node(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def without_mask(layer: Any) -> Any:
    """Of the decoder, that is."""
    if not isinstance(layer, EncoderLayer):
        layer.keep = None
    return layer


def unscaled(layer: Any) -> Any:
    number = root(layer.width, layer.x.value)
    attend = layer.attend
    layer.attend = lambda u: scaled(attend, layer.weights, number)(u)
    if not isinstance(layer, EncoderLayer):
        cross = layer.cross
        layer.cross = lambda u: scaled(cross, layer.across, number)(u)
    return layer


def activated(activation: str) -> Callable[[Any], Any]:
    def change(layer: Any) -> Any:
        layer.activation = activation
        return layer

    return change


def linear(layer: Any) -> Any:
    layer.fed = layer.linear
    return layer


# Gradients


def back_at(source: bool, target: bool, logits: bool) -> Wire:
    """With these ways back to the table."""

    def table(t: Transformer, kept: bool) -> Node:
        return t.table if kept else detached(t.table)

    def wire(t: Transformer) -> Node:
        memory = t.encode(t.embed(t.src, table=table(t, source)))
        y = t.decode(t.embed(t.tgt, table=table(t, target)), memory)
        return t.read(y) if logits else back_as(t.read(y), Node(0, (y,), lambda dz: (dz @ t.table.value,)))

    return wire


def unscaled_back(t: Transformer, ids: np.ndarray) -> Node:
    return back_as(t.embed(ids), t.embed(ids, scaled=False))


def last_occurrence(t: Transformer, ids: np.ndarray) -> Node:
    """A row takes the cotangent of one position, where it should add up those of all."""
    y = t.look_up(ids)
    _, back = np.unique(ids.ravel()[::-1], return_index=True)
    last = np.zeros(ids.size, np.bool_)
    last[ids.size - 1 - back] = True
    kept = last.reshape(*ids.shape, 1)
    return plus(on_the_way_back(y, lambda dy: np.where(kept, dy, 0 * dy)), encoding(t, np.arange(ids.shape[1])))


def memory_for(numbers: tuple[int, ...]) -> Any:
    """The ways back to the encoder, of these layers of the decoder only."""

    def hidden(t: Transformer, y: Node, m: Node) -> Node:
        for number in range(2):
            y = t.decoder_layer(number, y, m if number in numbers else detached(m)).output()
        return t.last_norm("decoder", y)

    return hidden


def layers_exchanged(found: dict[str, Any]) -> None:
    for name in list(found):
        if ".layers.0." in name:
            other = name.replace(".layers.0.", ".layers.1.")
            found[name], found[other] = found[other], found[name]


def output(wire: Wire) -> Any:
    return output_of(wire)


def backward(wire: Wire, change: Any = None) -> Any:
    return gradients_of(wire, change)


def first_reads(t: Transformer, y: Node, m: Node) -> Node:
    y = t.decoder_layer(0, y, m).output()
    second = t.decoder_layer(1, y, m)
    return t.last_norm("decoder", second.third(second.first(y)))


def inverted(t: Transformer) -> Transformer:
    if t.src_keep is not None:
        t.src_keep = t.memory_keep = ~t.src_keep
    return t


def triangle(keep: Any, n: int, m: int) -> Any:
    triangle = np.tri(n, m, dtype=np.bool_)
    return triangle if keep is None else keep & triangle


def causal_encoder(t: Transformer) -> Transformer:
    n = t.src.shape[1]
    t.src_keep = triangle(t.src_keep, n, n)
    return t


def causal_memory(t: Transformer) -> Transformer:
    t.memory_keep = triangle(t.memory_keep, t.tgt.shape[1], t.src.shape[1])
    return t


def first_half(z: Node) -> Node:
    first = np.arange(len(z.value))[:, None, None] < (len(z.value) + 1) // 2
    return on_the_way_back(z, lambda dz: np.where(first, dz, 0 * dz))


def fitted(change: Callable[[Transformer, Any], Node]) -> Any:
    def formula(theta: Any, src: Any, tgt: Any, *params: Any, **options: Any) -> Any:
        return change(Transformer(src, tgt, list(map(Node, params)), **options), theta).value

    return formula


def embedding_scaled(t: Transformer, theta: Any) -> Node:
    factor = theta / root(t.width, t.table.value)
    tables = [Node(embedded(t.table, ids).value * factor) for ids in (t.src, t.tgt)]
    x, y = (plus(each, encoding(t, np.arange(each.value.shape[1]))) for each in tables)
    return t.read(t.decode(y, t.encode(x)))


def with_eps(t: Transformer, theta: Any) -> Node:
    t.eps = theta
    return t.logits()

"""A Transformer written out over the nodes of `_tape`, layer by layer; what goes wrong in it is another wiring."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arithmetic import zeros
from ...layers import masking
from ._layer_wiring import DecoderLayer, EncoderLayer
from ._tape import Node, embedded, gradients, normalised, read_out, with_positions
from ._transformer_parameters import LAYERS, NAMES

Formula = Callable[..., Any]


class Transformer:
    """Its parts have the places as arguments at which they go wrong; the defaults are right."""

    def __init__(
        self,
        src: np.ndarray,
        tgt: np.ndarray,
        params: Sequence[Node],
        *,
        heads: int,
        src_mask: Any,
        order: str,
        eps: Any,
    ) -> None:
        self.src, self.tgt, self.params = src, tgt, dict(zip(NAMES, params, strict=True))
        self.heads, self.order, self.eps, self.activation = heads, order, eps, "relu"
        self.src_keep = self.memory_keep = None if src_mask is None else src_mask[:, None, :]
        self.change: Callable[[Any], Any] = lambda layer: layer  # made to every layer

    @property
    def post(self) -> bool:
        return self.order == "post"

    @property
    def table(self) -> Node:
        return self.params["embedding.table"]

    @property
    def width(self) -> int:
        return int(self.table.value.shape[1])

    def embed(self, ids: np.ndarray, scaled: bool = True, start: int = 0, table: Node | None = None) -> Node:
        return with_positions(self.look_up(ids, scaled, table), start)

    def look_up(self, ids: np.ndarray, scaled: bool = True, table: Node | None = None) -> Node:
        return embedded(table or self.table, ids, scaled)

    def encoder_layer(self, number: int, x: Node, **changes: Any) -> EncoderLayer:
        place = f"encoder.layers.{number}."
        parts = [node for name, node in self.params.items() if name.startswith(place)]
        return self.change(EncoderLayer([x, *parts], **{"mask": self.src_keep, **self._options, **changes}))

    def decoder_layer(self, number: int, x: Node, memory: Node, **changes: Any) -> DecoderLayer:
        place = f"decoder.layers.{number}."
        parts = [node for name, node in self.params.items() if name.startswith(place)]
        own, norm1, across, norm2, rest = parts[:4], parts[4:6], parts[6:10], parts[10:12], parts[12:]
        chosen = {"mask": None, "memory_mask": self.memory_keep, **self._options, **changes}
        return self.change(DecoderLayer([x, memory, *own, *across, *norm1, *norm2, *rest], **chosen))

    @property
    def _options(self) -> dict[str, Any]:
        return {"heads": self.heads, "activation": self.activation, "order": self.order, "eps": self.eps}

    def last_norm(self, stack: str, x: Node) -> Node:
        gain, bias = (self.params[f"{stack}.norm.{name}"] for name in ("gain", "bias"))
        return normalised(x, gain, bias, self.eps) if gain.value.size else x

    def encode(self, x: Node, layers: Sequence[int] = range(LAYERS), final: bool = True, **changes: Any) -> Node:
        for number in layers:
            x = self.encoder_layer(number, x, **changes).output()
        return self.last_norm("encoder", x) if final else x

    def decode(
        self, y: Node, memory: Node, layers: Sequence[int] = range(LAYERS), final: bool = True, **changes: Any
    ) -> Node:
        for number in layers:
            y = self.decoder_layer(number, y, memory, **changes).output()
        return self.last_norm("decoder", y) if final else y

    def read(self, y: Node) -> Node:
        return read_out(y, self.table)

    # From one step to the next, so that a wiring may begin anywhere

    @property
    def source(self) -> Node:
        return self.embed(self.src)

    @property
    def target(self) -> Node:
        return self.embed(self.tgt)

    @property
    def memory(self) -> Node:
        return self.encode(self.source)

    @property
    def hidden(self) -> Node:
        return self.decode(self.target, self.memory)

    def logits(self) -> Node:
        return self.read(self.hidden)


Wire = Callable[[Transformer], Node]


def output_of(wire: Wire) -> Formula:
    def formula(src: Any, tgt: Any, *params: Any, **options: Any) -> Any:
        return wire(Transformer(src, tgt, list(map(Node, params)), **options)).value

    return formula


def gradients_of(wire: Wire, change: Callable[[dict[str, Any]], None] | None = None) -> Formula:
    """`change` is made to the gradients by name."""

    def formula(dz: Any, src: Any, tgt: Any, *params: Any, **options: Any) -> Any:
        nodes = list(map(Node, params))
        found = dict(zip(NAMES, gradients(wire(Transformer(src, tgt, nodes, **options)), dz, nodes), strict=True))
        if change is not None:
            change(found)
        return tuple(found.values())

    return formula


def causal(t: Transformer) -> Any:
    return masking.causal(t.tgt.shape[1])


def plain_norm(x: Node, eps: Any) -> Node:
    """With gain 1 and bias 0."""
    nothing = zeros(x.value.shape[-1:], x.value.dtype)
    return normalised(x, Node(nothing + 1), Node(nothing), eps)

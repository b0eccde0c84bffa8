"""A layer of encoder or decoder, written out over the nodes of `_tape`; what goes wrong in it is another wiring."""

from collections.abc import Callable, Sequence
from typing import Any

from ._masks import kept
from ._tape import Node, Weights, attention, fed, gradients, normalised

Part = Callable[[Node], Node]
Formula = Callable[..., Any]


class Wiring:
    """Parameters of a layer, and its parts; `around` puts one of them into a residual connection."""

    def __init__(self, *, heads: int, activation: str, order: str, eps: Any) -> None:
        self.heads, self.activation, self.order, self.eps = heads, activation, order, eps
        self.x: Node
        self.norms: dict[int, tuple[Node, Node]] = {}
        self.feed_forward: tuple[Node, Node, Node, Node]

    @property
    def width(self) -> int:
        """Of a head."""
        return int(self.x.value.shape[-1]) // self.heads

    @property
    def post(self) -> bool:
        return self.order == "post"

    def norm(self, number: int, z: Node) -> Node:
        return normalised(z, *self.norms[number], self.eps)

    def fed(self, u: Node, activation: str | None = None) -> Node:
        return fed(u, *self.feed_forward, activation or self.activation)

    def linear(self, u: Node) -> Node:
        """The feed-forward layer without its activation, from relu(a) - relu(-a) = a."""
        w1, b1, w2, b2 = self.feed_forward
        positive = fed(u, w1, b1, w2, b2, "relu")
        negative = fed(u, w1.times(-1), b1.times(-1), w2.times(-1), b2.times(0), "relu")
        return positive + negative

    def around(self, number: int, f: Part, x: Node, skip: Node | None = None, order: str = "") -> Node:
        """LN(x + f(x)) or x + f(LN(x)), with `skip` for the x in the sum."""
        skip = x if skip is None else skip
        if (order or self.order) == "post":
            return self.norm(number, skip + f(x))
        return skip + f(self.norm(number, x))

    def alone(self, number: int, f: Part, x: Node) -> Node:
        """Without the residual connection."""
        return self.norm(number, f(x)) if self.post else f(self.norm(number, x))

    def bare(self, f: Part, x: Node) -> Node:
        """Without the norm."""
        return x + f(x)


class EncoderLayer(Wiring):
    def __init__(self, inputs: Sequence[Node], *, mask: Any, **options: Any) -> None:
        super().__init__(**options)
        self.x, w_q, w_k, w_v, w_o, gain1, bias1, w1, b1, w2, b2, gain2, bias2 = inputs
        self.weights: Weights = (w_q, w_k, w_v, w_o)
        self.norms = {1: (gain1, bias1), 2: (gain2, bias2)}
        self.feed_forward = (w1, b1, w2, b2)
        self.keep = mask

    def attend(self, u: Node, k: Node | None = None, v: Node | None = None, **changes: Any) -> Node:
        """`changes`: weights, heads, keep."""
        chosen = {"weights": self.weights, "heads": self.heads, "keep": self.keep, **changes}
        return attention(u, u if k is None else k, u if v is None else v, **chosen)

    def first(self, x: Node) -> Node:
        return self.around(1, self.attend, x)

    def second(self, x: Node) -> Node:
        return self.around(2, self.fed, x)

    def output(self) -> Node:
        return self.second(self.first(self.x))


class DecoderLayer(Wiring):
    def __init__(self, inputs: Sequence[Node], *, mask: Any, memory_mask: Any, **options: Any) -> None:
        super().__init__(**options)
        self.x, self.memory, *weights = inputs[:10]
        self.weights: Weights = tuple(weights[:4])  # type: ignore[assignment]
        self.across: Weights = tuple(weights[4:])  # type: ignore[assignment]
        gain1, bias1, gain2, bias2, w1, b1, w2, b2, gain3, bias3 = inputs[10:]
        self.norms = {1: (gain1, bias1), 2: (gain2, bias2), 3: (gain3, bias3)}
        self.feed_forward = (w1, b1, w2, b2)
        n = self.x.value.shape[-2]
        self.mask, self.keep, self.memory_keep = mask, kept(mask, True, (n, n)), memory_mask

    def attend(self, u: Node, k: Node | None = None, v: Node | None = None, **changes: Any) -> Node:
        chosen = {"weights": self.weights, "heads": self.heads, "keep": self.keep, **changes}
        return attention(u, u if k is None else k, u if v is None else v, **chosen)

    def cross(self, u: Node, k: Node | None = None, v: Node | None = None, **changes: Any) -> Node:
        chosen = {"weights": self.across, "heads": self.heads, "keep": self.memory_keep, **changes}
        return attention(u, self.memory if k is None else k, self.memory if v is None else v, **chosen)

    def first(self, x: Node) -> Node:
        return self.around(1, self.attend, x)

    def second(self, x: Node) -> Node:
        return self.around(2, self.cross, x)

    def third(self, x: Node) -> Node:
        return self.around(3, self.fed, x)

    def output(self) -> Node:
        return self.third(self.second(self.first(self.x)))


Layer = type[EncoderLayer] | type[DecoderLayer]


def output_of(layer: Layer, wire: Callable[[Any], Node]) -> Formula:
    def formula(*inputs: Any, **options: Any) -> Any:
        return wire(layer(list(map(Node, inputs)), **options)).value

    return formula


def gradients_of(layer: Layer, wire: Callable[[Any], Node], change: Callable[..., Any] | None = None) -> Formula:
    """`change` takes the gradients, a list in the order of the inputs, and the layer, to others."""

    def formula(dy: Any, *inputs: Any, **options: Any) -> Any:
        nodes = list(map(Node, inputs))
        wired = layer(nodes, **options)
        found = gradients(wire(wired), dy, nodes)
        return found if change is None else tuple(change(list(found), wired))

    return formula

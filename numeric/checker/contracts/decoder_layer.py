"""decoder_layer: x (B, n, d), memory (B, m, d) -> like x; self-attention, attention to the memory, feed-forward.

    order "post"    x1 = LN1(x + A(x))      x2 = LN2(x1 + C(x1, memory))        y = LN3(x2 + F(x2))
    order "pre"     x1 = x + A(LN1(x))      x2 = x1 + C(LN2(x1), memory)        y = x2 + F(LN3(x2))

A is multi-head attention of token i to the tokens j <= i, of which the mask may leave out more; C that of all tokens to
those of the memory that memory_mask keeps; F(u) = f(u w1 + b1) w2 + b2. The matrices of either attention come as a tuple.
The orders that the bounds admit are those of `_layer_orders`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ... import decoder, sublayers
from ..contract import Contract, Input, Option, Options, Probe, Pullback
from ..formats import Format, Precision
from ..memo import Latest
from ..pairing import pairwise
from ..rounding import Rounded
from . import _decoder_layer_probes, _layer_orders, _masks
from ._decoder_layer_mistakes import FITS, MISTAKES
from ._layer_parameters import FEED_FORWARD, NORM, PROJECTIONS, choices, in_order, named
from .add_and_norm import ORDER
from .encoder_layer import ACTIVATION, HEADS
from .layer_norm import EPS

MASK = Option(
    "mask", None, _masks.WORDS, "True where a token may attend to one before it, or itself: (n, n), or (B, n, n)"
)
MEMORY_MASK = Option(
    "memory_mask", None, _masks.WORDS, "True where a token may attend to one of the memory: (n, m), or (B, n, m)"
)
BRANCHES = (
    ("self_attention", PROJECTIONS),
    ("cross_attention", PROJECTIONS),
    ("self_attention_norm", NORM),
    ("cross_attention_norm", NORM),
    ("feed_forward", FEED_FORWARD),
    ("feed_forward_norm", NORM),
)

INPUTS = (
    Input("x", "(B, n, d)"),
    Input("memory", "(B, m, d)"),
    *(Input(f"self.{name}", "(d, d)") for name in PROJECTIONS),
    *(Input(f"cross.{name}", "(d, d)") for name in PROJECTIONS),
    Input("gain1", "(d,) of the norm of the self-attention"),
    Input("bias1", "(d,)"),
    Input("gain2", "(d,) of the norm of the attention to the memory"),
    Input("bias2", "(d,)"),
    Input("w1", "(d, f)"),
    Input("b1", "(f,)"),
    Input("w2", "(f, d)"),
    Input("b2", "(d,)"),
    Input("gain3", "(d,) of the norm of the feed-forward layer"),
    Input("bias3", "(d,)"),
)
PARAMETERS = (
    "x",
    "memory",
    *(f"({', '.join(each.name for each in INPUTS[start : start + 4])})" for start in (2, 6)),
    *(each.name for each in INPUTS[10:]),
)


class DecoderLayer(Contract):
    name = "decoder_layer"
    summary = "causal self-attention, attention to a memory, feed-forward, each in a residual connection with its norm"
    inputs = INPUTS
    parameters = PARAMETERS
    output = "(B, n, d), like x"
    options = (HEADS, MASK, MEMORY_MASK, ACTIVATION, ORDER, EPS)
    gradient_theorem = "residual_norm.post_norm_along_a_curve"
    properties = _decoder_layer_probes.PROPERTIES
    mistakes = MISTAKES
    fits = FITS

    def combinations(self, grid: Mapping[str, Sequence[Any]]) -> Iterable[Options]:
        """So many that any two values meet."""
        return [
            dict(each)
            for each in pairwise([dict(zip(grid, values, strict=True)) for values in product(*grid.values())])
        ]

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        return (*arrays[:2], tuple(arrays[2:6]), tuple(arrays[6:10]), *arrays[10:])

    def arrays(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        x, memory, own, across, *rest = arguments
        return x, memory, *own, *across, *rest

    def gradients_of(self, returned: Sequence[Any]) -> Sequence[Any]:
        if len(returned) != 14 or any(len(each) != 4 for each in returned[2:4]):
            raise ValueError(f"needed one for each of {', '.join(self.parameters)}, the matrices in two tuples of 4")
        return self.arrays(returned)

    def packed(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        return self.arguments(gradients)

    def layer(
        self, *inputs: Any, heads: int, mask: Any, memory_mask: Any, activation: str, order: str, eps: float
    ) -> tuple[np.ndarray, Pullback]:
        x, memory, *arrays = inputs
        config, params = choices(heads, activation, order, eps), tree(arrays)
        keep = _masks.kept(mask, True, (x.shape[-2], x.shape[-2]))
        own = sublayers.self_attention(params["self_attention"], config, keep)
        across = sublayers.cross_attention(memory, params["cross_attention"], config, memory_mask)
        y, cache = decoder.layer_forward(x, params, config, own, across)

        def pullback(dy: np.ndarray) -> tuple[np.ndarray, ...]:
            dx, dmemory, gradients = decoder.layer_backward(dy, cache)
            assert dmemory is not None
            return dx, dmemory, *flat(gradients)

        return y, pullback

    def bound(self, precision: Precision, *inputs: Any, **options: Any) -> Rounded:
        return _forward(precision, inputs, options)[0].returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, *inputs: Any, **options: Any
    ) -> tuple[Rounded, ...]:
        pull = _forward(precision, inputs, options)[1]
        return tuple(each.returned() for each in pull(Rounded.exact(dy, precision)))

    def without_reference(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        x, memory, *_ = inputs
        attentions = [(options["mask"], True, x), (options["memory_mask"], False, memory)]
        return _masks.layer_without_reference(inputs, attentions)

    def put_in_place_of_reference(self, found: np.ndarray, *inputs: Any, **options: Any) -> str:
        here, *_ = self.without_reference(*inputs, **options)
        return _masks.in_place_of(found, np.asarray(here.any(-1)), {})

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _decoder_layer_probes.generic(rng, form, options)

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        free = options["mask"] is None and options["memory_mask"] is None
        return _decoder_layer_probes.structured(rng, form, options) if free else []


def tree(arrays: Sequence[Any]) -> dict[str, Any]:
    """As numeric.decoder takes a layer; what follows x and memory."""
    branches, rest = {}, list(arrays)
    for branch, names in BRANCHES:
        branches[branch] = named(names, rest[: len(names)])
        rest = rest[len(names) :]
    return branches


def flat(layer: dict[str, Any]) -> list[Any]:
    """The inverse of `tree`."""
    return [array for branch, names in BRANCHES for array in in_order(layer[branch], names)]


Bounds = tuple[Rounded, Callable[[Rounded], tuple[Rounded, ...]]]
LATEST: Latest[Bounds] = Latest()


def _forward(precision: Precision, inputs: Sequence[Any], options: Options) -> Bounds:
    return LATEST.recall(
        (precision, *inputs, *sorted(options.items())),
        lambda: bounds([Rounded.exact(each, precision) for each in inputs], **options),
    )


def bounds(
    inputs: Sequence[Rounded], heads: int, mask: Any, memory_mask: Any, activation: str, order: str, eps: float
) -> Bounds:
    """y; the pull gives the gradients in the order of the inputs."""
    x, memory, *arrays = inputs
    n = x.value.shape[-2]
    own = _layer_orders.self_attention(tuple(arrays[:4]), heads, _masks.kept(mask, True, (n, n)))
    across = _layer_orders.cross_attention(memory, tuple(arrays[4:8]), heads, memory_mask)
    transformation = _layer_orders.feed_forward(arrays[12:16], activation)
    x1, pull_first = _layer_orders.connected(x, own, arrays[8:10], order, eps)
    x2, pull_second = _layer_orders.connected(x1, across, arrays[10:12], order, eps)
    y, pull_third = _layer_orders.connected(x2, transformation, arrays[16:], order, eps)

    def pull(dy: Rounded) -> tuple[Rounded, ...]:
        dx2, dgain3, dbias3, *dfeed_forward = pull_third(dy)
        dx1, dgain2, dbias2, dmemory, *dacross = pull_second(dx2)
        dx, dgain1, dbias1, *down = pull_first(dx1)
        return dx, dmemory, *down, *dacross, dgain1, dbias1, dgain2, dbias2, *dfeed_forward, dgain3, dbias3

    return y, pull


CONTRACT = DecoderLayer()

"""encoder_layer: x (B, n, d) -> same; self-attention and then feed-forward, each in a residual connection with its norm.

    order "post"    x1 = LN1(x + A(x))          y = LN2(x1 + F(x1))
    order "pre"     x1 = x + A(LN1(x))          y = x1 + F(LN2(x1))

A is multi-head attention of all tokens to those that the mask keeps, without biases, F(u) = f(u w1 + b1) w2 + b2.
The orders that the bounds admit are those of `_layer_orders`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ... import encoder
from ..contract import Contract, Input, Option, Options, Probe, Pullback
from ..formats import Format, Precision
from ..memo import Latest
from ..pairing import pairwise
from ..rounding import Rounded
from . import _encoder_layer_probes, _layer_orders, _masks
from ._encoder_layer_mistakes import FITS, MISTAKES
from ._layer_parameters import FEED_FORWARD, NORM, PROJECTIONS, choices, in_order, named
from .add_and_norm import ORDER
from .layer_norm import EPS

HEADS = Option("heads", 2, (2, 1), "into how many heads the columns are split")
ACTIVATION = Option(
    "activation", "relu", ("relu", "gelu"), "of the feed-forward layer; gelu has erf; silu is there too"
)


class EncoderLayer(Contract):
    name = "encoder_layer"
    summary = "self-attention and feed-forward, each in a residual connection with layer normalisation"
    inputs = (
        Input("x", "(B, n, d)"),
        *(Input(name, "(d, d)") for name in PROJECTIONS),
        Input("gain1", "(d,) of the norm of the attention"),
        Input("bias1", "(d,)"),
        Input("w1", "(d, f)"),
        Input("b1", "(f,)"),
        Input("w2", "(f, d)"),
        Input("b2", "(d,)"),
        Input("gain2", "(d,) of the norm of the feed-forward layer"),
        Input("bias2", "(d,)"),
    )
    output = "(B, n, d), like x"
    options = (HEADS, _masks.OPTIONS[0], ACTIVATION, ORDER, EPS)
    gradient_theorem = "residual_norm.post_norm_along_a_curve"
    properties = _encoder_layer_probes.PROPERTIES
    mistakes = MISTAKES
    fits = FITS

    def combinations(self, grid: Mapping[str, Sequence[Any]]) -> Iterable[Options]:
        """So many that any two values meet."""
        return [
            dict(each)
            for each in pairwise([dict(zip(grid, values, strict=True)) for values in product(*grid.values())])
        ]

    def layer(
        self, *inputs: Any, heads: int, mask: Any, activation: str, order: str, eps: float
    ) -> tuple[np.ndarray, Pullback]:
        x, *arrays = inputs
        y, cache = encoder.layer_forward(x, tree(arrays), choices(heads, activation, order, eps), mask)

        def pullback(dy: np.ndarray) -> tuple[np.ndarray, ...]:
            dx, gradients = encoder.layer_backward(dy, cache)
            return dx, *flat(gradients)

        return y, pullback

    def bound(self, precision: Precision, *inputs: Any, **options: Any) -> Rounded:
        return _forward(precision, inputs, options)[0].returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, *inputs: Any, **options: Any
    ) -> tuple[Rounded, ...]:
        pull = _forward(precision, inputs, options)[1]
        return tuple(each.returned() for each in pull(Rounded.exact(dy, precision)))

    def without_reference(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        return _masks.layer_without_reference(inputs, [(options["mask"], False, inputs[0])])

    def put_in_place_of_reference(self, found: np.ndarray, *inputs: Any, **options: Any) -> str:
        x = inputs[0]
        return _masks.in_place_of(found, _masks.empty_rows(options["mask"], False, (*x.shape[:-1], x.shape[-2])), {})

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _encoder_layer_probes.generic(rng, form, options)

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _encoder_layer_probes.structured(rng, form, options) if _masks.unfixed(options) else []


def tree(arrays: Sequence[Any]) -> dict[str, Any]:
    """As numeric.encoder takes a layer."""
    return {
        "self_attention": named(PROJECTIONS, arrays[:4]),
        "self_attention_norm": named(NORM, arrays[4:6]),
        "feed_forward": named(FEED_FORWARD, arrays[6:10]),
        "feed_forward_norm": named(NORM, arrays[10:]),
    }


def flat(layer: dict[str, Any]) -> list[Any]:
    """The inverse of `tree`."""
    parts = (("self_attention", PROJECTIONS), ("self_attention_norm", NORM), ("feed_forward", FEED_FORWARD))
    return [array for part, names in (*parts, ("feed_forward_norm", NORM)) for array in in_order(layer[part], names)]


Bounds = tuple[Rounded, Callable[[Rounded], tuple[Rounded, ...]]]
LATEST: Latest[Bounds] = Latest()


def _forward(precision: Precision, inputs: Sequence[Any], options: Options) -> Bounds:
    return LATEST.recall(
        (precision, *inputs, *sorted(options.items())),
        lambda: bounds([Rounded.exact(each, precision) for each in inputs], **options),
    )


def bounds(inputs: Sequence[Rounded], heads: int, mask: Any, activation: str, order: str, eps: float) -> Bounds:
    """y; the pull gives the gradients in the order of the inputs."""
    x, *arrays = inputs
    attention = _layer_orders.self_attention(tuple(arrays[:4]), heads, mask)
    transformation = _layer_orders.feed_forward(arrays[6:10], activation)
    x1, pull_first = _layer_orders.connected(x, attention, arrays[4:6], order, eps)
    y, pull_second = _layer_orders.connected(x1, transformation, arrays[10:], order, eps)

    def pull(dy: Rounded) -> tuple[Rounded, ...]:
        dx1, dgain2, dbias2, *dfeed_forward = pull_second(dy)
        dx, dgain1, dbias1, *dweights = pull_first(dx1)
        return dx, *dweights, dgain1, dbias1, *dfeed_forward, dgain2, dbias2

    return y, pull


CONTRACT = EncoderLayer()

"""What goes wrong in a layer of encoder and decoder alike: parts with a fault, and layers with faulty parts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arithmetic import convert, matmul
from ._layer_wiring import Part
from ._norm_emulations import narrow_row_sums
from ._norm_formulas import centred, layer_norm_parts, rooted, variance
from ._tape import Node, Weights

# Norms


def normalised_otherwise(layer: Any, normalise: Callable[[Any, Any], Any]) -> Any:
    """The layer with normalise(z, eps) in the place of (z - mean z) / sqrt(var z + eps); without a way back."""

    def norm(number: int, z: Node) -> Node:
        gain, bias = layer.norms[number]
        return Node(normalise(z.value, layer.eps) * gain.value + bias.value)

    layer.norm = norm
    return layer


def with_eps(layer: Any, eps: Any) -> Any:
    layer.eps = eps
    return layer


def past_norm(layer: Any, numbers: Sequence[int]) -> Any:
    """The layer whose norms pass the cotangent on as it is."""
    right = layer.norm

    def norm(number: int, z: Node) -> Node:
        y = right(number, z)
        if number not in numbers:
            return y
        assert y.pull
        pull = y.pull
        return Node(y.value, y.parents, lambda dy: (dy, *pull(dy)[1:]))

    layer.norm = norm
    return layer


def through_norm(layer: Any, dx: Callable[[Any], Any]) -> Any:
    """The layer with dx(parts) for the way back through its norms."""
    right = layer.norm

    def norm(number: int, z: Node) -> Node:
        y = right(number, z)
        assert y.pull
        pull, (gain, bias) = y.pull, layer.norms[number]
        return Node(
            y.value,
            y.parents,
            lambda dy: (dx(layer_norm_parts(dy, z.value, gain.value, bias.value, layer.eps)), *pull(dy)[1:]),
        )

    layer.norm = norm
    return layer


def with_norms(layer: Any, change: Callable[[Node, Node], tuple[Node, Node]]) -> Any:
    """The layer with other gains and biases."""
    layer.norms = {number: change(*each) for number, each in layer.norms.items()}
    return layer


def without_norms(layer: Any, numbers: Sequence[int]) -> Any:
    right = layer.norm
    layer.norm = lambda number, z: z if number in numbers else right(number, z)
    return layer


def unbiased(z: Any, eps: Any) -> Any:
    d = z.shape[-1]
    return centred(z) / rooted(variance(z) * convert(d, z.dtype)[()] / (d - 1), eps)


def over_axes(axes: Any) -> Callable[[Any, Any], Any]:
    return lambda z, eps: centred(z, axes) / rooted(variance(z, axes), eps)


# Attention


def scaled(attend: Callable[..., Node], weights: Weights, number: Any) -> Part:
    """With the scores times a number, by way of w_q."""
    w_q, *others = weights
    return lambda u: attend(u, weights=(w_q.times(number), *others))


def with_weights(layer: Any, change: Callable[[Weights], Any]) -> Part:
    """Self-attention with other matrices."""
    return lambda u: layer.attend(u, weights=change(layer.weights))


def exchanged(first: int, second: int) -> Callable[[Weights], Any]:
    def change(weights: Weights) -> Any:
        places = [0, 1, 2, 3]
        places[first], places[second] = second, first
        return tuple(weights[place] for place in places)

    return change


# The feed-forward layer


def with_biases(layer: Any, missing: int) -> Any:
    """The layer with 0 for one of w1, b1, w2, b2."""
    parameters = list(layer.feed_forward)
    parameters[missing] = parameters[missing].times(0)
    layer.feed_forward = tuple(parameters)
    return layer


def relu(x: Node) -> Node:
    return Node(np.where(x.value > 0, x.value, 0 * x.value))


def summed_narrowly(layer: Any) -> Any:
    """The layer whose norms add up the gradients of their parameters in the dtype; on floats only."""
    right = layer.norm

    def norm(number: int, z: Node) -> Node:
        y, (gain, bias) = right(number, z), layer.norms[number]
        return Node(y.value, y.parents, lambda dy: narrow_row_sums(dy, z.value, gain.value, bias.value, layer.eps))

    layer.norm = norm
    return layer


def without_slope(layer: Any) -> Part:
    """The feed-forward layer with 1 for the derivative of its activation."""

    def part(u: Node) -> Node:
        right = layer.fed(u)
        w1, w2 = layer.feed_forward[0].value, layer.feed_forward[2].value

        def pull(dy: Any) -> tuple[Any, ...]:
            assert right.pull
            da = matmul(dy, w2.T)
            return matmul(da, w1.T), matmul(rows(u.value).T, rows(da)), rows(da).sum(0), *right.pull(dy)[3:]

        return Node(right.value, right.parents, pull)

    return part


def rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


# Gradients


def averaged(first: int) -> Callable[[list[Any], Any], list[Any]]:
    """Those of the parameters, which come first from this place on, over the batch."""

    def change(found: list[Any], layer: Any) -> list[Any]:
        number = convert(len(layer.x.value), layer.x.value.dtype)[()]
        return [*found[:first], *(each / number for each in found[first:])]

    return change


def swapped(*pairs: tuple[int, int]) -> Callable[[list[Any], Any], list[Any]]:
    def change(found: list[Any], layer: Any) -> list[Any]:
        for one, other in pairs:
            found[one], found[other] = found[other], found[one]
        return found

    return change


def back_as(right: Node, other: Node) -> Node:
    """The value of one, the way back of another, which has the same parents."""
    return Node(right.value, other.parents, other.pull)

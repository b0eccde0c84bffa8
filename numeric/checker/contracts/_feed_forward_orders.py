"""The orders in which a correct implementation may evaluate the feed-forward layer and its gradients, as bounds.

a = x W1 + b1       products accumulated in the wide format in any order, with the bias among them or added after
dW = x^T g          over all rows at once, or over one axis after another, each partial sum stored; and likewise db
"""

from typing import NamedTuple

import numpy as np

from ..formats import Precision
from ..rounding import Rounded, any_of
from ._activation_bounds import bound_of, gradient_bound_of


class Hidden(NamedTuple):
    x: Rounded  # (rows, d)
    a: Rounded  # (rows, f), before the activation
    h: Rounded  # (rows, f), after it


def linear(x: Rounded, w: Rounded, b: Rounded) -> Rounded:
    """x w + b for rows x."""
    ones = Rounded.exact(np.ones((len(x.value), 1)), x.precision)
    inside = _beside(x, ones, -1) @ _beside(w, b.rearranged(lambda each: each[None]), 0)
    return any_of([x @ w + b, inside])


def _beside(first: Rounded, second: Rounded, axis: int) -> Rounded:
    value, worst, square = (
        np.concatenate([getattr(each, part) for each in (first, second)], axis) for part in ("value", "worst", "square")
    )
    return Rounded(value, worst, square, first.precision)


def transposed(x: Rounded) -> Rounded:
    return x.rearranged(lambda each: np.swapaxes(each, -1, -2))


def hidden(precision: Precision, x: np.ndarray, w1: np.ndarray, b1: np.ndarray, activation: str) -> Hidden:
    rows, w, b = (Rounded.exact(each, precision) for each in (x.reshape(-1, x.shape[-1]), w1, b1))
    return hidden_units(rows, w, b, activation)


def hidden_units(rows: Rounded, w: Rounded, b: Rounded, activation: str) -> Hidden:
    a = linear(rows, w, b)
    return Hidden(rows, a, bound_of(activation, a))


def output_bound(inner: Hidden, w2: np.ndarray, b2: np.ndarray) -> Rounded:
    w, b = (Rounded.exact(each, inner.h.precision) for each in (w2, b2))
    return linear(inner.h, w, b)


def gradient_bounds(
    inner: Hidden, dy: np.ndarray, w1: np.ndarray, w2: np.ndarray, activation: str
) -> tuple[Rounded, Rounded, Rounded, Rounded, Rounded]:
    """Of x as rows, w1, b1, w2 and b2."""
    precision = inner.x.precision
    g, first, second = (Rounded.exact(each, precision) for each in (dy, w1, w2))
    da = gradient_bound_of(activation, g @ transposed(second), inner.a)
    dx = da @ transposed(first)
    return dx, weights_gradient(inner.x, da), bias_gradient(da), weights_gradient(inner.h, g), bias_gradient(g)


def weights_gradient(x: Rounded, g: Rounded) -> Rounded:
    return _partial_sums(transposed(x) @ g, np.abs(x.value).T @ np.abs(g.value))


def bias_gradient(g: Rounded) -> Rounded:
    total = g.sum(0).rearranged(lambda each: each[0])
    return _partial_sums(total, np.abs(g.value).sum(0))


def _partial_sums(total: Rounded, size: np.ndarray) -> Rounded:
    """Stored where a first axis has been summed; in the wide format that is a rounding like any other."""
    narrower = total.precision.stored.bits < total.precision.wide.bits
    return total.loosened(total.precision.stored.unit * size) if narrower else total

"""Orders of evaluation of the conventions of gelu that have a sigmoid s(w) for Phi, and of their derivatives, as bounds.

    tanh       w = 2 sqrt(2/pi) (x + 0.044715 x^3), since (1 + tanh(w/2)) / 2 = s(w)
    sigmoid    w = 1.702 x
    value      x s(w)
    slope      s + x s (1 - s) w', added up before or after it is multiplied by the cotangent

1 - s errs by a few u, not by as many of itself: so does 1 - tanh^2 in autograd.
"""

import math
from collections.abc import Callable

import numpy as np

from ..formats import Precision
from ..rounding import Rounded, any_of
from ._activation_bounds import sigmoids

Inner = Callable[[Rounded], tuple[Rounded, Rounded]]  # w and its derivative


def _given(number: float, precision: Precision) -> Rounded:
    """A constant with an error of its own in float64, and rounded twice where it is a product of two."""
    kept = Rounded.exact(number, precision).loosened(np.asarray(2.0**-52 * abs(number)))
    return kept.cast(precision.stored).cast(precision.stored)


def of_tanh(x: Rounded) -> tuple[Rounded, Rounded]:
    one, root = Rounded.exact(1.0, x.precision), _given(2 * math.sqrt(2 / math.pi), x.precision)
    square = x * x
    inner = x * (one + _given(0.044715, x.precision) * square)
    return root * inner, root * (one + _given(3 * 0.044715, x.precision) * square)


def of_sigmoid(x: Rounded) -> tuple[Rounded, Rounded]:
    factor = _given(1.702, x.precision)
    return factor * x, factor


def bound(inner: Inner) -> Callable[[Precision, np.ndarray], Rounded]:
    def of_values(precision: Precision, x: np.ndarray) -> Rounded:
        at = Rounded.exact(x, precision)
        w, _ = inner(at)
        return any_of([at * s for s in sigmoids(w, False)]).returned()

    return of_values


def gradient_bounds(inner: Inner) -> Callable[[Precision, np.ndarray, np.ndarray], tuple[Rounded, ...]]:
    def of_gradients(precision: Precision, dy: np.ndarray, x: np.ndarray) -> tuple[Rounded, ...]:
        g, at, one = (Rounded.exact(each, precision) for each in (dy, x, np.ones(())))
        w, slope = inner(at)
        ways = []
        for s in sigmoids(w, False):
            moved = s * (one - s) * slope
            ways += [g * (s + at * moved), g * s + (g * at) * moved]
        return (any_of(ways).returned(),)

    return of_gradients

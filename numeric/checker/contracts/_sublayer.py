"""The sublayer that `add_and_norm` hands to an implementation: f(u) = (a + b u) u, feature by feature, with its VJP.

It is not linear, so that it matters where it is differentiated, and has other coefficients for every feature.
"""

from typing import Any

import numpy as np

from ..rounding import Rounded, any_of


class Sublayer:
    """f and its VJP, on the arrays of whatever library `weights` (2, d) belongs to; its rows are a and b."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def __call__(self, u: Any) -> Any:
        """f(u), shaped like u (..., d)."""
        return (self.weights[0] + self.weights[1] * u) * u

    def vjp(self, u: Any, df: Any) -> Any:
        """The gradient of <df, f(u)> with respect to u: df (a + 2 b u)."""
        return df * (self.weights[0] + (self.weights[1] + self.weights[1]) * u)


def random_weights(rng: np.random.Generator, d: int) -> np.ndarray:
    """Eighths, which every dtype holds, with 1 + a and b away from zero."""
    a = rng.choice([-5, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7], d) / 8
    b = rng.choice([-4, -3, -2, -1, 1, 2, 3, 4], d) / 8
    return np.stack([a, b])


def weights_of(a: float, d: int) -> np.ndarray:
    """f(u) = a u."""
    return np.stack([np.full(d, a), np.zeros(d)])


def output_bound(u: Rounded, weights: np.ndarray) -> Rounded:
    a, b = (Rounded.exact(each, u.precision) for each in weights)
    return (a + b * u) * u


def vjp_bound(u: Rounded, df: Rounded, weights: np.ndarray, skip: Rounded | None = None) -> Rounded:
    """df f'(u), plus what the skip path brings; by `vjp`, or by autograd, which adds up three contributions in any order."""
    a, b = (Rounded.exact(each, u.precision) for each in weights)
    whole = df * (a + (b + b) * u)
    first, second = df * (a + b * u), df * u * b
    if skip is None:
        return any_of([whole, first + second])
    return any_of([skip + whole, (skip + first) + second, (skip + second) + first, skip + (first + second)])

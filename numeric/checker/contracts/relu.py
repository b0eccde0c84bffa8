"""relu: x -> max(0, x), entry by entry. Exact in every precision; the gradient at 0 may be any subgradient, 0 to dy."""

import numpy as np

from ..contract import Bench, Property, Residual
from ..formats import Precision
from ._elementwise import Elementwise, common_properties, entries_of
from ._relu_mistakes import FITS, MISTAKES


def nonnegative(bench: Bench, rng: np.random.Generator) -> Residual:
    y, allowed = bench.output(entries_of(bench, rng))
    return np.minimum(y, 0.0), allowed


def positively_homogeneous(bench: Bench, rng: np.random.Generator) -> Residual:
    x = entries_of(bench, rng)
    (once, allowed), (fourfold, allowed_fourfold) = bench.output(x), bench.output(4 * x)
    return fourfold - 4 * once, 4 * allowed + allowed_fourfold


def subgradient_at_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    """How far dx lies outside [0, dy], for x = 0 and dy > 0."""
    x = np.zeros((3, 5))
    dy = bench.rounded(rng.uniform(0.5, 2, x.shape))
    [(dx, _)] = bench.gradients(dy, x)
    return np.maximum(dx - dy, 0.0) + np.minimum(dx, 0.0), np.zeros_like(dx)


class Relu(Elementwise):
    name = "relu"
    summary = "max(0, x), entry by entry"
    gradient_theorem = "activations.relu_derivative"
    mistakes = MISTAKES
    fits = FITS
    properties = (
        *common_properties("activations.odd_part", "activations.relu_derivative"),
        Property("nonnegative", "activation_bounds.relu_is_nonnegative", "relu(x) is negative", nonnegative),
        Property(
            "positively homogeneous",
            "activations.relu_is_positively_homogeneous",
            "relu(4 x) = 4 relu(x) fails",
            positively_homogeneous,
        ),
        Property(
            "subgradient at 0",
            "activation_bounds.relu_subgradient_is_at_most_one",
            "at 0 the gradient is no subgradient: it lies outside [0, dy]",
            subgradient_at_zero,
            of_gradient=True,
        ),
    )

    def accurate_bound(self, precision: Precision, x: np.ndarray) -> None:
        return None  # every right formula is exact

    def accurate_gradient_bounds(self, precision: Precision, dy: np.ndarray, x: np.ndarray) -> None:
        return None


CONTRACT = Relu()

"""silu: x -> x sigmoid(x), entry by entry; also known as swish with beta = 1."""

import numpy as np

from ..contract import Bench, Property, Residual
from ._elementwise import Elementwise, common_properties, entries_of
from ._silu_mistakes import FITS, MISTAKES


def at_most_relu(bench: Bench, rng: np.random.Generator) -> Residual:
    x = entries_of(bench, rng)
    y, allowed = bench.output(x)
    return np.maximum(y - np.maximum(x, 0.0), 0.0), allowed


class Silu(Elementwise):
    name = "silu"
    summary = "x / (1 + exp(-x)), entry by entry"
    gradient_theorem = "activations.silu_derivative"
    mistakes = MISTAKES
    fits = FITS
    properties = (
        *common_properties("activations.silu_odd_part", "activations.silu_derivative"),
        Property("at most relu", "activation_bounds.silu_is_at_most_relu", "silu(x) exceeds relu(x)", at_most_relu),
    )


CONTRACT = Silu()

"""What goes wrong in silu: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import EVERY_DTYPE, Fit, Instability, Mistake
from ._activation_formulas import of, sigmoid, slope_of, tanh, where_positive, zero

ODD = "activations.silu_odd_part"
DERIVATIVE = "activations.silu_derivative"
OF_SIGMOID = "activations.sigmoid_derivative"
BELOW = "activation_bounds.silu_is_at_most_relu"


def _capped(x: Any) -> Any:
    return 6 - of("relu", 6 - of("relu", x))


def _gradient(slope: Callable[[Any, Any], Any]) -> Any:
    """Of x and s."""
    return lambda dy, x: dy * slope(x, sigmoid(x))


def _below(x: Any) -> Any:
    """tanh(x / 2) in the dtype."""
    return np.tanh((x * x.dtype.type(0.5)).astype(np.float64)).astype(x.dtype)


def _half_tanh(x: Any) -> Any:
    kind = x.dtype.type
    return (kind(1) + _below(x)) * kind(0.5)


def _through_tanh(x: Any) -> Any:
    return x * _half_tanh(x)


def _gradient_through_tanh(dy: Any, x: Any) -> Any:
    one, s = x.dtype.type(1), _half_tanh(x)
    return dy * (s * (one + x * (one - s)))


def _quotient_of_exponentials(x: Any) -> Any:
    return x * np.exp(x) / (x.dtype.type(1) + np.exp(x))


def _gradient_of_quotient(dy: Any, x: Any) -> Any:
    powers = np.exp(-x)
    below = x.dtype.type(1) + powers
    return dy / below + dy * (x / below / below) * powers


MISTAKES = (
    Mistake("silu.sigmoid", "returns the sigmoid, without the factor x", DERIVATIVE, sigmoid),
    Mistake("silu.other_side", "is x sigmoid(-x)", BELOW, lambda x: x * sigmoid(-x)),
    Mistake("silu.sum", "adds the sigmoid to x instead of multiplying", DERIVATIVE, lambda x: x + sigmoid(x)),
    Mistake("silu.tanh_for_sigmoid", "is x tanh x", ODD, lambda x: x * tanh(x)),
    Mistake("silu.sigmoid_squared", "has the square of the sigmoid", ODD, lambda x: x * sigmoid(x) * sigmoid(x)),
    Mistake("silu.x_squared", "has the square of x", ODD, lambda x: x * x * sigmoid(x)),
    Mistake("silu.derivative", "returns the derivative", DERIVATIVE, lambda x: slope_of("silu", x)),
    Mistake("silu.hard", "is hard swish, x min(max(x + 3, 0), 6) / 6", DERIVATIVE, lambda x: x * _capped(x + 3) / 6),
    Mistake("silu.mish", "is mish, x tanh(log(1 + exp x))", DERIVATIVE, lambda x: x * tanh(np.log(1 + np.exp(x)))),
    Mistake("silu.relu", "is relu", DERIVATIVE, lambda x: of("relu", x)),
    Mistake("silu.gelu", "is gelu", DERIVATIVE, lambda x: of("gelu", x)),
    Mistake("silu.softplus", "is the softplus, log(1 + exp x)", BELOW, lambda x: np.log(1 + np.exp(x))),
    Mistake("silu.log_sigmoid", "is the logarithm of the sigmoid", DERIVATIVE, lambda x: -np.log(1 + np.exp(-x))),
    Mistake("silu.gradient_of_sigmoid", "is that of the sigmoid, s (1 - s)", OF_SIGMOID, _gradient(lambda x, s: s * (1 - s)), "gradients"),
    Mistake("silu.gradient_without_second_term", "takes the sigmoid for a constant: s", DERIVATIVE, _gradient(lambda x, s: s + 0 * x), "gradients"),
    Mistake("silu.gradient_without_first_term", "leaves out s: x s (1 - s)", DERIVATIVE, _gradient(lambda x, s: x * s * (1 - s)), "gradients"),
    Mistake("silu.gradient_without_x", "leaves out the factor x: s + s (1 - s)", DERIVATIVE, _gradient(lambda x, s: s + s * (1 - s)), "gradients"),
    Mistake("silu.gradient_without_s", "leaves out s in the second term: s + x (1 - s)", DERIVATIVE, _gradient(lambda x, s: s + x * (1 - s)), "gradients", ("silu.gradient_x_for_output",)),
    Mistake("silu.gradient_without_outer_s", "leaves out the outer s: 1 + x (1 - s)", DERIVATIVE, _gradient(lambda x, s: 1 + x * (1 - s)), "gradients"),
    Mistake("silu.gradient_minus", "subtracts the second term: s (1 - x (1 - s))", DERIVATIVE, _gradient(lambda x, s: s * (1 - x * (1 - s))), "gradients"),
    Mistake("silu.gradient_with_plus", "has 1 + s where 1 - s belongs", OF_SIGMOID, _gradient(lambda x, s: s * (1 + x * (1 + s))), "gradients"),
    Mistake("silu.gradient_x_for_output", "has x + s (1 - x), where y + s (1 - y) is right, with y the output", DERIVATIVE, _gradient(lambda x, s: x + s * (1 - x)), "gradients", ("silu.gradient_without_s",)),
    Mistake("silu.gradient_at_output", "takes the derivative at silu(x), not at x", DERIVATIVE, lambda dy, x: dy * slope_of("silu", of("silu", x)), "gradients"),
    Mistake("silu.gradient_of_relu", "is that of relu", DERIVATIVE, lambda dy, x: where_positive(x, dy, zero(dy)), "gradients"),
    Mistake("silu.gradient_without_dy", "returns the derivative, not multiplied by dy", DERIVATIVE, lambda dy, x: slope_of("silu", x), "gradients"),
    Mistake("silu.gradient_is_cotangent", "passes dy on unchanged", DERIVATIVE, lambda dy, x: dy + 0 * x, "gradients"),
    Instability("silu.quotient_of_exponentials", "divides exp x by 1 + exp x, both of which overflow", ODD, _quotient_of_exponentials),
    Instability("silu.gradient_of_quotient", "multiplies by exp(-x), which overflows, as autograd does of x / (1 + exp(-x))", DERIVATIVE, _gradient_of_quotient, "gradients"),
    Instability("silu.through_tanh", "takes (1 + tanh(x/2)) / 2 for the sigmoid, which leaves few digits where x is very negative", "activations.sigmoid_symmetry", _through_tanh, admitted=EVERY_DTYPE),
    Instability("silu.gradient_through_tanh", "takes (1 + tanh(x/2)) / 2 for the sigmoid, which leaves few digits where x is very negative", "activations.sigmoid_symmetry", _gradient_through_tanh, "gradients", admitted=EVERY_DTYPE),
)  # fmt: skip

FITS = (
    Fit("the factor of x inside the sigmoid", "1", DERIVATIVE, lambda theta, x: x * sigmoid(theta * x), (0.02, 50)),
)

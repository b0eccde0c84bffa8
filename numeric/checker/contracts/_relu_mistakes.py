"""What goes wrong in relu: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ..mistake import Fit, Mistake
from ._activation_formulas import of, sigmoid, where_positive, zero

ODD = "activations.odd_part"
NONNEGATIVE = "activation_bounds.relu_is_nonnegative"
HOMOGENEOUS = "activations.relu_is_positively_homogeneous"
DERIVATIVE = "activations.relu_derivative"


def _relu(x: Any) -> Any:
    return of("relu", x)


def _leaky(slope: Any, x: Any) -> Any:
    return where_positive(x, x, slope * x)


MISTAKES = (
    Mistake("relu.leaky", "passes a hundredth of x on where x is negative (leaky relu)", NONNEGATIVE, lambda x: where_positive(x, x, x / 100)),
    Mistake("relu.absolute", "returns |x|", ODD, lambda x: where_positive(x, x, -x)),
    Mistake("relu.negative_part", "returns min(0, x), the other part", NONNEGATIVE, lambda x: -_relu(-x)),
    Mistake("relu.of_minus_x", "returns max(0, -x)", DERIVATIVE, lambda x: _relu(-x)),
    Mistake("relu.step", "returns its derivative: 1 where x is positive", HOMOGENEOUS, lambda x: where_positive(x, 0 * x + 1, zero(x))),
    Mistake("relu.identity", "returns x", NONNEGATIVE, lambda x: x + zero(x)),
    Mistake("relu.capped_at_six", "is capped at 6 (relu6)", HOMOGENEOUS, lambda x: where_positive(x - 6, 0 * x + 6, _relu(x))),
    Mistake("relu.squared", "returns the square of relu", HOMOGENEOUS, lambda x: _relu(x) * _relu(x)),
    Mistake("relu.softplus", "returns log(1 + exp x), the softplus", HOMOGENEOUS, lambda x: np.log(1 + np.exp(x))),
    Mistake("relu.elu", "returns exp x - 1 where x is negative (elu)", NONNEGATIVE, lambda x: where_positive(x, x, np.exp(x) - 1)),
    Mistake("relu.gelu", "is gelu", HOMOGENEOUS, lambda x: of("gelu", x)),
    Mistake("relu.silu", "is silu", HOMOGENEOUS, lambda x: of("silu", x)),
    Mistake("relu.sigmoid", "is the sigmoid", HOMOGENEOUS, sigmoid),
    Mistake("relu.above_one", "is shifted: max(0, x - 1)", HOMOGENEOUS, lambda x: _relu(x - 1)),
    Mistake("relu.gradient_is_cotangent", "passes dy on where x is negative, too", DERIVATIVE, lambda dy, x: dy + 0 * x, "gradients"),
    Mistake("relu.gradient_masked_by_dy", "passes dy on where dy is positive, not where x is", DERIVATIVE, lambda dy, x: where_positive(dy, dy, zero(dy)), "gradients"),
    Mistake("relu.gradient_masked_twice", "passes dy on where both x and dy are positive", DERIVATIVE, lambda dy, x: where_positive(x, where_positive(dy, dy, zero(dy)), zero(dy)), "gradients"),
    Mistake("relu.gradient_where_negative", "passes dy on where x is negative, not where it is positive", DERIVATIVE, lambda dy, x: where_positive(-x, dy, zero(dy)), "gradients"),
    Mistake("relu.gradient_times_x", "multiplies dy by relu(x), not by its derivative", DERIVATIVE, lambda dy, x: dy * _relu(x), "gradients"),
    Mistake("relu.gradient_without_dy", "returns the derivative, not multiplied by dy", DERIVATIVE, lambda dy, x: where_positive(x, 0 * dy + 1, zero(dy)), "gradients"),
    Mistake("relu.gradient_is_sign", "multiplies dy by the sign of x, the derivative of |x|", DERIVATIVE, lambda dy, x: where_positive(x, dy, -dy), "gradients"),
    Mistake("relu.gradient_leaky", "passes a hundredth of dy on where x is negative", DERIVATIVE, lambda dy, x: where_positive(x, dy, dy / 100), "gradients"),
)  # fmt: skip

FITS = (
    Fit("the slope of negative x", "0", NONNEGATIVE, lambda theta, x: _leaky(theta, x), (-2, 2), logarithmic=False),
    Fit("the slope of positive x", "1", DERIVATIVE, lambda theta, x: theta * _relu(x), (0.01, 100)),
)

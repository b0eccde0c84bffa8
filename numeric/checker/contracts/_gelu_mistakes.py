"""What goes wrong in gelu: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import EVERY_DTYPE, Fit, Instability, Mistake, Variant
from ._activation_formulas import (
    density,
    distribution,
    erf,
    gradients_of,
    of,
    root,
    root_of_pi_times,
    sigmoid,
    slope_of,
    tanh,
    where_positive,
    zero,
)
from ._sigmoid_gelus import bound, gradient_bounds, of_sigmoid, of_tanh

ODD = "activations.gelu_odd_part"
DERIVATIVE = "activations.gelu_derivative"
DENSITY = "activations.normal_density"
OF_TANH = "activations.gelu_tanh_derivative"


def _ratio(x: Any, above: int, below: int) -> Any:
    """A decimal fraction in the arithmetic of x."""
    return (0 * x + above) / below


def _sigmoid_form(x: Any) -> Any:
    return x * sigmoid(_ratio(x, 1702, 1000) * x)


def _half_of(inner: Callable[[Any], Any]) -> Any:
    """x (1 + inner(x)) / 2."""
    return lambda x: x * (1 + inner(x)) / 2


def _cubic(x: Any) -> Any:
    return x + _ratio(x, 44715, 10**6) * x * x * x


def _tanh_root(x: Any) -> Any:
    return 2 / root_of_pi_times(2, x)  # sqrt(2 / pi)


def _gradient(slope: Callable[[Any], Any]) -> Any:
    return lambda dy, x: dy * slope(x)


# Right formulas that lose their digits, in the dtype


def _sum_with_erf(x: Any) -> Any:
    kind = x.dtype.type
    return kind(1) + erf(x * kind(0.5**0.5))


def _one_plus_erf(x: Any) -> Any:
    return x * x.dtype.type(0.5) * _sum_with_erf(x)


def _gradient_one_plus_erf(dy: Any, x: Any) -> Any:
    kind = x.dtype.type
    bell = np.exp(x * x * kind(-0.5)) * kind((2 * np.pi) ** -0.5)
    return dy * (kind(0.5) * _sum_with_erf(x) + x * bell)


MISTAKES = (
    Variant("gelu.tanh", "is the tanh approximation, x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, up to 4.73e-4 away", DERIVATIVE, lambda x: of("gelu_tanh", x), bound=bound(of_tanh), gradient_bounds=gradient_bounds(of_tanh), converter='Take the one with erf: approximate="none" in PyTorch, approximate=False in JAX, "gelu" and not "gelu_new" in Hugging Face'),
    Variant("gelu.sigmoid", "is the sigmoid approximation, x sigmoid(1.702 x), up to 0.0203 away", DERIVATIVE, _sigmoid_form, bound=bound(of_sigmoid), gradient_bounds=gradient_bounds(of_sigmoid), converter='Take the one with erf: "gelu" and not "quick_gelu" in Hugging Face'),
    Mistake("gelu.without_root", "has erf(x), where erf(x / sqrt 2) is right", DENSITY, _half_of(erf)),
    Mistake("gelu.root_multiplies", "has erf(x sqrt 2), where erf(x / sqrt 2) is right", DENSITY, _half_of(lambda x: erf(x * root(2, x)))),
    Mistake("gelu.divided_by_two", "has erf(x / 2), where erf(x / sqrt 2) is right", DENSITY, _half_of(lambda x: erf(x / 2))),
    Mistake("gelu.not_halved", "leaves out the half: x (1 + erf)", ODD, lambda x: 2 * of("gelu", x)),
    Mistake("gelu.without_one", "leaves out the one: x erf / 2", ODD, lambda x: x * erf(x / root(2, x)) / 2),
    Mistake("gelu.half_of_x_only", "halves x but not x erf: x/2 + x erf", ODD, lambda x: x / 2 + x * erf(x / root(2, x))),
    Mistake("gelu.distribution", "returns Phi(x), without the factor x", DERIVATIVE, distribution),
    Mistake("gelu.density_for_distribution", "has the density phi for the distribution Phi", DENSITY, lambda x: x * density(x)),
    Mistake("gelu.other_tail", "is x Phi(-x)", DERIVATIVE, lambda x: x - of("gelu", x)),
    Mistake("gelu.derivative", "returns the derivative", DERIVATIVE, lambda x: slope_of("gelu", x)),
    Mistake("gelu.tanh_for_erf", "has tanh(x / sqrt 2) where erf(x / sqrt 2) belongs", OF_TANH, _half_of(lambda x: tanh(x / root(2, x)))),
    Mistake("gelu.tanh_of_x", "is x (1 + tanh x) / 2", OF_TANH, _half_of(tanh)),
    Mistake("gelu.tanh_without_cubic", "is the tanh approximation without its cubic term", OF_TANH, _half_of(lambda x: tanh(_tanh_root(x) * x))),
    Mistake("gelu.tanh_with_square", "is the tanh approximation with x^2 where x^3 belongs", OF_TANH, _half_of(lambda x: tanh(_tanh_root(x) * (x + _ratio(x, 44715, 10**6) * x * x)))),
    Mistake("gelu.tanh_without_root", "is the tanh approximation with 2/pi, not its root", OF_TANH, _half_of(lambda x: tanh(_tanh_root(x) * _tanh_root(x) * _cubic(x)))),
    Mistake("gelu.tanh_without_factor", "is the tanh approximation without the factor sqrt(2/pi)", OF_TANH, _half_of(lambda x: tanh(_cubic(x)))),
    Mistake("gelu.tanh_factor_on_x_only", "is the tanh approximation with sqrt(2/pi) at x only, not at the cubic term", OF_TANH, _half_of(lambda x: tanh(_tanh_root(x) * x + _ratio(x, 44715, 10**6) * x * x * x))),
    Mistake("gelu.relu", "is relu", DERIVATIVE, lambda x: of("relu", x)),
    Mistake("gelu.silu", "is silu", DERIVATIVE, lambda x: of("silu", x)),
    Mistake("gelu.softplus", "is the softplus, log(1 + exp x)", DERIVATIVE, lambda x: np.log(1 + np.exp(x))),
    Mistake("gelu.gradient_of_tanh", "is that of the tanh approximation, where the output is not", DERIVATIVE, lambda dy, x: gradients_of("gelu_tanh", dy, x), "gradients"),
    Mistake("gelu.gradient_of_sigmoid", "is that of x sigmoid(1.702 x), where the output is not", DERIVATIVE, _gradient(lambda x: slope_of("silu", _ratio(x, 1702, 1000) * x)), "gradients"),
    Mistake("gelu.gradient_without_density", "leaves out x phi(x), and so has the wrong sign below -0.7518", DERIVATIVE, _gradient(distribution), "gradients"),
    Mistake("gelu.gradient_density_only", "leaves out Phi(x)", DERIVATIVE, _gradient(lambda x: x * density(x)), "gradients"),
    Mistake("gelu.gradient_density_without_x", "adds phi(x) without its factor x", DERIVATIVE, _gradient(lambda x: distribution(x) + density(x)), "gradients"),
    Mistake("gelu.gradient_minus_density", "subtracts x phi(x) instead of adding it", DERIVATIVE, _gradient(lambda x: distribution(x) - x * density(x)), "gradients"),
    Mistake("gelu.gradient_density_not_normalised", "has exp(-x^2/2) for phi, without 1 / sqrt(2 pi)", DENSITY, _gradient(lambda x: distribution(x) + x * np.exp(x * x / -2)), "gradients"),
    Mistake("gelu.gradient_density_of_erf", "has exp(-x^2), the derivative of erf(x), where exp(-x^2/2) belongs", DENSITY, _gradient(lambda x: distribution(x) + x * np.exp(-x * x) / root_of_pi_times(2, x)), "gradients"),
    Mistake("gelu.gradient_at_output", "takes the derivative at gelu(x), not at x", DERIVATIVE, _gradient(lambda x: slope_of("gelu", of("gelu", x))), "gradients"),
    Mistake("gelu.gradient_of_relu", "is that of relu", DERIVATIVE, lambda dy, x: where_positive(x, dy, zero(dy)), "gradients"),
    Mistake("gelu.gradient_without_dy", "returns the derivative, not multiplied by dy", DERIVATIVE, lambda dy, x: slope_of("gelu", x), "gradients"),
    Mistake("gelu.gradient_is_cotangent", "passes dy on unchanged", DERIVATIVE, lambda dy, x: dy + 0 * x, "gradients"),
    Instability("gelu.one_plus_erf", "adds 1 to erf(x / sqrt 2), which is near -1 where x is very negative, so that few digits are left; erfc(-x / sqrt 2) keeps them", ODD, _one_plus_erf, admitted=EVERY_DTYPE),
    Instability("gelu.gradient_one_plus_erf", "adds 1 to erf(x / sqrt 2), which is near -1 where x is very negative, so that few digits are left, perhaps not the sign; erfc(-x / sqrt 2) keeps them", DERIVATIVE, _gradient_one_plus_erf, "gradients", admitted=EVERY_DTYPE),
)  # fmt: skip

FITS = (
    Fit("the factor of x inside erf", "1 / sqrt 2 = 0.70710678", DENSITY, lambda theta, x: x * (1 + erf(theta * x)) / 2, (0.05, 20)),
    Fit("the factor of x inside a sigmoid that stands for Phi", "no sigmoid (gelu.sigmoid has 1.702)", DENSITY, lambda theta, x: x * sigmoid(theta * x), (0.05, 20)),
)  # fmt: skip

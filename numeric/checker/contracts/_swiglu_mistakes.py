"""What goes wrong in swiglu: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import EVERY_DTYPE, Fit, Instability, Mistake, Variant
from ._activation_formulas import of, sigmoid, slope_of, tanh, where_positive, zero

GATE = "activations.swiglu_derivative_in_gate"
VALUE = "activations.swiglu_derivative_in_value"


def _silu(a: Any) -> Any:
    return of("silu", a)


def _in_gate(slope: Callable[[Any, Any], Any]) -> Any:
    """Gradients with another slope in the gate, of a and s."""
    return lambda dy, a, b: (dy * b * slope(a, sigmoid(a)), dy * _silu(a))


def _right_in_gate(dy: Any, a: Any, b: Any) -> Any:
    return dy * b * slope_of("silu", a)


def _in_value(gradient: Callable[[Any, Any, Any], Any]) -> Any:
    return lambda dy, a, b: (_right_in_gate(dy, a, b), gradient(dy, a, b))


def _gate_through_tanh(a: Any) -> Any:
    kind = a.dtype.type
    below = np.tanh((a * kind(0.5)).astype(np.float64)).astype(a.dtype)
    return a * ((kind(1) + below) * kind(0.5))


def _quotient_of_exponentials(a: Any, b: Any) -> Any:
    return a * np.exp(a) / (a.dtype.type(1) + np.exp(a)) * b


def _gradients_of_quotient(dy: Any, a: Any, b: Any) -> Any:
    powers = np.exp(-a)
    below = a.dtype.type(1) + powers
    return dy * b / below + dy * b * (a / below / below) * powers, dy * a / below


MISTAKES = (
    Variant("swiglu.gate_second", "takes its second input for the gate: a silu(b)", GATE, lambda a, b: a * _silu(b), converter="Exchange its inputs, or the two halves of the projection that they come from"),
    Mistake("swiglu.sigmoid_gate", "has the sigmoid for silu, as the gated linear unit (GLU) does", GATE, lambda a, b: sigmoid(a) * b),
    Mistake("swiglu.gelu_gate", "has gelu for silu (GEGLU)", GATE, lambda a, b: of("gelu", a) * b),
    Mistake("swiglu.relu_gate", "has relu for silu (ReGLU)", GATE, lambda a, b: of("relu", a) * b),
    Mistake("swiglu.tanh_gate", "has tanh for silu", GATE, lambda a, b: tanh(a) * b),
    Mistake("swiglu.bilinear", "has no activation: a b", GATE, lambda a, b: a * b),
    Mistake("swiglu.both_gated", "applies silu to both: silu(a) silu(b)", VALUE, lambda a, b: _silu(a) * _silu(b)),
    Mistake("swiglu.gated_after", "applies silu to the product: silu(a b)", VALUE, lambda a, b: _silu(a * b)),
    Mistake("swiglu.sum", "adds b instead of multiplying by it", VALUE, lambda a, b: _silu(a) + b),
    Mistake("swiglu.without_value", "leaves out b", VALUE, lambda a, b: _silu(a) + 0 * b),
    Mistake("swiglu.with_residual", "adds b once more: silu(a) b + b", VALUE, lambda a, b: _silu(a) * b + b),
    Mistake("swiglu.gate_twice", "applies silu twice: silu(silu(a)) b", GATE, lambda a, b: _silu(_silu(a)) * b),
    Mistake("swiglu.gradients_exchanged", "returns the gradients in the other order", GATE, lambda dy, a, b: (dy * _silu(a), _right_in_gate(dy, a, b)), "gradients"),
    Mistake("swiglu.gradient_gate_without_second_term", "takes the sigmoid for a constant in the gradient of a: b s", GATE, _in_gate(lambda a, s: s + 0 * a), "gradients"),
    Mistake("swiglu.gradient_gate_without_first_term", "leaves out s in the gradient of a: b a s (1 - s)", GATE, _in_gate(lambda a, s: a * s * (1 - s)), "gradients"),
    Mistake("swiglu.gradient_gate_of_sigmoid", "has s (1 - s), the derivative of the sigmoid, in the gradient of a", GATE, _in_gate(lambda a, s: s * (1 - s)), "gradients"),
    Mistake("swiglu.gradient_gate_minus", "subtracts the second term in the gradient of a", GATE, _in_gate(lambda a, s: s * (1 - a * (1 - s))), "gradients"),
    Mistake("swiglu.gradient_gate_without_value", "leaves out the factor b in the gradient of a", GATE, lambda dy, a, b: (dy * slope_of("silu", a), dy * _silu(a)), "gradients"),
    Mistake("swiglu.gradient_gate_at_value", "takes the derivative of silu at b in the gradient of a", GATE, lambda dy, a, b: (dy * b * slope_of("silu", b), dy * _silu(a)), "gradients"),
    Mistake("swiglu.gradient_gate_of_relu", "has the derivative of relu in the gradient of a", GATE, lambda dy, a, b: (dy * b * where_positive(a, 0 * a + 1, zero(a)), dy * _silu(a)), "gradients"),
    Mistake("swiglu.gradient_value_of_gate", "has a, before its activation, in the gradient of b", VALUE, _in_value(lambda dy, a, b: dy * a), "gradients"),
    Mistake("swiglu.gradient_value_of_sigmoid", "has the sigmoid of a, not silu, in the gradient of b", VALUE, _in_value(lambda dy, a, b: dy * sigmoid(a)), "gradients"),
    Mistake("swiglu.gradient_value_is_cotangent", "passes dy on to b unchanged", VALUE, _in_value(lambda dy, a, b: dy + 0 * b), "gradients"),
    Mistake("swiglu.gradient_value_of_output", "multiplies dy by the output in the gradient of b", VALUE, _in_value(lambda dy, a, b: dy * _silu(a) * b), "gradients"),
    Instability("swiglu.quotient_of_exponentials", "divides exp a by 1 + exp a, both of which overflow", "activations.silu_odd_part", _quotient_of_exponentials),
    Instability("swiglu.gradient_of_quotient", "multiplies by exp(-a), which overflows, as autograd does of a / (1 + exp(-a))", GATE, _gradients_of_quotient, "gradients"),
    Instability("swiglu.through_tanh", "takes (1 + tanh(a/2)) / 2 for the sigmoid, which leaves few digits where a is very negative", "activations.sigmoid_symmetry", lambda a, b: _gate_through_tanh(a) * b, admitted=EVERY_DTYPE),
)  # fmt: skip

FITS = (
    Fit("the factor of a inside the sigmoid", "1", GATE, lambda theta, a, b: a * sigmoid(theta * a) * b, (0.02, 50)),
)

"""What goes wrong in a feed-forward layer: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...arithmetic import convert, zeros
from ..mistake import Mistake, Variant
from ._activation_formulas import of, slope_of, where_positive

ROWS = "feed_forward.position_wise"
UNIT = "feed_forward_balance.hidden_unit_is_gated"
OF_INPUT = "feed_forward_gradients.gradient_of_input"
OF_FIRST_WEIGHTS = "feed_forward_gradients.gradient_of_first_weights"
OF_FIRST_BIAS = "feed_forward_gradients.gradient_of_first_bias"
OF_SECOND_WEIGHTS = "feed_forward_gradients.gradient_of_second_weights"
OF_SECOND_BIAS = "feed_forward_gradients.gradient_of_second_bias"


class Layer(NamedTuple):
    """Rows of x, and the parameters."""

    x: Any
    w1: Any
    b1: Any
    w2: Any
    b2: Any
    f: str

    @property
    def a(self) -> Any:
        return self.x @ self.w1 + self.b1

    @property
    def h(self) -> Any:
        return of(self.f, self.a)

    @property
    def y(self) -> Any:
        return self.h @ self.w2 + self.b2


def _output(formula: Callable[[Layer], Any]) -> Any:
    def of_arrays(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, *, activation: str) -> Any:
        y = formula(Layer(x.reshape(-1, x.shape[-1]), w1, b1, w2, b2, activation))
        return y.reshape(*x.shape[:-1], y.shape[-1])

    return of_arrays


class Backward(NamedTuple):
    """dy as rows, and what a gradient is made of; any of it may be replaced by something wrong."""

    g: Any
    layer: Layer
    leading: int  # the length of the first axis of x

    @property
    def dh(self) -> Any:
        return self.g @ self.layer.w2.T

    @property
    def da(self) -> Any:
        return self.dh * slope_of(self.layer.f, self.layer.a)

    def through(self, da: Any) -> tuple[Any, ...]:
        """All five gradients, given that before the activation."""
        x, h = self.layer.x, self.layer.h
        return da @ self.layer.w1.T, x.T @ da, da.sum(0), h.T @ self.g, self.g.sum(0)


def _gradients(formula: Callable[[Backward], tuple[Any, ...]]) -> Any:
    def of_arrays(dy: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, *, activation: str) -> Any:
        layer = Layer(x.reshape(-1, x.shape[-1]), w1, b1, w2, b2, activation)
        dx, *others = formula(Backward(dy.reshape(-1, dy.shape[-1]), layer, len(x)))
        return (dx.reshape(x.shape), *others)

    return of_arrays


def _replaced(place: int, wrong: Callable[[Backward], Any]) -> Any:
    """One of the five gradients is wrong: x, w1, b1, w2, b2."""

    def formula(back: Backward) -> tuple[Any, ...]:
        right = list(back.through(back.da))
        right[place] = wrong(back)
        return tuple(right)

    return _gradients(formula)


def _last_leading(rows: Any, back: Backward) -> Any:
    return rows.reshape(back.leading, -1, rows.shape[-1])[-1]


def _no_bias(rows: Any) -> Any:
    return zeros(rows.shape[-1:], rows.dtype)


MISTAKES = (
    Variant("feed_forward.gelu_tanh", "has the tanh approximation of gelu", "activations.gelu_derivative", _output(lambda l: of("gelu_tanh" if l.f == "gelu" else l.f, l.a) @ l.w2 + l.b2), converter='Take the gelu with erf: approximate="none" in PyTorch, approximate=False in JAX, "gelu" and not "gelu_new" in Hugging Face'),
    Mistake("feed_forward.without_first_bias", "leaves out b1", UNIT, _output(lambda l: of(l.f, l.x @ l.w1) @ l.w2 + l.b2)),
    Mistake("feed_forward.without_second_bias", "leaves out b2", ROWS, _output(lambda l: l.h @ l.w2)),
    Mistake("feed_forward.without_biases", "leaves out both biases", UNIT, _output(lambda l: of(l.f, l.x @ l.w1) @ l.w2)),
    Mistake("feed_forward.first_bias_after_activation", "adds b1 after the activation", UNIT, _output(lambda l: (of(l.f, l.x @ l.w1) + l.b1) @ l.w2 + l.b2)),
    Mistake("feed_forward.first_bias_subtracted", "subtracts b1", UNIT, _output(lambda l: of(l.f, l.x @ l.w1 - l.b1) @ l.w2 + l.b2)),
    Mistake("feed_forward.second_bias_subtracted", "subtracts b2", ROWS, _output(lambda l: l.h @ l.w2 - l.b2)),
    Mistake("feed_forward.without_activation", "has no activation", UNIT, _output(lambda l: l.a @ l.w2 + l.b2)),
    Mistake("feed_forward.activation_after_second", "applies the activation to the output, not to the hidden layer", UNIT, _output(lambda l: of(l.f, l.a @ l.w2 + l.b2))),
    Mistake("feed_forward.activation_twice", "applies the activation to the output, too", UNIT, _output(lambda l: of(l.f, l.y))),
    Mistake("feed_forward.activation_on_input", "applies the activation to x, not to the hidden layer", UNIT, _output(lambda l: (of(l.f, l.x) @ l.w1 + l.b1) @ l.w2 + l.b2)),
    Mistake("feed_forward.activation_on_both", "applies the activation to x, too", UNIT, _output(lambda l: of(l.f, of(l.f, l.x) @ l.w1 + l.b1) @ l.w2 + l.b2)),
    Mistake("feed_forward.hidden_activated_twice", "applies the activation to the hidden layer twice", UNIT, _output(lambda l: of(l.f, l.h) @ l.w2 + l.b2)),
    Mistake("feed_forward.always_relu", "has relu, whatever activation says", UNIT, _output(lambda l: of("relu", l.a) @ l.w2 + l.b2)),
    Mistake("feed_forward.gelu_for_relu", "has gelu for relu", UNIT, _output(lambda l: of("gelu" if l.f == "relu" else l.f, l.a) @ l.w2 + l.b2)),
    Mistake("feed_forward.silu_for_gelu", "has silu for gelu", "activations.gelu_derivative", _output(lambda l: of("silu" if l.f == "gelu" else l.f, l.a) @ l.w2 + l.b2)),
    Mistake("feed_forward.of_minus_hidden", "has the other sign before the activation", UNIT, _output(lambda l: of(l.f, -l.a) @ l.w2 + l.b2)),
    Mistake("feed_forward.gated_by_itself", "multiplies the hidden layer by what it was before the activation", UNIT, _output(lambda l: (l.h * l.a) @ l.w2 + l.b2)),
    Mistake("feed_forward.with_residual", "adds x, which belongs to the block around it", ROWS, _output(lambda l: l.x + l.y)),
    Mistake("feed_forward.second_weights_tied", "has w1 transposed for w2", ROWS, _output(lambda l: l.h @ l.w1.T + l.b2)),
    Mistake("feed_forward.first_weights_tied", "has w2 transposed for w1", ROWS, _output(lambda l: of(l.f, l.x @ l.w2.T + l.b1) @ l.w2 + l.b2)),
    Mistake("feed_forward.rows_averaged", "subtracts the mean of the rows before the second layer", ROWS, _output(lambda l: (l.h - l.h.mean(0)) @ l.w2 + l.b2)),
    Mistake("feed_forward.scaled_by_width", "divides the hidden layer's sum by the root of its width", ROWS, _output(lambda l: l.h @ l.w2 / np.sqrt(convert(len(l.w2), l.h.dtype)) + l.b2)),
    Mistake("feed_forward.gradient_without_slope", "leaves out the derivative of the activation", OF_INPUT, _gradients(lambda b: b.through(b.dh)), "gradients"),
    Mistake("feed_forward.gradient_slope_at_output", "takes the derivative of the activation at its output, not at its input", OF_INPUT, _gradients(lambda b: b.through(b.dh * slope_of(b.layer.f, b.layer.h))), "gradients"),
    Mistake("feed_forward.gradient_slope_of_relu", "has the derivative of relu, whatever activation says", OF_INPUT, _gradients(lambda b: b.through(b.dh * slope_of("relu", b.layer.a))), "gradients"),
    Mistake("feed_forward.gradient_slope_of_dh", "takes the mask of relu from the gradient, not from the input", OF_INPUT, _gradients(lambda b: b.through(where_positive(b.dh, b.dh, 0 * b.dh))), "gradients"),
    Mistake("feed_forward.gradient_times_activation", "multiplies by the activation, not by its derivative", OF_INPUT, _gradients(lambda b: b.through(b.dh * b.layer.h)), "gradients"),
    Mistake("feed_forward.gradient_slope_without_bias", "takes the derivative of the activation at x w1, without b1", OF_INPUT, _gradients(lambda b: b.through(b.dh * slope_of(b.layer.f, b.layer.x @ b.layer.w1))), "gradients"),
    Mistake("feed_forward.gradient_input_with_residual", "adds dy to the gradient of x, as if x had been added", OF_INPUT, _replaced(0, lambda b: b.da @ b.layer.w1.T + b.g), "gradients"),
    Mistake("feed_forward.gradient_input_without_slope", "leaves out the derivative of the activation in the gradient of x only", OF_INPUT, _replaced(0, lambda b: b.dh @ b.layer.w1.T), "gradients"),
    Mistake("feed_forward.gradient_first_weights_without_slope", "leaves out the derivative of the activation in the gradient of w1 only", OF_FIRST_WEIGHTS, _replaced(1, lambda b: b.layer.x.T @ b.dh), "gradients"),
    Mistake("feed_forward.gradient_first_weights_averaged", "averages the gradient of w1 over the rows instead of adding", OF_FIRST_WEIGHTS, _replaced(1, lambda b: b.layer.x.T @ b.da / len(b.layer.x)), "gradients"),
    Mistake("feed_forward.gradient_first_bias_without_slope", "leaves out the derivative of the activation in the gradient of b1 only", OF_FIRST_BIAS, _replaced(2, lambda b: b.dh.sum(0)), "gradients"),
    Mistake("feed_forward.gradient_first_bias_averaged", "averages the gradient of b1 over the rows instead of adding", OF_FIRST_BIAS, _replaced(2, lambda b: b.da.mean(0)), "gradients"),
    Mistake("feed_forward.gradient_first_bias_of_last_rows", "adds the gradient of b1 up over the last leading index only", OF_FIRST_BIAS, _replaced(2, lambda b: _last_leading(b.da, b).sum(0)), "gradients"),
    Mistake("feed_forward.gradient_first_bias_is_zero", "has no gradient for b1", OF_FIRST_BIAS, _replaced(2, lambda b: _no_bias(b.da)), "gradients"),
    Mistake("feed_forward.gradient_second_weights_before_activation", "has the hidden layer before its activation in the gradient of w2", OF_SECOND_WEIGHTS, _replaced(3, lambda b: b.layer.a.T @ b.g), "gradients"),
    Mistake("feed_forward.gradient_second_weights_of_last_rows", "adds the gradient of w2 up over the last leading index only", OF_SECOND_WEIGHTS, _replaced(3, lambda b: _last_leading(b.layer.h, b).T @ _last_leading(b.g, b)), "gradients"),
    Mistake("feed_forward.gradient_second_bias_averaged", "averages the gradient of b2 over the rows instead of adding", OF_SECOND_BIAS, _replaced(4, lambda b: b.g.mean(0)), "gradients"),
    Mistake("feed_forward.gradient_second_bias_of_last_rows", "adds the gradient of b2 up over the last leading index only", OF_SECOND_BIAS, _replaced(4, lambda b: _last_leading(b.g, b).sum(0)), "gradients"),
    Mistake("feed_forward.gradient_of_parameters_averaged", "averages all gradients of parameters over the rows", OF_SECOND_BIAS, _gradients(lambda b: (b.through(b.da)[0], *(each / len(b.g) for each in b.through(b.da)[1:]))), "gradients"),
)  # fmt: skip

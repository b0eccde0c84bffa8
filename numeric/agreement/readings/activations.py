"""relu, silu, gelu, gelu_tanh and swiglu are read as numeric.layers.activations.forward, hidden units as those of all rows."""

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from proofs.terms import Term
from proofs.theorems.activations import gelu, gelu_tanh, relu, silu, swiglu
from proofs.theorems.feed_forward import hidden

from ...checker.rounding import Rounded
from ...layers import activations
from ..arrays import applied, shaped
from ..bounds import chosen, exact, root
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import Number
from .linear import preactivations

LAYER = activations


def _forward(*inputs: np.ndarray, activation: str) -> np.ndarray:
    return activations.forward(activation, *inputs)[0]


def _backward(*inputs_and_dy: np.ndarray, activation: str) -> tuple[np.ndarray, ...]:
    *inputs, dy = inputs_and_dy
    return activations.backward(dy, activations.forward(activation, *inputs)[1])


# Bounds: each function and the slope that multiplies its cotangent


def _sigmoid(x: Rounded) -> Rounded:
    one = exact(1, x)
    return one / (one + (-x).exp())


def _silu_slope(x: Rounded) -> Rounded:
    s, one = _sigmoid(x), exact(1, x)
    return s * (one + x * (one - s))


def _relu(x: Rounded) -> Rounded:
    """It moves at most as far as x does."""
    return Rounded(np.maximum(x.value, 0), x.worst, x.square, x.precision)


def _relu_slope(x: Rounded) -> Rounded:
    step = exact((x.value > 0).astype(float), x)
    return chosen(np.abs(x.value) > x.worst, step, np.inf)


def _pi(x: Rounded) -> Rounded:
    return Rounded.given(np.pi, x.precision).loosened(np.asarray(np.spacing(np.pi)))


def _below(x: Rounded) -> Rounded:
    """erfc(-x / sqrt 2) / 2. Cephes squares z before exp, which costs z^2 u; with 10 u for its rational functions.

    |erfc'| <= 2 / sqrt(pi) < 1.13.
    """
    z = -x / root(2, x)
    value, u = scipy.special.erfc(z.value), x.precision.stored.unit
    moved = Rounded(value, 1.13 * z.worst, 1.28 * z.square, x.precision)
    return moved.loosened((z.value**2 + 10) * u * (value + 1.13 * z.worst)).over(2)


def _gelu_slope(x: Rounded) -> Rounded:
    density = (x * x).over(-2.0).exp() / (exact(2, x) * _pi(x)) ** exact(0.5, x)
    return _below(x) + x * density


def _cubic(x: Rounded) -> Rounded:
    return exact(44715, x) / exact(1e6, x)


def _gate(x: Rounded) -> Rounded:
    scale = (exact(2, x) / _pi(x)) ** exact(0.5, x)
    return _sigmoid(exact(2, x) * scale * (x * (exact(1, x) + _cubic(x) * (x * x))))


def _gelu_tanh_slope(x: Rounded) -> Rounded:
    s, one = _gate(x), exact(1, x)
    slope = (exact(2, x) / _pi(x)) ** exact(0.5, x) * (one + exact(3, x) * _cubic(x) * (x * x))
    return s + exact(2, x) * x * (s * (one - s)) * slope


VALUES: dict[str, Callable[[Rounded], Rounded]] = {
    "relu": _relu,
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x * _below(x),
    "gelu_tanh": lambda x: x * _gate(x),
}
SLOPES: dict[str, Callable[[Rounded], Rounded]] = {
    "relu": _relu_slope,
    "silu": _silu_slope,
    "gelu": _gelu_slope,
    "gelu_tanh": _gelu_tanh_slope,
}


def forward_bound(*inputs: Rounded, activation: str) -> Rounded:
    if activation == "swiglu":
        a, b = inputs
        return a * _sigmoid(a) * b
    return VALUES[activation](*inputs)


def backward_bound(*inputs_and_dy: Rounded, activation: str) -> tuple[Rounded, ...]:
    *inputs, dy = inputs_and_dy
    if activation == "swiglu":
        a, b = inputs
        return dy * b * _silu_slope(a), dy * (a * _sigmoid(a))
    return (dy * SLOPES[activation](*inputs),)


FUNCTIONS = LayerFunctions(
    LayerFunction("activations.forward", _forward, forward_bound),
    LayerFunction("activations.backward", _backward, backward_bound),
)


def _read(activation: str, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    inputs = (shaped([evaluation.number(each, environment)], [1]) for each in parameters(application))
    return applied(evaluation, FUNCTIONS, inputs, activation=activation)[0][0]


def _read_hidden(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *arrays, i, j = parameters(application)

    def compute() -> np.ndarray:
        inputs = preactivations(evaluation, tuple(arrays), environment)
        return applied(evaluation, FUNCTIONS, (inputs,), activation="relu")[0]

    output = evaluation.shared("hidden", tuple(arrays), environment, compute)
    return output[evaluation.place(i, environment), evaluation.place(j, environment)]


READINGS: dict[object, Read] = {
    **{each: partial(_read, each.name) for each in (relu, silu, gelu, gelu_tanh, swiglu)},
    hidden: _read_hidden,
}

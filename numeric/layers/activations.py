"""The activation functions of feed-forward layers, each by its name, forward and backward side by side.

    relu        y = max(0, x)                               dx = dy where x > 0, else 0
    silu        y = x s(x)                                  dx = dy s(x) (1 + x (1 - s(x)))
    gelu        y = x Phi(x)                                dx = dy (Phi(x) + x phi(x))
    gelu_tanh   y = x (1 + h) / 2                           dx = dy ((1 + h) / 2 + x / 2 (1 - h^2) u')
    swiglu      y = a s(a) b                                da = dy b s(a) (1 + a (1 - s(a)))       db = dy a s(a)

    s(x) = 1 / (1 + e^-x)       Phi(x) = (1 + erf(x / sqrt 2)) / 2       phi(x) = e^(-x^2/2) / sqrt(2 pi)
    h = tanh u                  u = sqrt(2/pi) (x + 0.044715 x^3)        u' = sqrt(2/pi) (1 + 0.134145 x^2)

Shapes: all alike, at least one axis. At 0, where relu has no derivative, backward takes 0.
Proved in proofs/theorems/activations.py: relu_derivative, silu_derivative, gelu_derivative, gelu_tanh_derivative, swiglu_derivative_in_gate, swiglu_derivative_in_value.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from flint import arb

from ..arithmetic import BALL, convert, elementwise, greater, is_balls, round_to, widen, zeros
from ._arguments import cotangent_operand, require_operand
from ._parameters import array_operand

LAYER = "activations"


class Cache(NamedTuple):
    name: str
    inputs: tuple[np.ndarray, ...]  # in working precision; may share their memory     like x
    gate: np.ndarray  # what the input was multiplied by: s, Phi or (1 + h) / 2        like x


def forward(name: str, *inputs: np.ndarray) -> tuple[np.ndarray, Cache]:
    """y of the named function, at x, or for swiglu at a and b; and what `backward` needs.

    Raises TypeError or ValueError unless the name is one of the above and the inputs are real and of one shape.
    """
    if name not in FUNCTIONS:
        raise ValueError(f"{LAYER}: name is {name!r}, needed one of {', '.join(FUNCTIONS)}")
    function = FUNCTIONS[name]
    if len(inputs) != len(function.inputs):
        needed = " and ".join(function.inputs)
        raise TypeError(f"{LAYER}: {name} was given {len(inputs)} arrays, needed {len(function.inputs)}: {needed}")
    first = inputs[0]
    require_operand(LAYER, function.inputs[0], first)
    work = widen(first)
    others = (
        array_operand(LAYER, *pair, first.shape, work.dtype)
        for pair in zip(function.inputs[1:], inputs[1:], strict=True)
    )
    operands = (work, *others)
    y, gate = function.value(*operands)
    return round_to(np.asarray(y), first.dtype), Cache(name, operands, gate)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, ...]:
    """The gradients of <dy, y> with respect to the inputs: (dx,), or (da, db) for swiglu.

    Raises UndecidedComparison where a ball leaves open whether relu is active.
    """
    g = cotangent_operand(LAYER, "dy", dy, cache.inputs[0])
    gradients = FUNCTIONS[cache.name].gradients(g, cache.gate, *cache.inputs)
    return tuple(round_to(np.asarray(gradient), dy.dtype) for gradient in gradients)


# Each function: its value and its gate; below it the gradients, given the cotangent g, the gate and the inputs


def _relu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    zero = zeros((), x.dtype)
    if x.dtype.kind == "f":
        return np.maximum(x, zero), x  # of a NaN a NaN; a choice at each entry would take many times as long
    return np.where(greater(zero, x), zero, x), x  # `where x > 0` would turn a NaN into 0


def _relu_gradient(g: np.ndarray, gate: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    active = greater(x, 0)
    return (g * active if g.dtype.kind == "f" else np.where(active, g, zeros((), g.dtype)),)


def _silu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = _sigmoid(x)
    return x * s, s


def _silu_gradient(g: np.ndarray, s: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    return (g * _silu_slope(s, x),)


def _swiglu(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = _sigmoid(a)
    return a * s * b, s


def _swiglu_gradients(g: np.ndarray, s: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
    return g * b * _silu_slope(s, a), g * (a * s)


def _gelu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # 1 + erf would cancel where x is negative; erfc(-z) is the same number
    below = _erfc(x / -np.sqrt(convert(2, x.dtype))) / 2
    return x * below, below


def _gelu_gradient(g: np.ndarray, below: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    with np.errstate(over="ignore"):  # of the square, whose exp is then 0
        density = np.exp(x * x / -2) / np.sqrt(2 * _pi(x.dtype))
    return (g * (below + x * density),)


def _gelu_tanh(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # (1 + tanh u) / 2 = s(2u), which does not cancel where u is negative
    with np.errstate(over="ignore"):  # an infinite u is as good as a large one
        s = _sigmoid(2 * np.sqrt(2 / _pi(x.dtype)) * (x * (1 + _cubic(x.dtype) * (x * x))))
    return x * s, s


def _gelu_tanh_gradient(g: np.ndarray, s: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    slope = np.sqrt(2 / _pi(x.dtype)) * (1 + 3 * _cubic(x.dtype) * (x * x))
    return (g * (s + 2 * x * (s * (1 - s)) * slope),)  # 1 - h^2 = 4 s (1 - s)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # 1 / (1 + inf) = 0 is right
        return 1 / (1 + np.exp(-x))


def _silu_slope(s: np.ndarray, x: np.ndarray) -> np.ndarray:
    return s * (1 + x * (1 - s))


def _erfc(x: np.ndarray) -> np.ndarray:
    return elementwise(lambda ball: ball.erfc(), x) if is_balls(x) else scipy.special.erfc(x)


def _pi(dtype: np.dtype) -> np.ndarray:
    return convert(arb.pi() if dtype == BALL else np.pi, dtype)


def _cubic(dtype: np.dtype) -> np.ndarray:
    return convert(44715, dtype) / 1000000  # the decimal fraction; the double 0.044715 is another number


class _Function(NamedTuple):
    inputs: tuple[str, ...]
    value: Callable[..., tuple[np.ndarray, np.ndarray]]
    gradients: Callable[..., tuple[np.ndarray, ...]]


FUNCTIONS = {
    "relu": _Function(("x",), _relu, _relu_gradient),
    "gelu": _Function(("x",), _gelu, _gelu_gradient),
    "gelu_tanh": _Function(("x",), _gelu_tanh, _gelu_tanh_gradient),
    "silu": _Function(("x",), _silu, _silu_gradient),
    "swiglu": _Function(("a", "b"), _swiglu, _swiglu_gradients),
}

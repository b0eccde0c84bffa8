"""Activation functions in the arithmetic of their argument, as parts of mistakes; on floats, balls and jets alike."""

from typing import Any

import numpy as np
import scipy
from flint import arb

from ...arithmetic import convert, elementwise, greater, is_balls, zeros
from ...layers import activations


def of(name: str, *inputs: Any) -> Any:
    return activations.forward(name, *inputs)[0]


def gradients_of(name: str, dy: Any, *inputs: Any) -> Any:
    return activations.backward(dy, activations.forward(name, *inputs)[1])


def slope_of(name: str, x: Any) -> Any:
    return gradients_of(name, 0 * x + 1, x)[0]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def tanh(x: Any) -> Any:
    return 2 * sigmoid(2 * x) - 1


def erf(x: Any) -> Any:
    if is_balls(x):
        return elementwise(lambda ball: ball.erf(), x)
    return scipy.special.erf(x.astype(np.float64)).astype(x.dtype)


def where_positive(of_which: Any, yes: Any, no: Any) -> Any:
    return np.where(greater(of_which, 0), yes, no)


def zero(like: Any) -> Any:
    return zeros((), like.dtype)


def root(number: float, like: Any) -> Any:
    return np.sqrt(convert(number, like.dtype))


def root_of_pi_times(factor: float, like: Any) -> Any:
    pi = convert(arb.pi() if is_balls(like) else np.pi, like.dtype)
    return np.sqrt(factor * pi)


def density(x: Any) -> Any:
    return np.exp(x * x / -2) / root_of_pi_times(2, x)


def distribution(x: Any) -> Any:
    return (1 + erf(x / root(2, x))) / 2

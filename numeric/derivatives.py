"""Derivatives along a line, of any order, by running a function on jets (numeric/jets.py).

    f(x + t v) = f(x) + t Df(x)[v] + t^2/2 D^2 f(x)[v, v] + ...

A layer that is given x + t v in place of x computes the series of its output with the same lines, and each coefficient
encloses the true one: no step, no cancellation, no remainder. What a layer decides, such as which entries of a relu are positive,
it decides at t = 0.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb, arb_series

from .arithmetic import to_balls
from .jets import Jet, order


def line(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x + t v as jets of the order that is set; x and v are floats or balls of one shape. Raises TypeError or ValueError."""
    if x.shape != v.shape:
        raise ValueError(f"derivatives: v has shape {v.shape}, needed {x.shape}, the shape of x")
    return _objects(lambda start, slope: Jet(arb_series([start, slope])), to_balls(x), to_balls(v))


def coefficient(jets: np.ndarray, power: int) -> np.ndarray:
    """The coefficients of t^power, as balls; a ball among the jets is a constant. Raises ValueError where one was cut off."""
    constant = arb(0)

    def of_one(number: arb | Jet) -> arb:
        if isinstance(number, Jet):
            return number.coefficient(power)
        return number if power == 0 else constant

    return _objects(of_one, jets)


def derivative(
    function: Callable[..., Any], at: Sequence[np.ndarray], along: Sequence[np.ndarray], times: int = 1
) -> tuple[np.ndarray, ...]:
    """Balls around d^times/dt^times of function(*(at + t along)) at t = 0, for each array that it returns.

    `function` takes arrays and returns an array or a tuple of arrays; `along` has the shapes of `at`.
    """
    with order(times):
        found = function(*(line(*pair) for pair in zip(at, along, strict=True)))
        arrays = found if isinstance(found, tuple) else (found,)
        return tuple(coefficient(array, times) * math.factorial(times) for array in arrays)


def _objects(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)

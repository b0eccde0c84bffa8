"""What layers with parameters share: parameters as operands, roots to divide by, gradients summed over the rows."""

import numpy as np
from flint import arb

from ..arithmetic import BALL, WORKING_DTYPE, convert, greater, is_balls
from ._arguments import all_finite, number_operand, require_operand


def finite_operand(layer: str, name: str, number: float | arb, dtype: np.dtype) -> np.ndarray:
    """A finite number of any sign, as an operand of the arithmetic `dtype`. Raises TypeError or ValueError."""
    operand = number_operand(layer, name, number, dtype)
    if not all_finite(operand):
        raise ValueError(f"{layer}: {name} is {number}, needed a finite number in {dtype}")
    return operand


def array_operand(layer: str, name: str, array: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of this shape as an operand of the arithmetic `dtype`, which must hold it exactly.

    Raises TypeError or ValueError.
    """
    require_operand(layer, name, array, 0)
    if array.shape != shape:
        raise ValueError(f"{layer}: {name} has shape {array.shape}, needed {shape}")
    if dtype != BALL and is_balls(array):
        raise TypeError(f"{layer}: {name} holds balls, needed floats, since the layer computes in {dtype}")
    if not np.can_cast(WORKING_DTYPE[array.dtype], dtype):
        raise TypeError(
            f"{layer}: {name} has dtype {array.dtype}, needed one that {dtype} holds, since the layer computes in "
            f"{dtype}; convert it with .astype first"
        )
    return convert(array, dtype)


def require_root(layer: str, name: str, radicand: np.ndarray) -> None:
    """Every entry above 0, so that its root can be divided by; a NaN passes, among floats.

    Raises ValueError, or UndecidedComparison for a ball around 0.
    """
    fails = ~greater(radicand, 0)
    if not is_balls(radicand):
        fails &= ~np.isnan(radicand)
    if fails.any():
        index = tuple(int(i) for i in np.argwhere(fails)[0])
        raise ValueError(f"{layer}: {name} is {radicand[index]} at index {index}, needed a number above 0; raise eps")


def rows_of(array: np.ndarray) -> np.ndarray:
    """One matrix of all rows, so that there is one product instead of one for each leading index."""
    return array.reshape(-1, array.shape[-1])


def sum_of_rows(array: np.ndarray) -> np.ndarray:
    """The sum over every axis but the last; without any rows exact zeros, where NumPy's own would be no balls."""
    zero = arb(0) if is_balls(array) else 0
    return np.asarray(np.add.reduce(array, axis=tuple(range(array.ndim - 1)), initial=zero))

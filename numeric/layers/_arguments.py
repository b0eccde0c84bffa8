"""What every layer asks of its arguments; each error says layer, argument, what was found and what is needed."""

import operator

import numpy as np
from flint import arb

from ..arithmetic import BALL, WORKING_DTYPE, at_zero, convert, greater, is_balls, to_balls, widen
from ..jets import Jet

DTYPES = "float16, bfloat16, float32, float64, or object with flint.arb elements (numeric.arithmetic.to_balls)"


def require_operand(layer: str, name: str, array: np.ndarray, min_ndim: int = 1) -> None:
    """A NumPy array of real floats or balls, with at least `min_ndim` axes. Raises TypeError or ValueError."""
    require_array(layer, name, array)
    if array.dtype not in WORKING_DTYPE:
        raise TypeError(f"{layer}: {name} has dtype {array.dtype}, needed {DTYPES}; convert it with .astype first")
    if array.ndim < min_ndim:
        raise ValueError(f"{layer}: {name} has shape {array.shape}, needed ndim >= {min_ndim}")


def require_array(layer: str, name: str, array: np.ndarray) -> None:
    """A NumPy array; when its dtype is object, of balls and jets only. Raises TypeError."""
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"{layer}: {name} is a {type(array).__name__}, needed a NumPy array; convert it with numpy.asarray"
        )
    if is_balls(array) and not set(map(type, array.flat)) <= {arb, Jet}:
        for element in array.flat:
            if not isinstance(element, (arb, Jet)):
                raise TypeError(
                    f"{layer}: {name} has dtype object and a {type(element).__name__} among its elements, needed "
                    "flint.arb in every place; numeric.arithmetic.to_balls makes such an array"
                )


def cotangent_operand(
    layer: str, name: str, cotangent: np.ndarray, forward: np.ndarray, shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """A cotangent, or a tangent, as an operand of backward: balls, each exact, if the forward pass computed in balls.

    `forward` is an array that it computed; `shape` is that of the output, unless `forward` has it. Raises ValueError
    for another shape, TypeError as `require_operand`, and for balls if the forward pass computed in floats.
    """
    require_operand(layer, name, cotangent, 0)
    needed = forward.shape if shape is None else shape
    if cotangent.shape != needed:
        raise ValueError(f"{layer}: {name} has shape {cotangent.shape}, needed {needed}, the shape of the output")
    if is_balls(forward):
        return to_balls(cotangent)  # floats left as they are would round in every sum that meets no ball
    # balls times rounded floats would enclose the gradient at the rounded values, which is not the true one
    if is_balls(cotangent):
        raise TypeError(
            f"{layer}: {name} holds balls, but the forward pass computed in {forward.dtype}, so the result would "
            "enclose nothing; call forward on numeric.arithmetic.to_balls(...) of its inputs"
        )
    return widen(cotangent)


def integer(layer: str, name: str, number: int, needed: str = "an integer") -> int:
    """What has an index, as Python's integer; True as 1. Raises TypeError."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{layer}: {name} is {number!r}, needed {needed}") from None


def require_axis(layer: str, name: str, array: np.ndarray, axis: int) -> None:
    """An axis of `array` that is not empty. Raises TypeError or ValueError."""
    if not -array.ndim <= integer(layer, "axis", axis, "one integer") < array.ndim:
        raise ValueError(
            f"{layer}: axis {axis} is not one of {name} with shape {array.shape}, "
            f"needed {-array.ndim} <= axis < {array.ndim}"
        )
    if array.shape[axis] == 0:
        raise ValueError(
            f"{layer}: {name} has shape {array.shape}, empty along axis {axis}; needed at least one entry there"
        )


def require_number(layer: str, name: str, number: float | arb) -> None:
    """One real number, of Python, NumPy or flint, or a jet. Raises TypeError."""
    if isinstance(number, bool) or not isinstance(number, (int, float, np.integer, np.floating, arb, Jet)):
        raise TypeError(f"{layer}: {name} is {number!r}, needed one real number or, with balls, a flint.arb")


def number_operand(layer: str, name: str, number: float | arb, dtype: np.dtype) -> np.ndarray:
    """A number as an operand of the arithmetic `dtype`. Raises TypeError."""
    require_number(layer, name, number)
    if isinstance(number, (arb, Jet)) and dtype != BALL:
        raise TypeError(f"{layer}: {name} is a ball, needed a float, since the layer computes in {dtype}")
    return convert(number, dtype)


def positive_operand(layer: str, name: str, number: float | arb, dtype: np.dtype) -> np.ndarray:
    """A finite number above 0, as an operand of the arithmetic `dtype`.

    Raises TypeError, ValueError, or UndecidedComparison for a ball around 0.
    """
    operand = number_operand(layer, name, number, dtype)
    if not all_finite(operand) or not greater(operand, 0):
        raise ValueError(f"{layer}: {name} is {number}, needed a finite number above 0 in {dtype}")
    return operand


def all_finite(array: np.ndarray) -> bool:
    return all(ball.is_finite() for ball in at_zero(array).flat) if is_balls(array) else bool(np.isfinite(array).all())


def require_positions(layer: str, positions: np.ndarray, dtype: np.dtype) -> None:
    """Real, finite positions along one axis that can enter an arithmetic of `dtype`. Raises TypeError or ValueError."""
    require_array(layer, "positions", positions)
    if not np.issubdtype(positions.dtype, np.integer) and positions.dtype not in WORKING_DTYPE:
        raise TypeError(f"{layer}: positions has dtype {positions.dtype}, needed integers, {DTYPES}")
    if positions.ndim != 1:
        raise ValueError(f"{layer}: positions has shape {positions.shape}, needed one axis, (n,)")
    if is_balls(positions) and dtype != BALL:
        raise TypeError(
            f"{layer}: positions holds balls, needed integers or floats, since the layer computes in {dtype}"
        )
    if not all_finite(positions):
        raise ValueError(f"{layer}: positions has infinite or NaN entries, needed finite numbers")


def require_even_width(layer: str, name: str, width: int) -> None:
    """An even integer of at least 2: columns come in pairs that one frequency turns. Raises TypeError or ValueError."""
    size = integer(layer, name, width)
    if size < 2 or size % 2:
        raise ValueError(f"{layer}: {name} is {size}, needed an even number of at least 2, since columns come in pairs")


def require_not_empty(layer: str, name: str, array: np.ndarray, axes: int) -> None:
    """At least one entry along each of the last `axes` axes. Raises ValueError."""
    if 0 in array.shape[array.ndim - axes :]:
        raise ValueError(
            f"{layer}: {name} has shape {array.shape}, needed at least one entry along its last {axes} axes"
        )


def require_same_dtype(layer: str, **arrays: np.ndarray) -> None:
    """One dtype for all operands of a layer. Raises TypeError."""
    (first, one), *others = arrays.items()
    for name, other in others:
        if other.dtype != one.dtype:
            raise TypeError(f"{layer}: {name} has dtype {other.dtype}, needed {one.dtype}, the dtype of {first}")


def require_size(layer: str, name: str, number: int, least: int = 1) -> int:
    """An integer of at least `least`. Raises TypeError or ValueError."""
    size = integer(layer, name, number)
    if isinstance(number, bool) or size < least:
        raise ValueError(f"{layer}: {name} is {number!r}, needed an integer of at least {least}")
    return size


def require_integers(layer: str, name: str, array: np.ndarray) -> None:
    """A NumPy array of integers. Raises TypeError."""
    require_array(layer, name, array)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{layer}: {name} has dtype {array.dtype}, needed integers")


def require_indices(layer: str, name: str, indices: np.ndarray, size: int, of: str) -> None:
    """Integers from 0 to size - 1, since NumPy would count negative ones from the end. Raises ValueError."""
    outside = indices[(indices < 0) | (indices >= size)]
    if outside.size:
        raise ValueError(
            f"{layer}: {name} holds {outside[0]}, needed 0 <= {name} < {size}, the number of {of} "
            f"({outside.size} such in all)"
        )


def require_booleans(layer: str, name: str, mask: np.ndarray, what: str = "a key") -> None:
    """A NumPy array of booleans, True where a key, or `what`, is kept. Raises TypeError."""
    require_array(layer, name, mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"{layer}: {name} has dtype {mask.dtype}, needed bool, True where {what} is kept")


def require_keep(layer: str, keep: np.ndarray, shape: tuple[int, ...], what: str = "a key") -> None:
    """Booleans, True where a key, or `what`, is kept, that broadcast to `shape`. Raises TypeError or ValueError."""
    require_booleans(layer, "keep", keep, what)
    try:
        fits = np.broadcast_shapes(keep.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{layer}: keep has shape {keep.shape}, needed one that broadcasts to {shape}")

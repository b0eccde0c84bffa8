"""Layers that are given whole arrays: every entry that a theorem speaks of belongs to one call of the layer."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from proofs.terms import Term

from .calls import Float64
from .differentials import ArrayLayer, LayerFunctions, Unreadable
from .evaluation import DERIVATIVE, Environment, Evaluation
from .tape import Number, Traced

WAYS = ("jvp", "backward")  # of layers that have no jvp: by power series through forward, and by backward


def array(evaluation: Evaluation, function: Term, environment: Environment) -> np.ndarray:
    """The values of a function of indices, with an axis for each of them."""
    *ranges, _ = function.args
    return shaped(evaluation.vector(function, environment), [evaluation.extent(size) for size in ranges])


def shaped(numbers: Sequence[Number], shape: Sequence[int]) -> np.ndarray:
    """Numbers row by row as an array; NumPy would look into them."""
    result = np.empty(len(numbers), dtype=object)
    result[:] = numbers
    return result.reshape(shape)


def read_all(evaluation: Evaluation, functions: Iterable[Term], environment: Environment) -> list[np.ndarray]:
    return [array(evaluation, each, environment) for each in functions]


def varies(arrays: Iterable[np.ndarray]) -> bool:
    """Does any of these numbers stand under a derivative?"""
    return any(isinstance(number, Traced) for each in arrays for number in each.flat)


def side_by_side(W: np.ndarray) -> np.ndarray:
    """The matrices of the heads, W_gra, as row r, column (g, a)."""
    return np.moveaxis(W, 0, 1).reshape(W.shape[1], -1)


def full(shape: Sequence[int] | int, number: Number) -> np.ndarray:
    return np.full(shape, number, dtype=object)


def constant(evaluation: Evaluation, term: Term, environment: Environment) -> np.ndarray:
    """A number by which layers give no derivative."""
    number = evaluation.number(term, environment)
    if isinstance(number, Traced):
        raise Unreadable(f"layers give no derivative by {term!r}")
    return np.asarray(number, dtype=object)


def applied(
    evaluation: Evaluation,
    functions: LayerFunctions,
    arrays: Iterable[np.ndarray],
    constants: Iterable[np.ndarray] = (),
    **settings: Any,
) -> tuple[np.ndarray, ...]:
    """What the layer makes of arrays of numbers."""
    given = list(arrays)
    way = "jvp"
    if varies(given):
        # in float64 a jvp of such a layer would be made of its backward
        ways = WAYS[1:] if isinstance(evaluation.arithmetic, Float64) else WAYS
        way = evaluation.choices.choose(DERIVATIVE, ways)
    return ArrayLayer(functions, evaluation.arithmetic, way, constants, **settings)(*given)


def pulled(
    evaluation: Evaluation,
    functions: LayerFunctions,
    arrays: Iterable[np.ndarray],
    cotangents: Iterable[np.ndarray],
    constants: Iterable[np.ndarray] = (),
    **settings: Any,
) -> tuple[np.ndarray, ...]:
    """What the layer's backward makes of them."""
    return ArrayLayer(functions, evaluation.arithmetic, "jvp", constants, **settings).pulled(arrays, cotangents)

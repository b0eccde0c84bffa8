"""PE and its shifts are read as encode and rotation of numeric.layers.positional_encoding, frequencies as frequencies."""

from functools import partial

import numpy as np

from proofs.terms import Term
from proofs.theorems.positional_encoding import T, block, encoding, frequency, pair, shift_matrix

from ...arithmetic import to_balls
from ...checker.rounding import Rounded, interleaved
from ...layers import positional_encoding
from ..calls import FLOAT64, LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number, Traced
from ..turns import frequencies_bound, read_whole, turn_bound, turn_of

LAYER = positional_encoding


def _frequencies(base: np.ndarray, *, width: int) -> np.ndarray:
    return positional_encoding.frequencies(width, base.item(), base.dtype)


def _encode(position: np.ndarray, base: np.ndarray, *, width: int) -> np.ndarray:
    return positional_encoding.encode(position[None], width, base.item())[0]


def _encode_bound(position: Rounded, base: Rounded, *, width: int) -> Rounded:
    cos, sin = turn_bound(position, base, width)
    return interleaved(sin, cos)


def _rotation(offset: np.ndarray, base: np.ndarray, *, width: int) -> np.ndarray:
    return positional_encoding.rotation(offset.item(), width, base.item(), offset.dtype)


def _rotation_bound(offset: Rounded, base: Rounded, *, width: int) -> Rounded:
    """Four entries for each pair; the zeros between them are exact."""
    cos, sin = turn_bound(offset, base, width)
    value, worst = np.zeros((width, width)), np.zeros((width, width))
    even, odd = np.arange(0, width, 2), np.arange(1, width, 2)
    for rows, columns, part in ((even, even, cos), (odd, odd, cos), (even, odd, sin), (odd, even, -sin)):
        value[rows, columns], worst[rows, columns] = part.value, part.worst
    return Rounded(value, worst, worst**2, FLOAT64)


FREQUENCIES = LayerFunction("positional_encoding.frequencies", _frequencies, frequencies_bound)
ENCODE = LayerFunctions(LayerFunction("positional_encoding.encode", _encode, _encode_bound))
ROTATION = LayerFunctions(LayerFunction("positional_encoding.rotation", _rotation, _rotation_bound))


def _turned(
    evaluation: Evaluation,
    functions: LayerFunctions,
    w: Term,
    p: Term,
    environment: Environment,
    pair: Term | None = None,
) -> tuple[np.ndarray, int] | None:
    """The output, and the first column of the pair."""
    turn = turn_of(evaluation, w, p, environment, pair)
    if turn is None:
        return None
    compute = partial(turn.output, evaluation, functions)
    output = evaluation.shared(functions.forward.name, turn.told_by, environment, compute)
    return output, turn.start


def _read_encoding(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, p, c = parameters(application)
    found = _turned(evaluation, ENCODE, w, p, environment)
    return found and found[0][evaluation.place(c, environment)]


def _read_pair(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, m, p, a = parameters(application)
    found = _turned(evaluation, ENCODE, w, p, environment, m)
    return found and found[0][found[1] + evaluation.place(a, environment)]


def _read_shift_matrix(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, k, *places = parameters(application)
    row, column = (evaluation.place(each, environment) for each in places)
    found = _turned(evaluation, ROTATION, w, k, environment)
    return found and found[0][row, column]


def _read_blocks(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, k, *places = parameters(application)
    m, a, m1, b = (evaluation.place(each, environment) for each in places)
    found = _turned(evaluation, ROTATION, w, k, environment)
    return found and found[0][2 * m + a, 2 * m1 + b]


def _read_block(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, m, k, *places = parameters(application)
    a, b = (evaluation.place(each, environment) for each in places)
    found = _turned(evaluation, ROTATION, w, k, environment, m)
    return found and found[0][found[1] + a, found[1] + b]


def _read_frequency(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    """At the places that the layer has, which are the whole numbers below M."""
    base_term, pairs, place_term = parameters(application)
    base, place = (evaluation.number(each, environment) for each in (base_term, place_term))
    if isinstance(base, Traced) or isinstance(place, Traced):
        return None
    whole = place.unique_fmpz() if place.is_exact() else None
    if whole is None or not 0 <= int(whole) < evaluation.extent(pairs) or not read_whole(evaluation):
        return None
    found = evaluation.arithmetic.call(FREQUENCIES, to_balls(base), width=2 * evaluation.extent(pairs))
    return found[int(whole)]


READINGS = {
    encoding: _read_encoding,
    pair: _read_pair,
    shift_matrix: _read_shift_matrix,
    T: _read_blocks,
    block: _read_block,
    frequency: _read_frequency,
}

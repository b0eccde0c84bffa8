"""R_p x is read as numeric.layers.rotary.forward at position p, and as its backward at -p; the matrix R_p by its columns.

The gradient of <y, R_p x> is R_p^T y. So backward at -p gives R_(-p)^T x, which is R_p x (rotary_is_inverse_shift,
transpose_is_backward_shift).
"""

from collections.abc import Sequence

import numpy as np

from proofs.terms import Term
from proofs.theorems.rotary import R, rotated

from ...checker.rounding import Rounded, interleaved
from ...layers import rotary
from ..arrays import shaped
from ..bounds import moved
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ONE, ZERO, Number
from ..turns import Turn, turn_bound, turn_of

LAYER = rotary
TURN, FORWARD, BACKWARD = "turn", "forward", "backward"


def _forward(x: np.ndarray, position: np.ndarray, base: np.ndarray, *, width: int) -> np.ndarray:
    return rotary.forward(x[None], position[None], base.item())[0][0]


def _backward(y: np.ndarray, position: np.ndarray, base: np.ndarray, *, width: int) -> np.ndarray:
    """R_p y by the backward pass at -p."""
    return rotary.backward(y[None], rotary.forward(y[None], -position[None], base.item())[1])[0]


def _bound(x: Rounded, position: Rounded, base: Rounded, *, width: int) -> Rounded:
    cos, sin = turn_bound(position, base, width)
    even, odd = moved(x, lambda part: part[0::2]), moved(x, lambda part: part[1::2])
    return interleaved(even * cos - odd * sin, even * sin + odd * cos)


FUNCTIONS = {
    FORWARD: LayerFunctions(LayerFunction("rotary.forward", _forward, _bound)),
    BACKWARD: LayerFunctions(LayerFunction("rotary.backward", _backward, _bound)),
}


def _turned(evaluation: Evaluation, x: Sequence[Number], turn: Turn) -> np.ndarray:
    functions = FUNCTIONS[evaluation.choices.choose(TURN, (FORWARD, BACKWARD))]
    return turn.output(evaluation, functions, shaped(x, [len(x)]))


def _read_rotated(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, x, p, m, a = parameters(application)
    turn = turn_of(evaluation, w, p, environment)
    if turn is None:
        return None
    output = evaluation.shared(
        TURN, (x, *turn.told_by), environment, lambda: _turned(evaluation, evaluation.vector(x, environment), turn)
    )
    return output[2 * evaluation.place(m, environment) + evaluation.place(a, environment)]


def _read_matrix(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, m, p, *places = parameters(application)
    row, column = (evaluation.place(each, environment) for each in places)
    turn = turn_of(evaluation, w, p, environment, m)
    if turn is None:
        return None
    unit: list[Number] = [ONE if k == turn.start + column else ZERO for k in range(turn.width)]
    return _turned(evaluation, unit, turn)[turn.start + row]


READINGS = {R: _read_matrix, rotated: _read_rotated}

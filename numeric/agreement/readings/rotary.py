"""R_p x is read as numeric.layers.rotary.forward at position p, and as its backward at -p; the matrix R_p by columns, and by rows.

The gradient of <y, R_p x> is R_p^T y. So backward at -p gives R_(-p)^T x, which is R_p x (rotary_is_inverse_shift,
transpose_is_backward_shift), and row a of R_p is what backward at p makes of the unit cotangent e_a.
"""

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.rotary import R, rotated

from ...checker.rounding import Rounded, interleaved
from ...layers import rotary
from ..calls import LayerFunction
from ..differentials import Unreadable
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ONE, Number, Traced
from ..turns import turn_bound, turn_of

LAYER = rotary
TURN, FORWARD, BACKWARD = "turn", "forward", "backward"


def _forward(x: np.ndarray, position: np.ndarray, base: np.ndarray) -> np.ndarray:
    return rotary.forward(x[None], position[None], base.item())[0][0]


def _backward(y: np.ndarray, position: np.ndarray, base: np.ndarray) -> np.ndarray:
    return rotary.backward(y[None], rotary.forward(y[None], position[None], base.item())[1])[0]


def _forward_bound(x: Rounded, position: Rounded, base: Rounded) -> Rounded:
    cos, sin = turn_bound(position, base, x.value.shape[-1])
    even, odd = (Rounded(x.value[k::2], x.worst[k::2], x.square[k::2], x.precision) for k in (0, 1))
    return interleaved(even * cos - odd * sin, even * sin + odd * cos)


def _backward_bound(y: Rounded, position: Rounded, base: Rounded) -> Rounded:
    return _forward_bound(y, -position, base)


FUNCTIONS = {
    FORWARD: LayerFunction("rotary.forward", _forward, _forward_bound),
    BACKWARD: LayerFunction("rotary.backward", _backward, _backward_bound),
}


def _direction(evaluation: Evaluation) -> str:
    return evaluation.choices.choose(TURN, (FORWARD, BACKWARD))


def _read_rotated(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, x, p, m, a = parameters(application)
    turn = turn_of(evaluation, w, p, environment)
    if turn is None:
        return None
    direction = _direction(evaluation)
    vector = evaluation.vector(x, environment)
    if any(isinstance(each, Traced) for each in vector):
        raise Unreadable("rotary.forward is not differentiated by its features here, only by the position")
    features = np.array(vector, dtype=object)

    def call(position: np.ndarray, base: np.ndarray, width: int) -> np.ndarray:
        at = position if direction == FORWARD else -position
        return evaluation.arithmetic.call(FUNCTIONS[direction], features, np.asarray(at, dtype=object), base)

    scale = 2 * max(abs(each).upper() for each in features)
    outputs = evaluation.shared(
        direction, (x, *turn.told_by), environment, lambda: turn.outputs(evaluation, call, scale)
    )
    return outputs[2 * evaluation.place(m, environment) + evaluation.place(a, environment)]


def _read_matrix(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    w, m, p, *places = parameters(application)
    row, column = (evaluation.place(each, environment) for each in places)
    turn = turn_of(evaluation, w, p, environment, m)
    direction = _direction(evaluation)
    if turn is None:
        return None
    given, asked = (column, row) if direction == FORWARD else (row, column)

    def call(position: np.ndarray, base: np.ndarray, width: int) -> np.ndarray:
        unit = np.full(width, arb(0), dtype=object)
        unit[turn.start + given] = ONE
        return evaluation.arithmetic.call(FUNCTIONS[direction], unit, position, base)

    return turn.outputs(evaluation, call)[turn.start + asked]


READINGS = {R: _read_matrix, rotated: _read_rotated}

"""feed_forward_ik is read as numeric.layers.feed_forward.forward of all rows."""

import numpy as np

from proofs.terms import Term
from proofs.theorems.feed_forward import feed_forward as of_all_rows

from ...checker.rounding import Rounded
from ...layers import feed_forward
from ..arrays import applied, array
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number
from . import activations, linear

LAYER = feed_forward


def _forward(x: np.ndarray, W_1: np.ndarray, b_1: np.ndarray, W_2: np.ndarray, b_2: np.ndarray) -> np.ndarray:
    return feed_forward.forward(x, W_1, b_1, W_2, b_2)[0]


def _backward(
    x: np.ndarray, W_1: np.ndarray, b_1: np.ndarray, W_2: np.ndarray, b_2: np.ndarray, dy: np.ndarray
) -> tuple[np.ndarray, ...]:
    return feed_forward.backward(dy, feed_forward.forward(x, W_1, b_1, W_2, b_2)[1])


def forward_bound(x: Rounded, W_1: Rounded, b_1: Rounded, W_2: Rounded, b_2: Rounded) -> Rounded:
    a = linear.forward_bound(x, W_1, b_1)
    return linear.forward_bound(activations.forward_bound(a, activation="relu"), W_2, b_2)


def backward_bound(
    x: Rounded, W_1: Rounded, b_1: Rounded, W_2: Rounded, b_2: Rounded, dy: Rounded
) -> tuple[Rounded, ...]:
    a = linear.forward_bound(x, W_1, b_1)
    h = activations.forward_bound(a, activation="relu")
    dh, dW_2, db_2 = linear.backward_bound(h, W_2, b_2, dy)
    (da,) = activations.backward_bound(a, dh, activation="relu")
    return (*linear.backward_bound(x, W_1, b_1, da), dW_2, db_2)


FUNCTIONS = LayerFunctions(
    LayerFunction("feed_forward.forward", _forward, forward_bound),
    LayerFunction("feed_forward.backward", _backward, backward_bound),
)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *arrays, i, k = parameters(application)
    terms = tuple(arrays)
    output = evaluation.shared(
        "feed_forward",
        terms,
        environment,
        lambda: applied(evaluation, FUNCTIONS, [array(evaluation, each, environment) for each in terms])[0],
    )
    return output[evaluation.place(i, environment), evaluation.place(k, environment)]


READINGS = {of_all_rows: _read}

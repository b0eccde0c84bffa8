"""X W is read as numeric.layers.linear.forward, without a bias or with one (the preactivation), of all rows at once."""

import numpy as np

from proofs.terms import Term
from proofs.theorems.feed_forward import preactivation
from proofs.theorems.multi_head import projected as projected_by_heads
from proofs.theorems.self_attention import projected

from ...checker.rounding import Rounded
from ...layers import linear
from ..arrays import applied, array, full
from ..bounds import of_weights, product, total, transposed
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ZERO, Number

LAYER = linear


def _forward(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    return linear.forward(x, W, b)[0]


def _backward(x: np.ndarray, W: np.ndarray, b: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, ...]:
    return linear.backward(dy, linear.forward(x, W, b)[1])


def forward_bound(x: Rounded, W: Rounded, b: Rounded) -> Rounded:
    return product(x, W) + b


def backward_bound(x: Rounded, W: Rounded, b: Rounded, dy: Rounded) -> tuple[Rounded, ...]:
    return product(dy, transposed(W)), of_weights(x, dy), total(dy)


FUNCTIONS = LayerFunctions(
    LayerFunction("linear.forward", _forward, forward_bound),
    LayerFunction("linear.backward", _backward, backward_bound),
)


def preactivations(evaluation: Evaluation, terms: tuple[Term, ...], environment: Environment) -> np.ndarray:
    """What the layer makes of the arrays X, W and b, or of X and W, those of several heads side by side."""

    def compute() -> np.ndarray:
        X, W, *biases = (array(evaluation, each, environment) for each in terms)
        matrix = W if W.ndim == 2 else np.moveaxis(W, 0, 1).reshape(W.shape[1], -1)
        b = biases[0] if biases else full(matrix.shape[1], ZERO)
        return applied(evaluation, FUNCTIONS, (X, matrix, b))[0]

    return evaluation.shared("linear", terms, environment, compute)


def _read_rows(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *arrays, i, a = parameters(application)
    output = preactivations(evaluation, tuple(arrays), environment)
    return output[evaluation.place(i, environment), evaluation.place(a, environment)]


def _read_heads(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    X, W, g, i, a = parameters(application)
    output = preactivations(evaluation, (X, W), environment)
    width = evaluation.extent(W.args[2])
    column = evaluation.place(g, environment) * width + evaluation.place(a, environment)
    return output[evaluation.place(i, environment), column]


READINGS = {projected: _read_rows, preactivation: _read_rows, projected_by_heads: _read_heads}

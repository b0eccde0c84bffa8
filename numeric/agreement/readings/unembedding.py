"""The logits of hidden states are read as numeric.layers.unembedding.forward."""

import numpy as np

from proofs.terms import Term

from ...checker.rounding import Rounded
from ...layers import unembedding
from ..arrays import applied, read_all
from ..bounds import of_weights, product, transposed
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..folded import logits
from ..tape import Number

LAYER = unembedding


def _forward(y: np.ndarray, table: np.ndarray) -> np.ndarray:
    return unembedding.forward(y, table)[0]


def _backward(y: np.ndarray, table: np.ndarray, dz: np.ndarray) -> tuple[np.ndarray, ...]:
    return unembedding.backward(dz, unembedding.forward(y, table)[1])


def _forward_bound(y: Rounded, table: Rounded) -> Rounded:
    return product(y, transposed(table))


def _backward_bound(y: Rounded, table: Rounded, dz: Rounded) -> tuple[Rounded, ...]:
    return product(dz, table), of_weights(dz, y)


FUNCTIONS = LayerFunctions(
    LayerFunction("unembedding.forward", _forward, _forward_bound),
    LayerFunction("unembedding.backward", _backward, _backward_bound),
)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *terms, i, u = parameters(application)
    output = evaluation.shared(
        "unembedding",
        tuple(terms),
        environment,
        lambda: applied(evaluation, FUNCTIONS, read_all(evaluation, terms, environment))[0],
    )
    return output[evaluation.place(i, environment), evaluation.place(u, environment)]


READINGS = {logits: _read}

"""Dropout is read as numeric.layers.dropout.forward, where the mask is of zeros and ones and the rate at least 0."""

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.dropout import dropout as thinned

from ...checker.rounding import Rounded
from ...layers import dropout
from ..arrays import applied, array, constant, varies
from ..bounds import exact
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number

LAYER = dropout

Keep = tuple[bool, ...]


def _forward(x: np.ndarray, rate: np.ndarray, *, keep: Keep) -> np.ndarray:
    return dropout.forward(x, np.array(keep), rate.item())[0]


def _backward(x: np.ndarray, rate: np.ndarray, dy: np.ndarray, *, keep: Keep) -> np.ndarray:
    return dropout.backward(dy, dropout.forward(x, np.array(keep), rate.item())[1])


def _bound(x: Rounded, rate: Rounded, *, keep: Keep) -> Rounded:
    return x * exact(np.array(keep), x) / (exact(1, x) - rate)


def _backward_bound(x: Rounded, rate: Rounded, dy: Rounded, *, keep: Keep) -> Rounded:
    return _bound(dy, rate, keep=keep)


FUNCTIONS = LayerFunctions(
    LayerFunction("dropout.forward", _forward, _bound), LayerFunction("dropout.backward", _backward, _backward_bound)
)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    x_term, mask, p, i = parameters(application)

    def compute() -> np.ndarray | None:
        x, weights = (array(evaluation, each, environment) for each in (x_term, mask))
        rate: arb = constant(evaluation, p, environment).item()
        if varies([weights]) or not all(k.is_zero() or k == 1 for k in weights) or not rate >= 0:
            return None
        keep = tuple(bool(k == 1) for k in weights)
        return applied(evaluation, FUNCTIONS, [x], [np.asarray(rate, dtype=object)], keep=keep)[0]

    output = evaluation.shared("dropout", (x_term, mask, p), environment, compute)
    return None if output is None else output[evaluation.place(i, environment)]


READINGS = {thinned: _read}

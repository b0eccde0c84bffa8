"""Layer normalisation is read as numeric.layers.layer_norm.forward, x^ as that with gain 1 and bias 0."""

import numpy as np

from proofs.terms import Term
from proofs.theorems.layer_norm import layer_norm as of_one_row
from proofs.theorems.layer_norm import normalised, of_tokens

from ...checker.rounding import Rounded
from ...layers import layer_norm
from ..arrays import applied, array, constant, full
from ..bounds import exact, mean, total
from ..calls import LayerFailed, LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ONE, ZERO, Number

LAYER = layer_norm


def _forward(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: np.ndarray) -> np.ndarray:
    return layer_norm.forward(x, gain, bias, eps.item())[0]


def _backward(
    x: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: np.ndarray, dy: np.ndarray
) -> tuple[np.ndarray, ...]:
    return layer_norm.backward(dy, layer_norm.forward(x, gain, bias, eps.item())[1])


def _normalised(x: Rounded, eps: Rounded) -> tuple[Rounded, Rounded]:
    """x^ and the root that it was divided by."""
    centred = x - mean(x)
    root = (mean(centred * centred) + eps) ** exact(0.5, x)
    return centred / root, root


def forward_bound(x: Rounded, gain: Rounded, bias: Rounded, eps: Rounded) -> Rounded:
    return _normalised(x, eps)[0] * gain + bias


def backward_bound(x: Rounded, gain: Rounded, bias: Rounded, eps: Rounded, dy: Rounded) -> tuple[Rounded, ...]:
    x_hat, root = _normalised(x, eps)
    g = dy * gain
    dx = (g - mean(g) - x_hat * mean(g * x_hat)) / root
    return dx, total(dy * x_hat), total(dy)


FUNCTIONS = LayerFunctions(
    LayerFunction("layer_norm.forward", _forward, forward_bound),
    LayerFunction("layer_norm.backward", _backward, backward_bound),
)


def output(evaluation: Evaluation, terms: tuple[Term, ...], eps: Term, environment: Environment) -> np.ndarray:
    """Of the arrays x, gain and bias, or of x alone."""

    def compute() -> np.ndarray:
        x, *parameters = (array(evaluation, each, environment) for each in terms)
        d = x.shape[-1]
        gain, bias = parameters or (full(d, ONE), full(d, ZERO))
        return applied(evaluation, FUNCTIONS, (x, gain, bias), [constant(evaluation, eps, environment)])[0]

    return evaluation.shared("layer_norm", (*terms, eps), environment, compute)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *terms, eps, i = parameters(application)
    return output(evaluation, tuple(terms), eps, environment)[evaluation.place(i, environment)]


def _read_tokens(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, eps, p, i = parameters(application)
    try:
        rows = output(evaluation, tuple(terms), eps, environment)
    except (
        LayerFailed
    ):  # a row that the theorem does not ask for may have no root; the one that it asks for is then read alone
        return None
    return rows[evaluation.place(p, environment), evaluation.place(i, environment)]


READINGS = {normalised: _read, of_one_row: _read, of_tokens: _read_tokens}

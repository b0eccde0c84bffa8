"""RMS normalisation is read as numeric.layers.rms_norm.forward, without a gain as that with gain 1."""

import numpy as np

from proofs.terms import Term
from proofs.theorems.rms_norm import rms_norm as with_gain
from proofs.theorems.rms_norm import rms_normalised

from ...checker.rounding import Rounded
from ...layers import rms_norm
from ..arrays import applied, array, constant, full
from ..bounds import exact, mean, total
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ONE, Number

LAYER = rms_norm


def _forward(x: np.ndarray, gain: np.ndarray, eps: np.ndarray) -> np.ndarray:
    return rms_norm.forward(x, gain, eps.item())[0]


def _backward(x: np.ndarray, gain: np.ndarray, eps: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, ...]:
    return rms_norm.backward(dy, rms_norm.forward(x, gain, eps.item())[1])


def _root(x: Rounded, eps: Rounded) -> Rounded:
    return (mean(x * x) + eps) ** exact(0.5, x)


def forward_bound(x: Rounded, gain: Rounded, eps: Rounded) -> Rounded:
    return x / _root(x, eps) * gain


def backward_bound(x: Rounded, gain: Rounded, eps: Rounded, dy: Rounded) -> tuple[Rounded, ...]:
    root = _root(x, eps)
    x_hat, g = x / root, dy * gain
    return (g - x_hat * mean(g * x_hat)) / root, total(dy * x_hat)


FUNCTIONS = LayerFunctions(
    LayerFunction("rms_norm.forward", _forward, forward_bound),
    LayerFunction("rms_norm.backward", _backward, backward_bound),
)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    x_term, *gains, eps, i = parameters(application)

    def compute() -> np.ndarray:
        x = array(evaluation, x_term, environment)
        gain = array(evaluation, gains[0], environment) if gains else full(x.shape, ONE)
        return applied(evaluation, FUNCTIONS, (x, gain), [constant(evaluation, eps, environment)])[0]

    output = evaluation.shared("rms_norm", (x_term, *gains, eps), environment, compute)
    return output[evaluation.place(i, environment)]


READINGS = {with_gain: _read, rms_normalised: _read}

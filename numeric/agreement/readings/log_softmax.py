"""log_softmax(z)_i is read as numeric.layers.log_softmax.forward, and logsumexp(z) as the mean of z_i - log_softmax(z)_i."""

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.softmax_derivatives import log_softmax as log_of_weight
from proofs.theorems.softmax_derivatives import logsumexp

from ...checker.rounding import Rounded
from ...layers import log_softmax
from ..bounds import row
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number, add, multiply, total
from .softmax import outputs, scaled, scaled_bound, times, weights

LAYER = log_softmax


def _cache(z: np.ndarray, temperature: float) -> log_softmax.Cache:
    return log_softmax.forward(scaled(z, temperature), temperature=temperature)[1]


def _forward(z: np.ndarray, *, temperature: float) -> np.ndarray:
    return log_softmax.forward(scaled(z, temperature), temperature=temperature)[0]


def _forward_bound(z: Rounded, *, temperature: float) -> Rounded:
    logits, total_of_powers, _ = weights(z, temperature)
    return logits - total_of_powers.log()


def _jvp(z: np.ndarray, dz: np.ndarray, *, temperature: float) -> np.ndarray:
    return log_softmax.jvp(scaled(dz, temperature), _cache(z, temperature))


def _jvp_bound(z: Rounded, dz: Rounded, *, temperature: float) -> Rounded:
    s, along = weights(z, temperature)[2], scaled_bound(dz, temperature)
    return (along - (s * along).sum(-1)).over(temperature)


def _backward(z: np.ndarray, dy: np.ndarray, *, temperature: float) -> np.ndarray:
    return scaled(log_softmax.backward(dy, _cache(z, temperature)), temperature)


def _backward_bound(z: Rounded, dy: Rounded, *, temperature: float) -> Rounded:
    s = weights(z, temperature)[2]
    return scaled_bound((dy - s * dy.sum(-1)).over(temperature), temperature)


def _jacobian(z: np.ndarray, dz: np.ndarray, *, temperature: float) -> np.ndarray:
    return log_softmax.jacobian(_cache(z, temperature)) @ scaled(dz, temperature)


def _jacobian_bound(z: Rounded, dz: Rounded, *, temperature: float) -> Rounded:
    s = weights(z, temperature)[2]
    return times(Rounded.exact(np.eye(s.value.shape[-1]), s.precision) - row(s), dz, temperature)


FUNCTIONS = LayerFunctions(
    forward=LayerFunction("log_softmax.forward", _forward, _forward_bound),
    backward=LayerFunction("log_softmax.backward", _backward, _backward_bound),
    products={
        "jvp": LayerFunction("log_softmax.jvp", _jvp, _jvp_bound),
        "jacobian": LayerFunction("log_softmax.jacobian", _jacobian, _jacobian_bound),
    },
)


def _read_entry(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    z, i = parameters(application)
    return outputs(evaluation, FUNCTIONS, z, environment)[1][evaluation.place(i, environment)]


def _read_total(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    (z,) = parameters(application)
    logits, logs = outputs(evaluation, FUNCTIONS, z, environment)
    differences = [add(a, multiply(arb(-1), b)) for a, b in zip(logits, logs, strict=True)]
    return multiply(1 / arb(len(logits)), total(differences))


READINGS = {log_of_weight: _read_entry, logsumexp: _read_total}

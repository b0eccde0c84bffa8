"""softmax(z)_i is read as numeric.layers.softmax.forward; its derivative as jvp, backward or jacobian of that layer.

Each of the three goes with a temperature T of its own, as forward(T z, T): another spelling of the same weights.
"""

from collections.abc import Sequence

import numpy as np

from proofs.terms import Term
from proofs.theorems.softmax import softmax as softmax_of_logits

from ...checker.rounding import Rounded
from ...layers import softmax
from ..calls import LayerFunction
from ..differentials import VectorFunctions, VectorLayer
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number

LAYER = softmax
TEMPERATURES = {"jvp": 1.0, "backward": 0.75, "jacobian": 2.0}


def weights(z: Rounded, temperature: float) -> tuple[Rounded, Rounded, Rounded]:
    """Logits, the sum of their exponentials, and softmax."""
    logits = z.below_maximum(-1).over(temperature)
    powers = logits.exp()
    total = powers.sum(-1)
    return logits, total, powers / total


def _forward(z: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.forward(z, temperature=temperature)[0]


def _forward_bound(z: Rounded, *, temperature: float) -> Rounded:
    return weights(z, temperature)[2]


def _jvp(z: np.ndarray, dz: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.jvp(dz, softmax.forward(z, temperature=temperature)[1])


def _backward(z: np.ndarray, ds: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.backward(ds, softmax.forward(z, temperature=temperature)[1])


def _product_bound(z: Rounded, along: Rounded, *, temperature: float) -> Rounded:
    """Of jvp and backward alike: the Jacobian is symmetric, and the layer has one formula for both."""
    s = weights(z, temperature)[2]
    return (s * (along - (s * along).sum(-1))).over(temperature)


def _jacobian(z: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.jacobian(softmax.forward(z, temperature=temperature)[1])


def _jacobian_bound(z: Rounded, *, temperature: float) -> Rounded:
    s = weights(z, temperature)[2]
    identity = Rounded.exact(np.eye(s.value.shape[-1]), s.precision)
    return (column(s) * identity - column(s) * row(s)).over(temperature)


def column(x: Rounded) -> Rounded:
    return Rounded(x.value[..., :, None], x.worst[..., :, None], x.square[..., :, None], x.precision)


def row(x: Rounded) -> Rounded:
    return Rounded(x.value[..., None, :], x.worst[..., None, :], x.square[..., None, :], x.precision)


FUNCTIONS = VectorFunctions(
    forward=LayerFunction("softmax.forward", _forward, _forward_bound),
    jvp=LayerFunction("softmax.jvp", _jvp, _product_bound),
    jacobian=LayerFunction("softmax.jacobian", _jacobian, _jacobian_bound),
    backward=LayerFunction("softmax.backward", _backward, _product_bound),
)


def outputs(
    evaluation: Evaluation, functions: VectorFunctions, z: Term, environment: Environment
) -> tuple[Sequence[Number], Sequence[Number]]:
    """The logits, and what the layer makes of them."""

    def compute() -> tuple[Sequence[Number], Sequence[Number]]:
        logits = evaluation.vector(z, environment)
        way = evaluation.way()
        return logits, VectorLayer(functions, evaluation.arithmetic, way, TEMPERATURES[way])(logits)

    return evaluation.shared(functions.forward.name, (z,), environment, compute)


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    z, i = parameters(application)
    return outputs(evaluation, FUNCTIONS, z, environment)[1][evaluation.place(i, environment)]


READINGS = {softmax_of_logits: _read}

"""softmax(z)_i is read as numeric.layers.softmax.forward; its derivative as jvp, backward or jacobian of that layer.

Each of the three goes with a temperature T of its own, as forward(T z, T): another spelling of the same weights.
"""

import numpy as np

from proofs.terms import Term
from proofs.theorems.softmax import softmax as softmax_of_logits

from ...arithmetic import convert
from ...checker.rounding import Rounded
from ...layers import softmax
from ..arrays import array
from ..bounds import column, product, row
from ..calls import LayerFunction
from ..differentials import ArrayLayer, LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number

LAYER = softmax
TEMPERATURES = {"jvp": 1.0, "backward": 0.75, "jacobian": 2.0}


def scaled(z: np.ndarray, temperature: float) -> np.ndarray:
    return z * convert(temperature, z.dtype)


def scaled_bound(z: Rounded, temperature: float) -> Rounded:
    return z * Rounded.given(temperature, z.precision)


def weights(z: Rounded, temperature: float) -> tuple[Rounded, Rounded, Rounded]:
    """Logits, the sum of their exponentials, and softmax."""
    logits = scaled_bound(z, temperature).below_maximum(-1).over(temperature)
    powers = logits.exp()
    total = powers.sum(-1)
    return logits, total, powers / total


def _cache(z: np.ndarray, temperature: float) -> softmax.Cache:
    return softmax.forward(scaled(z, temperature), temperature=temperature)[1]


def _forward(z: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.forward(scaled(z, temperature), temperature=temperature)[0]


def _forward_bound(z: Rounded, *, temperature: float) -> Rounded:
    return weights(z, temperature)[2]


def _jvp(z: np.ndarray, dz: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.jvp(scaled(dz, temperature), _cache(z, temperature))


def _backward(z: np.ndarray, ds: np.ndarray, *, temperature: float) -> np.ndarray:
    return scaled(softmax.backward(ds, _cache(z, temperature)), temperature)


def _product_bound(s: Rounded, along: Rounded, temperature: float) -> Rounded:
    return (s * (along - (s * along).sum(-1))).over(temperature)


def _jvp_bound(z: Rounded, dz: Rounded, *, temperature: float) -> Rounded:
    return _product_bound(weights(z, temperature)[2], scaled_bound(dz, temperature), temperature)


def _backward_bound(z: Rounded, ds: Rounded, *, temperature: float) -> Rounded:
    return scaled_bound(_product_bound(weights(z, temperature)[2], ds, temperature), temperature)


def _jacobian(z: np.ndarray, dz: np.ndarray, *, temperature: float) -> np.ndarray:
    return softmax.jacobian(_cache(z, temperature)) @ scaled(dz, temperature)


def _jacobian_bound(z: Rounded, dz: Rounded, *, temperature: float) -> Rounded:
    s = weights(z, temperature)[2]
    identity = Rounded.exact(np.eye(s.value.shape[-1]), s.precision)
    return times(column(s) * identity - column(s) * row(s), dz, temperature)


def times(jacobian: Rounded, dz: Rounded, temperature: float) -> Rounded:
    """jacobian / T times T dz."""
    found = product(jacobian.over(temperature), column(scaled_bound(dz, temperature)))
    return Rounded(found.value[:, 0], found.worst[:, 0], found.square[:, 0], found.precision)


FUNCTIONS = LayerFunctions(
    forward=LayerFunction("softmax.forward", _forward, _forward_bound),
    backward=LayerFunction("softmax.backward", _backward, _backward_bound),
    products={
        "jvp": LayerFunction("softmax.jvp", _jvp, _jvp_bound),
        "jacobian": LayerFunction("softmax.jacobian", _jacobian, _jacobian_bound),
    },
)


def outputs(
    evaluation: Evaluation, functions: LayerFunctions, z: Term, environment: Environment
) -> tuple[np.ndarray, np.ndarray]:
    """The logits, and what the layer makes of them."""

    def compute() -> tuple[np.ndarray, np.ndarray]:
        logits = array(evaluation, z, environment)
        way = evaluation.way()
        layer = ArrayLayer(functions, evaluation.arithmetic, way, temperature=TEMPERATURES[way])
        return logits, layer(logits)[0]

    found: tuple[np.ndarray, np.ndarray] = evaluation.shared(functions.forward.name, (z,), environment, compute)
    return found


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    z, i = parameters(application)
    return outputs(evaluation, FUNCTIONS, z, environment)[1][evaluation.place(i, environment)]


READINGS = {softmax_of_logits: _read}

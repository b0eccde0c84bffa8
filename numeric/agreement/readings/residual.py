"""A residual connection with its norm is read as numeric.layers.residual.forward, around a sublayer that gives the branch f.

The branch is an input like x: its pull hands the cotangent on, and sends none to the input of the sublayer.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from proofs.terms import Term
from proofs.theorems.encoder import add_and_norm
from proofs.theorems.residual_norm import post_norm, pre_norm

from ...arithmetic import zeros
from ...checker.rounding import Rounded
from ...layers import residual
from ..arrays import applied, array, constant, full
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import ONE, ZERO, Number
from . import layer_norm

LAYER = residual


def _run(inputs: Sequence[np.ndarray], placement: str) -> tuple[np.ndarray, residual.Cache]:
    x, f, gain, bias, eps = inputs
    return residual.forward(x, lambda u: (f, None), gain, bias, placement, eps.item())


def _forward(*inputs: np.ndarray, placement: str) -> np.ndarray:
    return _run(inputs, placement)[0]


def _backward(*inputs_and_dy: np.ndarray, placement: str) -> tuple[np.ndarray, ...]:
    *inputs, dy = inputs_and_dy
    cache = _run(inputs, placement)[1]
    dx, dgain, dbias, (df,) = residual.backward(dy, cache, lambda df, inner: (zeros(df.shape, df.dtype), df))
    return dx, df, dgain, dbias


def forward_bound(x: Rounded, f: Rounded, gain: Rounded, bias: Rounded, eps: Rounded, *, placement: str) -> Rounded:
    return layer_norm.forward_bound(x + f, gain, bias, eps) if placement == "post" else x + f


def _backward_bound(
    x: Rounded, f: Rounded, gain: Rounded, bias: Rounded, eps: Rounded, dy: Rounded, *, placement: str
) -> tuple[Rounded, ...]:
    if placement == "post":
        ds, dgain, dbias = layer_norm.backward_bound(x + f, gain, bias, eps, dy)
        return ds, ds, dgain, dbias
    nothing = Rounded.exact(np.zeros(dy.value.shape), dy.precision)
    du, dgain, dbias = layer_norm.backward_bound(x, gain, bias, eps, nothing)
    return dy + du, dy, dgain, dbias


FUNCTIONS = LayerFunctions(
    LayerFunction("residual.forward", _forward, forward_bound),
    LayerFunction("residual.backward", _backward, _backward_bound),
)


def _read(placement: str, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    given = parameters(application)
    functions = [each for each in given if each.op == "function"]
    numbers = given[len(functions) : -1]

    def compute() -> np.ndarray:
        x, f, *parameters_of_norm = (array(evaluation, each, environment) for each in functions)
        gain, bias = parameters_of_norm or (full(x.shape, ONE), full(x.shape, ZERO))
        # pre-norm has no eps of its own here: what the branch makes of the normalised x is given
        eps = constant(evaluation, numbers[0], environment) if numbers else full((), ONE)
        return applied(evaluation, FUNCTIONS, (x, f, gain, bias), [eps], placement=placement)[0]

    output = evaluation.shared(f"residual {placement}", given[:-1], environment, compute)
    return output[evaluation.place(given[-1], environment)]


READINGS: dict[object, Read] = {
    post_norm: partial(_read, "post"),
    add_and_norm: partial(_read, "post"),
    pre_norm: partial(_read, "pre"),
}

"""Attention is read as numeric.layers.attention.forward, and dL/dQ, dL/dK and dL/dV as its backward; or as those of
numeric.layers.blocked_attention.

A mask is one of the layer's where its weights are 0 and 1. Weights are those that attention.forward hands on to backward, and in
a second reading, or under a derivative, the softmax of the scores.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from proofs.terms import Term
from proofs.theorems.attention import P
from proofs.theorems.attention import attention as unmasked
from proofs.theorems.attention_identities import dK, dQ, dV
from proofs.theorems.causal_attention import causal_attention
from proofs.theorems.masked_attention import masked_attention

from ...checker.rounding import Rounded
from ...layers import attention
from ..arrays import applied, array, full, pulled, read_all, varies
from ..bounds import attention as all_of_attention
from ..bounds import attention_output
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import ZERO, Number
from . import blocked_attention
from .masking import Mask, as_array, causal_keep, kept

LAYER = attention
WEIGHTS, OF_SOFTMAX, OF_ATTENTION = "weights", "softmax", "attention"
SCORES, AT_ONCE, IN_BLOCKS = "scores", "at once", "in blocks"


def _forward(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, keep: Mask) -> np.ndarray:
    return attention.forward(q, k, v, as_array(keep))[0]


def _backward(q: np.ndarray, k: np.ndarray, v: np.ndarray, dy: np.ndarray, *, keep: Mask) -> tuple[np.ndarray, ...]:
    return attention.backward(dy, attention.forward(q, k, v, as_array(keep))[1])


def _weights(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    return attention.forward(q, k, k)[1].p


def _forward_bound(q: Rounded, k: Rounded, v: Rounded, *, keep: Mask) -> Rounded:
    return attention_output(q, k, v, kept(keep))[0]


def _weights_bound(q: Rounded, k: Rounded) -> Rounded:
    return attention_output(q, k, k)[2]


def _backward_bound(q: Rounded, k: Rounded, v: Rounded, dy: Rounded, *, keep: Mask) -> tuple[Rounded, ...]:
    return all_of_attention(q, k, v, dy, kept(keep))[1:]


FUNCTIONS = LayerFunctions(
    LayerFunction("attention.forward", _forward, _forward_bound),
    LayerFunction("attention.backward", _backward, _backward_bound),
)
HANDED_ON = LayerFunction("attention.forward", _weights, _weights_bound)


def _entry(evaluation: Evaluation, output: np.ndarray, i: Term, c: Term, environment: Environment) -> Number:
    return output[evaluation.place(i, environment), evaluation.place(c, environment)]


def _functions(evaluation: Evaluation, arrays: Sequence[np.ndarray]) -> LayerFunctions:
    """One layer or the other; under a derivative the plain one."""
    if varies(arrays):
        return FUNCTIONS
    in_blocks = evaluation.choices.choose(SCORES, (AT_ONCE, IN_BLOCKS)) == IN_BLOCKS
    return blocked_attention.FUNCTIONS if in_blocks else FUNCTIONS


def _read(evaluation: Evaluation, application: Term, environment: Environment, causal: bool = False) -> Number:
    *terms, i, c = parameters(application)

    def compute() -> np.ndarray:
        arrays = read_all(evaluation, terms, environment)
        keep = causal_keep(evaluation, len(arrays[0])) if causal else None
        return applied(evaluation, _functions(evaluation, arrays), arrays, keep=keep)[0]

    output = evaluation.shared(f"attention, causal {causal}", tuple(terms), environment, compute)
    return _entry(evaluation, output, i, c, environment)


def _read_masked(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, M, i, c = parameters(application)

    def compute() -> np.ndarray | None:
        mask = array(evaluation, M, environment)
        if varies([mask]) or not all(weight.is_zero() or weight == 1 for weight in mask.flat):
            return None
        keep = tuple(tuple(bool(weight == 1) for weight in row) for row in mask)
        arrays = read_all(evaluation, terms, environment)
        return applied(evaluation, _functions(evaluation, arrays), arrays, keep=keep)[0]

    output = evaluation.shared("masked attention", (*terms, M), environment, compute)
    return None if output is None else _entry(evaluation, output, i, c, environment)


def _read_weights(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, i, j = parameters(application)
    q, k = evaluation.shared(
        "queries and keys", tuple(terms), environment, lambda: read_all(evaluation, terms, environment)
    )
    if varies((q, k)):
        return None
    if evaluation.choices.choose(WEIGHTS, (OF_SOFTMAX, OF_ATTENTION)) == OF_SOFTMAX:
        return None
    return _entry(evaluation, evaluation.arithmetic.call(HANDED_ON, q, k), i, j, environment)


def _read_gradient(which: int, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *terms, i, a = parameters(application)

    def compute() -> tuple[np.ndarray, ...]:
        *inputs, g = read_all(evaluation, terms, environment)
        if len(inputs) == 2:  # P^T G is asked for, whatever the values are
            inputs.append(full((len(inputs[1]), g.shape[1]), ZERO))
        return pulled(evaluation, _functions(evaluation, [*inputs, g]), inputs, [g], keep=None)

    gradients = evaluation.shared("attention.backward", tuple(terms), environment, compute)
    return _entry(evaluation, gradients[which], i, a, environment)


READINGS: dict[object, Read] = {
    unmasked: _read,
    causal_attention: partial(_read, causal=True),
    masked_attention: _read_masked,
    P: _read_weights,
    dQ: partial(_read_gradient, 0),
    dK: partial(_read_gradient, 1),
    dV: partial(_read_gradient, 2),
}

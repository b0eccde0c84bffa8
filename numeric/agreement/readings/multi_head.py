"""Multi-head attention is read as numeric.layers.multi_head.forward, dL/dW_O and dL/dW_V as its backward.

The matrices of the heads stand side by side in the layer: W_gra is column (g, a) of row r. Self-attention with one head is read as
the layer too, with W_O = 1; and, as in decoding, from keys and values that were kept, those of the last token joined on.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from proofs.terms import Term
from proofs.theorems.decoder_sublayers import causal_heads
from proofs.theorems.multi_head import multi_head as of_all_heads
from proofs.theorems.multi_head_gradients import dW_O, dW_V
from proofs.theorems.self_attention import self_attention

from ...checker.rounding import Rounded
from ...layers import multi_head
from ..arrays import applied, array, full, pulled, read_all, side_by_side, varies
from ..bounds import attention as attention_bound
from ..bounds import attention_output, concatenated, heads_of, moved, of_weights, product, transposed
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import ONE, ZERO, Number
from .masking import Mask, as_array, causal_keep, kept

LAYER = multi_head
ONE_HEAD, BY_PARTS, IN_ONE, CACHED = "one head", "attention", "multi_head", "keys and values kept"


def _weights(matrices: Sequence[np.ndarray]) -> multi_head.Weights:
    return multi_head.Weights(*matrices)


def _forward(x: np.ndarray, m: np.ndarray, *matrices: np.ndarray, n_heads: int, keep: Mask) -> np.ndarray:
    return multi_head.forward(x, m, _weights(matrices), n_heads, keep=as_array(keep))[0]


def _backward(
    x: np.ndarray, m: np.ndarray, *matrices_and_dy: np.ndarray, n_heads: int, keep: Mask
) -> tuple[np.ndarray, ...]:
    *matrices, dy = matrices_and_dy
    cache = multi_head.forward(x, m, _weights(matrices), n_heads, keep=as_array(keep))[1]
    dx, dm, gradients = multi_head.backward(dy, cache)
    return dx, dm, *gradients[:4]


def _inner(
    x: Rounded, m: Rounded, w_q: Rounded, w_k: Rounded, w_v: Rounded, n_heads: int, keep: Mask
) -> tuple[list[Rounded], np.ndarray | bool]:
    """Queries, keys and values of each head, and the mask."""
    split = [
        moved(product(z, w), partial(heads_of, n_groups=n_heads, group_size=1))
        for z, w in ((x, w_q), (m, w_k), (m, w_v))
    ]
    return split, kept(keep)


def forward_bound(
    x: Rounded, m: Rounded, w_q: Rounded, w_k: Rounded, w_v: Rounded, w_o: Rounded, *, n_heads: int, keep: Mask
) -> Rounded:
    split, mask = _inner(x, m, w_q, w_k, w_v, n_heads, keep)
    q, k, v = split
    heads = attention_output(q, k, v, mask)[0]
    return product(moved(heads, concatenated), w_o)


def backward_bound(
    x: Rounded,
    m: Rounded,
    w_q: Rounded,
    w_k: Rounded,
    w_v: Rounded,
    w_o: Rounded,
    dy: Rounded,
    *,
    n_heads: int,
    keep: Mask,
) -> tuple[Rounded, ...]:
    split, mask = _inner(x, m, w_q, w_k, w_v, n_heads, keep)
    dh = moved(product(dy, transposed(w_o)), partial(heads_of, n_groups=n_heads, group_size=1))
    q, k, v = split
    heads, dq, dk, dv = (moved(each, concatenated) for each in attention_bound(q, k, v, dh, mask))
    dx, dm = product(dq, transposed(w_q)), product(dk, transposed(w_k)) + product(dv, transposed(w_v))
    return dx, dm, of_weights(x, dq), of_weights(m, dk), of_weights(m, dv), of_weights(heads, dy)


FUNCTIONS = LayerFunctions(
    LayerFunction("multi_head.forward", _forward, forward_bound),
    LayerFunction("multi_head.backward", _backward, backward_bound),
)


# Decoding, with one head


def _keys_and_values(m: np.ndarray, *matrices: np.ndarray) -> tuple[np.ndarray, ...]:
    return multi_head.keys_and_values(m, _weights(matrices), 1)


def _keys_and_values_bound(m: Rounded, w_q: Rounded, w_k: Rounded, w_v: Rounded, w_o: Rounded) -> tuple[Rounded, ...]:
    return tuple(moved(product(m, w), lambda z: z[None, None]) for w in (w_k, w_v))


def _attend(x: np.ndarray, k: np.ndarray, v: np.ndarray, *matrices: np.ndarray) -> np.ndarray:
    return multi_head.attend(x, k, v, _weights(matrices), 1)


def _attend_bound(
    x: Rounded, k: Rounded, v: Rounded, w_q: Rounded, w_k: Rounded, w_v: Rounded, w_o: Rounded
) -> Rounded:
    k, v = (moved(each, lambda z: z[0, 0]) for each in (k, v))
    return product(attention_output(product(x, w_q), k, v)[0], w_o)


KEYS_AND_VALUES = LayerFunctions(LayerFunction("multi_head.keys_and_values", _keys_and_values, _keys_and_values_bound))
ATTEND = LayerFunctions(LayerFunction("multi_head.attend", _attend, _attend_bound))


def _entry(evaluation: Evaluation, output: np.ndarray, i: Term, b: Term, environment: Environment) -> Number:
    return output[evaluation.place(i, environment), evaluation.place(b, environment)]


def _read(evaluation: Evaluation, application: Term, environment: Environment, causal: bool = False) -> Number:
    *terms, i, b = parameters(application)

    def compute() -> np.ndarray:
        *tokens, W_Q, W_K, W_V, W_O = (array(evaluation, each, environment) for each in terms)
        x, m = tokens if len(tokens) == 2 else (tokens[0], tokens[0])
        keep = causal_keep(evaluation, len(x)) if causal else None
        matrices = *map(side_by_side, (W_Q, W_K, W_V)), W_O
        return applied(evaluation, FUNCTIONS, (x, m, *matrices), n_heads=len(W_Q), keep=keep)[0]

    output = evaluation.shared(f"multi_head, causal {causal}", tuple(terms), environment, compute)
    return _entry(evaluation, output, i, b, environment)


def _pulled(
    evaluation: Evaluation, tokens: Sequence[np.ndarray], heads: Sequence[np.ndarray], W_O: np.ndarray, dY: np.ndarray
) -> tuple[np.ndarray, ...]:
    inputs = (*tokens, *map(side_by_side, heads), W_O)
    return pulled(evaluation, FUNCTIONS, inputs, [dY], n_heads=len(heads[0]), keep=None)


def _read_output_projection(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *terms, o, b = parameters(application)

    def compute() -> np.ndarray:
        x, m, *heads, dY = (array(evaluation, each, environment) for each in terms)
        W_O = full((heads[2].shape[0] * heads[2].shape[2], dY.shape[1]), ZERO)  # whatever it is
        return _pulled(evaluation, (x, m), heads, W_O, dY)[5]

    return _entry(evaluation, evaluation.shared("dW_O", tuple(terms), environment, compute), o, b, environment)


def _read_value_projection(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    *terms, g, r, c = parameters(application)

    def compute() -> np.ndarray:
        x, m, W_Q, W_K, W_O, dY = (array(evaluation, each, environment) for each in terms)
        W_V = full((len(W_Q), m.shape[1], len(W_O) // len(W_Q)), ZERO)  # whatever it is
        return _pulled(evaluation, (x, m), (W_Q, W_K, W_V), W_O, dY)[4]

    gradient = evaluation.shared("dW_V", tuple(terms), environment, compute)
    width = gradient.shape[1] // evaluation.extent(terms[2].args[0])
    column = evaluation.place(g, environment) * width + evaluation.place(c, environment)
    return gradient[evaluation.place(r, environment), column]


def _read_one_head(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, i, c = parameters(application)
    arrays = evaluation.shared("one head", tuple(terms), environment, lambda: read_all(evaluation, terms, environment))
    # what decoding needs has no backward
    ways = (BY_PARTS, IN_ONE) if varies(arrays) else (BY_PARTS, IN_ONE, CACHED)
    way = evaluation.choices.choose(ONE_HEAD, ways)
    if way == BY_PARTS:
        return None
    compute = partial(_one_head, evaluation, way, *arrays)
    return _entry(evaluation, evaluation.shared(way, tuple(terms), environment, compute), i, c, environment)


def _one_head(evaluation: Evaluation, way: str, x: np.ndarray, *heads: np.ndarray) -> np.ndarray:
    identity = full((heads[2].shape[1],) * 2, ZERO)
    np.fill_diagonal(identity, ONE)
    matrices = (*heads, identity)
    if way == IN_ONE:
        return applied(evaluation, FUNCTIONS, (x, x, *matrices), n_heads=1, keep=None)[0]
    kept = [applied(evaluation, KEYS_AND_VALUES, (m, *matrices)) for m in (x[:-1], x[-1:]) if len(m)]
    k, v = (np.concatenate(each, axis=-2) for each in zip(*kept, strict=True))
    return applied(evaluation, ATTEND, (x, k, v, *matrices))[0]


READINGS: dict[object, Read] = {
    of_all_heads: _read,
    causal_heads: partial(_read, causal=True),
    dW_O: _read_output_projection,
    dW_V: _read_value_projection,
    self_attention: _read_one_head,
}

"""Masked softmax is read as numeric.layers.masking.forward, and causal masks as its masks.

The layer's masks keep a key or do not; a weight m_i > 0 is one of a key that is kept, m_i e^z_i = e^(z_i + log m_i).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.causal_alignments import lower_right, upper_left
from proofs.theorems.masking import masked

from ...arithmetic import UndecidedComparison
from ...checker.rounding import Rounded
from ...layers import masking
from ..arrays import applied, array, shaped
from ..bounds import kept_softmax, softmax_cotangent
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import Number, Traced, add, elementary

LAYER = masking

Keep = tuple[bool, ...]
Mask = tuple[tuple[bool, ...], ...] | None  # of every query and key; None keeps all


def _forward(z: np.ndarray, *, keep: Keep) -> np.ndarray:
    return masking.forward(z, np.array(keep))[0]


def _backward(z: np.ndarray, dp: np.ndarray, *, keep: Keep) -> np.ndarray:
    return masking.backward(dp, masking.forward(z, np.array(keep))[1])


def _forward_bound(z: Rounded, *, keep: Keep) -> Rounded:
    return kept_softmax(z, np.array(keep))


def _backward_bound(z: Rounded, dp: Rounded, *, keep: Keep) -> Rounded:
    return softmax_cotangent(kept_softmax(z, np.array(keep)), dp)


FUNCTIONS = LayerFunctions(
    LayerFunction("masking.forward", _forward, _forward_bound),
    LayerFunction("masking.backward", _backward, _backward_bound),
)


def as_array(keep: Mask) -> np.ndarray | None:
    return None if keep is None else np.array(keep)


def kept(keep: Mask) -> np.ndarray | bool:
    return True if keep is None else np.array(keep)


def is_kept(weight: Number) -> bool:
    """Raises UndecidedComparison."""
    while isinstance(weight, Traced):
        weight = weight.value
    if weight.is_zero() or weight > 0:
        return not weight.is_zero()
    raise UndecidedComparison(f"whether {weight} is a weight above 0 is undecided")


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    z_term, m_term, i = parameters(application)

    def compute() -> np.ndarray:
        z, m = (array(evaluation, each, environment) for each in (z_term, m_term))
        keep = tuple(map(is_kept, m))
        scores = [add(a, elementary("log", b)) if stays else a for a, b, stays in zip(z, m, keep, strict=True)]
        return applied(evaluation, FUNCTIONS, [shaped(scores, z.shape)], keep=keep)[0]

    output = evaluation.shared("masking", (z_term, m_term), environment, compute)
    return output[evaluation.place(i, environment)]


def causal_keep(evaluation: Evaluation, n: int) -> Mask:
    """The causal mask of n tokens, as a setting of other layers."""
    mask = evaluation.arithmetic.exact("masking.causal", partial(masking.causal, n), (n, n))
    return tuple(map(tuple, mask.tolist()))


def _read_causal(aligned_last: bool, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    n_k, n_q = (evaluation.extent(size) for size in application.args[:2])
    i, j = (evaluation.place(each, environment) for each in parameters(application))
    mask: Callable[[], np.ndarray] = partial(masking.causal, n_q, n_k, aligned_last)
    return arb(int(evaluation.arithmetic.exact("masking.causal", mask, (n_q, n_k))[i, j]))


READINGS: dict[object, Read] = {
    masked: _read,
    upper_left: partial(_read_causal, False),
    lower_right: partial(_read_causal, True),
}

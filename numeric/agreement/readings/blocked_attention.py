"""numeric.layers.blocked_attention, a second way to compute what attention.py reads: in blocks of two queries and two keys."""

import math

import numpy as np

from ...checker.rounding import Rounded
from ...layers import blocked_attention
from ..bounds import chosen, exact, moved, product, root, transposed
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Read
from .masking import Mask, as_array, kept

LAYER = blocked_attention
BLOCK = 2


def _forward(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, keep: Mask) -> np.ndarray:
    return blocked_attention.forward(q, k, v, as_array(keep), BLOCK)[0]


def _backward(q: np.ndarray, k: np.ndarray, v: np.ndarray, dy: np.ndarray, *, keep: Mask) -> tuple[np.ndarray, ...]:
    return blocked_attention.backward(dy, blocked_attention.forward(q, k, v, as_array(keep), BLOCK)[1])


# Bounds


def _by_blocks(a: Rounded, b: Rounded) -> Rounded:
    """a @ b, block by block of what is summed over."""
    slices = [slice(at, at + BLOCK) for at in range(0, a.value.shape[-1], BLOCK)]
    first, *others = (
        product(moved(a, lambda x, c=c: x[..., c]), moved(b, lambda x, c=c: x[..., c, :]))  # type: ignore[misc]
        for c in slices
    )
    return sum(others, start=first)


def _exponentials(scores: Rounded, keep: np.ndarray) -> Rounded:
    """exp(s - m) of the kept scores for the computed maximum m (the reasoning of `Rounded.below_maximum`), zeros elsewhere."""
    top = np.where(keep, scores.value, -np.inf).max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    error = np.where(keep, scores.worst, 0.0).max(-1, keepdims=True)
    shifted = (scores - exact(top, scores)).loosened(2 * scores.precision.stored.unit * error)
    return chosen(keep, chosen(keep, shifted, 0.0).exp(), 0.0)


def _rescaled(weights: Rounded, times: int) -> Rounded:
    """Weights whose sums were multiplied by a factor exp(m - m') after each block but the last.

    The exponents s - m, m - m', ... add up to s less the last maximum, all of one sign; so rounding them costs no more
    than rounding that one difference, which `weights` have paid. Left are the errors of each exp and of each product,
    relative ones, and what may underflow in each, once for the factor and once for the product.
    """
    form = weights.precision.stored
    each = times * (2 * form.ulps + 1) * form.unit
    return weights.loosened(each / (1 - each) * (weights.value + 2 * weights.worst) + 2 * times * form.tiny)


def _output(q: Rounded, k: Rounded, v: Rounded, keep: Mask) -> tuple[Rounded, Rounded, Rounded, Rounded]:
    """y, q / sqrt(d_k), the exponentials and their sums."""
    scaled = q / root(q.value.shape[-1], q)
    scores = product(scaled, transposed(k))
    mask = np.broadcast_to(kept(keep), scores.value.shape)
    some = np.asarray(mask.any(-1, keepdims=True))
    weights, times = _exponentials(scores, mask), math.ceil(k.value.shape[-2] / BLOCK) - 1
    summed = _rescaled(weights, times)
    total = chosen(some, _by_blocks(summed, exact(np.ones((k.value.shape[-2], 1)), k)), 1.0)
    output = _by_blocks(summed, v).loosened(np.asarray(times * k.precision.stored.tiny))
    return output / total, scaled, weights, total


def _forward_bound(q: Rounded, k: Rounded, v: Rounded, *, keep: Mask) -> Rounded:
    return _output(q, k, v, keep)[0]


def _backward_bound(q: Rounded, k: Rounded, v: Rounded, dy: Rounded, *, keep: Mask) -> tuple[Rounded, ...]:
    y, scaled, weights, total = _output(q, k, v, keep)
    g = dy / total
    ds = weights * (product(g, transposed(v)) - (g * y).sum(-1))
    dq = _by_blocks(ds, k) / root(q.value.shape[-1], q)
    return dq, _by_blocks(transposed(ds), scaled), _by_blocks(transposed(weights), g)


FUNCTIONS = LayerFunctions(
    LayerFunction("blocked_attention.forward", _forward, _forward_bound),
    LayerFunction("blocked_attention.backward", _backward, _backward_bound),
)
READINGS: dict[object, Read] = {}  # in attention.py

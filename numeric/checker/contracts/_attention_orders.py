"""The orders in which a correct implementation may evaluate attention, as bounds, for queries, keys and values that may be rounded.

    scores      (q k^T) c; (q c) k^T; q (k c)^T; (q e)(k e)^T,  c = 1 / sqrt(d_k), e = d_k^(-1/4), each off by an ulp before it is
                stored, as libm's powers are
    masks       by -inf or a choice; by adding or filling in a large negative number, whose exp a clamped routine may leave at
                2^-126; by multiplying the weights of all keys and normalising again, as far as those of the kept ones do not
                underflow: the gap between the largest scores, masked and kept, is then subtracted with an error
    exponential exp, or exp2 in the wide format
    weights     w / l, w * (1 / l), exp(s - log l); l in one go, or by tiles under a running maximum
    output      p v, with p stored; or (w v) / l, normalised last, and by tiles: both sums rescaled
    gradients   dv = p^T g; ds = p (dp - r) or p dp - p r, r = sum p dp or sum g y; autograd's composite, through w / l; where it goes
                through two normalisations, masked keys get what rounding leaves of the row's sum, which is 0
                dq = (ds c) k, ds (k c) or (ds (k e)) e, dk likewise; (ds k) c errs by less than the first

Errors of the exponentials w move output and gradients together: `_attention_bounds` bounds that more closely than w by w.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..formats import Precision
from ..rounding import CLAMPED, Rounded, any_of
from ._softmax_orders import composite_gradient, denominator, rescaling


class Evaluated(NamedTuple):
    """What becomes of exponentials."""

    x: Rounded  # scores below the largest that is kept
    w: Rounded  # their exponentials, zero where masked
    inverse: Rounded  # of their sum
    p: Rounded
    y: Rounded


def transposed(x: Rounded) -> Rounded:
    return x.rearranged(lambda part: part.swapaxes(-1, -2))


def without_errors(x: Rounded) -> Rounded:
    return Rounded.exact(x.value, x.precision)


# Scores


def scale_error(precision: Precision) -> float:
    """Of c or e, relative; it is one number, so it moves all scores by the same factor."""
    return 2 * precision.wide.unit + precision.stored.unit


def scale(width: int, power: float, precision: Precision) -> Rounded:
    """The exact one, to multiply with; its own error is added afterwards."""
    return Rounded.exact(width**power, precision)


def off_by_a_factor(x: Rounded, error: float) -> Rounded:
    return x.loosened(error * (1 + error) * (np.abs(x.value) + 2 * x.worst))


def scores_bound(q: Rounded, k: Rounded) -> Rounded:
    c, e = (scale(q.value.shape[-1], power, q.precision) for power in (-0.5, -0.25))
    ways = [(q * e) @ transposed(k * e), (q * c) @ transposed(k), q @ transposed(k * c)]
    # (q k^T) c rounds once more after its sum
    return off_by_a_factor(any_of(ways), 2 * scale_error(q.precision) + q.precision.stored.unit)


# Weights and output


def attended(q: Rounded, k: Rounded, v: Rounded, keep: Any) -> tuple[Rounded, Evaluated]:
    """Scores, and what becomes of them. `keep` is boolean, of a shape that broadcasts to the scores, or None.

    A query without keys has zeros, and no bound that counts.
    """
    s = scores_bound(q, k)
    keep = None if keep is None else np.broadcast_to(keep, s.value.shape)
    x = below_largest_kept(s, keep)
    w = exponentials(x, keep)
    return s, evaluated(s, x, w, w, v, keep)


def exponentials(x: Rounded, keep: np.ndarray | None) -> Rounded:
    wide = x.precision.wide
    return kept_only(any_of([x.exp(ceiling=1.0), x.cast(wide).cast(wide).exp(ceiling=1.0)]), keep)


def evaluated(s: Rounded, x: Rounded, w: Rounded, in_sum: Rounded, v: Rounded, keep: np.ndarray | None) -> Evaluated:
    """From exponentials on; `in_sum` are those of which a logarithm is taken."""
    inverse = _nothing_to_one(denominator(x, w, -1), keep).reciprocal()
    logarithm = _nothing_to_one(denominator(x, in_sum, -1), keep).log()
    p = any_of([w * inverse, kept_only((x - logarithm).exp(), keep)])
    if keep is not None:
        p = p.loosened(renormalisation(s, keep) * p.value)
    summed = w @ v
    tiled = summed.loosened(rescaling(x, -1) * (np.abs(w.value) @ np.abs(v.value)))
    return Evaluated(x, w, inverse, p, any_of([p @ v, summed * inverse, tiled * inverse]))


def below_largest_kept(s: Rounded, keep: np.ndarray | None) -> Rounded:
    """The scores less the largest kept one, masked ones in its place."""
    if keep is None:
        return s.below_maximum(-1)
    top = np.where(keep, s.value, -np.inf).max(-1, keepdims=True)
    value = np.where(keep, s.value, np.where(np.isfinite(top), top, 0.0))
    worst, square = (np.where(keep, part, 0.0) for part in (s.worst, s.square))
    return Rounded(value, worst, square, s.precision).below_maximum(-1)


def kept_only(w: Rounded, keep: np.ndarray | None) -> Rounded:
    """Masked ones zero, or what an exp of a large negative number leaves."""
    return w if keep is None else _chosen(keep, w, 0.0, CLAMPED)


def _nothing_to_one(total: Rounded, keep: np.ndarray | None) -> Rounded:
    return total if keep is None else _chosen(np.asarray(keep.any(-1, keepdims=True)), total, 1.0, 0.0)


def _chosen(keep: np.ndarray, x: Rounded, value: float, worst: float) -> Rounded:
    """x where it is kept, and elsewhere a number within `worst` of `value`."""
    parts = (x.value, value), (x.worst, worst), (x.square, worst**2)
    values, errors, squares = (np.where(keep, *part) for part in parts)
    return Rounded(values, errors, squares, x.precision)


def renormalisation(s: Rounded, keep: np.ndarray) -> np.ndarray:
    """By what fraction a weight may err more if it is one of all keys first: see the module."""
    form, wide = s.precision.stored, s.precision.wide
    largest = np.where(keep, s.value, -np.inf).max(-1, keepdims=True)
    gap = s.value.max(-1, keepdims=True) - largest
    extra = 2 * form.unit * gap + 8 * form.unit + s.value.shape[-1] * wide.unit
    return np.where(gap < -math.log(form.tiny), extra, 0.0)


# Gradients


def score_gradients(g: Rounded, dp: Rounded, s: Rounded, at: Evaluated, keep: np.ndarray | None) -> Rounded:
    terms = any_of([(at.p * dp).sum(-1), (g * at.y).sum(-1)])
    ways = [at.p * (dp - terms), at.p * dp - at.p * terms]
    dw = dp * at.inverse - (dp * at.w * at.inverse * at.inverse).sum(-1)
    ways.append(composite_gradient(_never_largest(at.x, keep), at.w * dw, -1))
    ds = any_of(ways)
    return ds if keep is None else ds.loosened(left_over(s, keep, at.p, dp))


def left_over(s: Rounded, keep: np.ndarray, p: Rounded, dp: Rounded) -> np.ndarray:
    """What the gradient of scores may hold of sum p (dp - sum p dp) = 0, where weights of all keys were normalised again."""
    powers = np.exp(s.value - s.value.max(-1, keepdims=True))
    every = powers / powers.sum(-1, keepdims=True)
    form, wide = s.precision.stored, s.precision.wide
    rounding = 2 * s.value.shape[-1] * wide.unit + 8 * form.unit
    return np.asarray(
        every * rounding * (p.value * np.abs(dp.value)).sum(-1, keepdims=True) * keep.any(-1, keepdims=True)
    )


def _never_largest(x: Rounded, keep: np.ndarray | None) -> Rounded:
    """With masked scores far below the others."""
    return x if keep is None else Rounded(np.where(keep, x.value, -np.inf), x.worst, x.square, x.precision)


def gradients_from_scores(g: Rounded, q: Rounded, k: Rounded, p: Rounded, ds: Rounded) -> tuple[Rounded, ...]:
    """dq, dk, and dv as far as it is broadcast."""
    width, precision = q.value.shape[-1], q.precision
    c, e = (scale(width, power, precision) for power in (-0.5, -0.25))
    scaled = ds * c
    back = transposed(ds)
    ways = (
        [scaled @ k, ds @ (k * c), (ds @ (k * e)) * e],
        [transposed(scaled) @ q, back @ (q * c), (back @ (q * e)) * e],
    )
    dq, dk = (off_by_a_factor(any_of(each), 2 * scale_error(precision)) for each in ways)
    return dq, dk, transposed(p) @ g


def summed_to(gradient: Rounded, shape: Sequence[int]) -> Rounded:
    """The sum over the axes along which an argument of that shape was shared."""
    while gradient.value.ndim > len(shape):
        gradient = gradient.sum(0).rearranged(lambda part: part[0])
    for axis, size in enumerate(shape):
        if size == 1 != gradient.value.shape[axis]:
            gradient = gradient.sum(axis)
    return gradient

"""The bounds of attention: output and gradients, with errors of the exponentials counted once where that is cheap.

Exponentials w' = w + a with |a| <= A l' in every entry, l' = sum w', move weights, output and the gradient ds of the scores by

    p' - p   = (a - p sum a) / l'                                at most  A + p sum A
    y' - y   = sum a (v - y) / l'                                at most  sum A |v - y|
    r' - r   = sum a (dp - r) / l',   r = sum p dp                at most  R = sum A |dp - r|
    ds' - ds = (p' - p)(dp - r) - p' (r' - r)                    at most  (A + p sum A) |dp - r| + (p + A + p sum A) R

A running error analysis takes the errors of w and of their sum for unrelated, and has the sizes of v and dp where here are their
distances from a mean. What is rounded afterwards is bounded by an analysis from error-free w on, which is linear in p for the output,
of second degree for ds, so that p' <= p G makes it larger by G or G^2. Of both bounds the smaller one holds, entry by entry.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..rounding import Rounded
from ._attention_orders import (
    Evaluated,
    attended,
    evaluated,
    exponentials,
    gradients_from_scores,
    score_gradients,
    summed_to,
    transposed,
    without_errors,
)

CHEAP = 2**22  # scores times columns of v. For more the plain analysis will do, and one matrix is taken after another


class Matrices(NamedTuple):
    """Forward passes of the matrices of a stack, and the stack of their outputs."""

    y: Rounded
    each: tuple["Attended", ...]
    batch: tuple[int, ...]


class Attended(NamedTuple):
    """A forward pass: the output, and what the backward pass needs again."""

    y: Rounded
    scores: Rounded
    plain: Evaluated
    bare: Evaluated | None  # from error-free exponentials on
    moved: np.ndarray | None  # A
    growth: np.ndarray | None  # G, of a row
    keep: np.ndarray | None


def attention_bound(q: Rounded, k: Rounded, v: Rounded, keep: Any) -> Attended | Matrices:
    """`keep` is boolean, of a shape that broadcasts to the scores, or None."""
    batch = np.broadcast_shapes(*(each.value.shape[:-2] for each in (q, k, v)))
    scores = (*batch, q.value.shape[-2], k.value.shape[-2])
    if not batch or math.prod(scores) * v.value.shape[-1] <= CHEAP:
        return _attended(q, k, v, keep)
    kept = None if keep is None else np.broadcast_to(keep, scores)
    masks = [None if kept is None else kept[at] for at in np.ndindex(batch)]
    each = tuple(map(_attended, _matrices(q, batch), _matrices(k, batch), _matrices(v, batch), masks))
    return Matrices(_stacked([one.y for one in each], batch), each, batch)


def _matrices(x: Rounded, batch: tuple[int, ...]) -> list[Rounded]:
    parts = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (x.value, x.worst, x.square)]
    return [Rounded(parts[0][at], parts[1][at], parts[2][at], x.precision) for at in np.ndindex(batch)]


def _stacked(matrices: Sequence[Rounded], batch: tuple[int, ...]) -> Rounded:
    parts = (np.stack([getattr(each, part) for each in matrices]) for part in ("value", "worst", "square"))
    value, worst, square = (part.reshape(*batch, *part.shape[1:]) for part in parts)
    return Rounded(value, worst, square, matrices[0].precision)


def _attended(q: Rounded, k: Rounded, v: Rounded, keep: Any) -> Attended:
    s, plain = attended(q, k, v, keep)
    keep = None if keep is None else np.broadcast_to(keep, s.value.shape)
    if s.value.size * v.value.shape[-1] > CHEAP:
        return Attended(plain.y, s, plain, None, None, None, keep)
    x, w = without_errors(plain.x), without_errors(plain.w)
    bare = evaluated(s, x, w, exponentials(x, keep), v, keep)
    moved, growth = movement(plain.w)
    bare = bare._replace(x=plain.x, p=_perhaps_lost(bare.p, growth))
    near = distances(moved, v, plain.y) + growth * bare.y.worst
    return Attended(smaller(plain.y, near), s, plain, bare, moved, growth, keep)


def movement(w: Rounded) -> tuple[np.ndarray, np.ndarray]:
    """A and G; infinite where the errors may be as large as the sum."""
    total = w.value.sum(-1, keepdims=True)
    least = total - w.worst.sum(-1, keepdims=True)
    least = np.where(least > 0, least, np.where(total == 0, 1.0, np.nan))
    with np.errstate(all="ignore"):
        relative = np.where(w.value > 0, w.worst / w.value, 0.0).max(-1, keepdims=True)
        moved, growth = w.worst / least, (1 + relative) * np.where(total == 0, 1.0, total) / least
    return np.where(np.isnan(moved), np.inf, moved), np.where(np.isnan(growth), np.inf, growth)


def _perhaps_lost(p: Rounded, growth: np.ndarray) -> Rounded:
    """Weights that are normal numbers only as long as they are not moved."""
    tiny = p.precision.stored.tiny
    return p.loosened(np.where((p.value > 0) & (p.value < tiny * growth), tiny, 0.0))


def distances(moved: np.ndarray, v: Rounded, y: Rounded) -> np.ndarray:
    """sum over j of A_ij |v_jc - y_ic|, and what errors of v add to it."""
    apart = np.abs(v.value[..., None, :, :] - y.value[..., :, None, :]) + v.worst[..., None, :, :]
    return np.asarray((moved[..., None] * (apart + y.worst[..., :, None, :])).sum(-2))


def gradient_bounds(g: Rounded, q: Rounded, k: Rounded, v: Rounded, at: Attended | Matrices) -> tuple[Rounded, ...]:
    """Of dq, dk, dv; a gradient that was broadcast in the forward pass is summed, and stored before."""
    if isinstance(at, Attended):
        gradients = _gradients(g, q, k, v, at)
    else:
        one_by_one = map(_gradients, *(_matrices(each, at.batch) for each in (g, q, k, v)), at.each)
        gradients = tuple(_stacked(column, at.batch) for column in zip(*one_by_one, strict=True))
    return tuple(summed_to(gradient, of.value.shape) for gradient, of in zip(gradients, (q, k, v), strict=True))


def _gradients(g: Rounded, q: Rounded, k: Rounded, v: Rounded, at: Attended) -> tuple[Rounded, ...]:
    dp = g @ transposed(v)
    ds = score_gradients(g, dp, at.scores, at.plain, at.keep)
    p = at.plain.p
    if at.bare is not None and at.moved is not None and at.growth is not None:
        bare = score_gradients(g, dp, at.scores, at.bare, at.keep)
        ds = smaller(ds, _moved_gradient(dp, p.value, at.moved) + at.growth**2 * bare.worst)
        p = smaller(p, at.moved + p.value * at.moved.sum(-1, keepdims=True) + at.growth * at.bare.p.worst)
    return gradients_from_scores(g, q, k, p, ds)


def _moved_gradient(dp: Rounded, p: np.ndarray, moved: np.ndarray) -> np.ndarray:
    apart = np.abs(dp.value - (p * dp.value).sum(-1, keepdims=True)) + dp.worst + (p * dp.worst).sum(-1, keepdims=True)
    weight = moved + p * moved.sum(-1, keepdims=True)
    return np.asarray(weight * apart + (p + weight) * (moved * apart).sum(-1, keepdims=True))


def smaller(bound: Rounded, worst: np.ndarray) -> Rounded:
    """With another bound, where that is the smaller one."""
    least = np.where(worst < bound.worst, worst, bound.worst)
    return Rounded(bound.value, least, bound.square, bound.precision)

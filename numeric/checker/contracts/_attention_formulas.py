"""Attention written out, with the places at which it goes wrong as arguments; on floats and on balls."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import convert, matmul, widen
from ...layers import masking
from ._masks import kept

Scale = Callable[[Any, Any, Any], Any]  # of q, k, v, as one number


def transposed(x: Any) -> Any:
    return x.swapaxes(-1, -2)


def number(value: Any, like: Any) -> Any:
    """An exact number in the arithmetic of an array."""
    return convert(value, like.dtype)[()]


def root(value: Any, like: Any) -> Any:
    return np.sqrt(number(value, like))


def right_scale(q: Any, k: Any, v: Any) -> Any:
    return 1 / root(q.shape[-1], q)


def scores(q: Any, k: Any, v: Any, scale: Scale = right_scale) -> Any:
    return matmul(q, transposed(k)) * scale(q, k, v)


def softmax(z: Any, keep: Any = None) -> Any:
    """Over the keys; zeros where a query keeps none."""
    work = widen(z)
    return masking.scores_to_weights(work * number(1, work), keep)


def keep_of(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return kept(mask, causal, scores_shape(q, k))


def scores_shape(q: Any, k: Any) -> tuple[int, ...]:
    return (*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])


def weights(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: Scale = right_scale) -> Any:
    return softmax(scores(q, k, v, scale), keep_of(q, k, mask, causal))


def wide(*arrays: Any) -> tuple[Any, ...]:
    return tuple(map(widen, arrays))


def masked_to_zero(x: Any, keep: Any) -> Any:
    return x if keep is None else np.where(keep, x, number(0, x))


def scaled_by(scale: Scale) -> Any:
    """Attention with another scale."""

    def formula(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        q, k, v = wide(q, k, v)
        return matmul(weights(q, k, v, mask, causal, scale), v)

    return formula


def masked_by(keep: Callable[..., Any]) -> Any:
    """Attention with keep(q, k, mask, causal) in place of the mask."""

    def formula(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        q, k, v = wide(q, k, v)
        return matmul(softmax(scores(q, k, v), keep(q, k, mask, causal)), v)

    return formula


def weighted_by(weigh: Callable[[Any, Any], Any]) -> Any:
    """Attention with weigh(scores, keep) in place of the softmax over the keys."""

    def formula(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        q, k, v = wide(q, k, v)
        return matmul(weigh(scores(q, k, v), keep_of(q, k, mask, causal)), v)

    return formula


def exponentials(z: Any, keep: Any) -> Any:
    """keep * exp(z - max z), and the shift."""
    shift = masking.largest_kept(z, keep)
    powers = z * number(1, z)
    masking.take_exponentials(powers, shift, keep)
    return powers, shift


class Pass:
    """A forward pass, and the pieces of a backward one."""

    def __init__(self, dy: Any, q: Any, k: Any, v: Any, mask: Any, causal: bool) -> None:
        self.dy, self.q, self.k, self.v = wide(dy, q, k, v)
        self.keep = keep_of(q, k, mask, causal)
        self.scale = right_scale(self.q, self.k, self.v)
        self.z = scores(self.q, self.k, self.v)
        self.p = softmax(self.z, self.keep)
        self.dp = matmul(self.dy, transposed(self.v))
        self.term = (self.p * self.dp).sum(-1, keepdims=True)
        self.ds = self.p * (self.dp - self.term)

    def gradients(self, ds: Any = None, p: Any = None) -> tuple[Any, Any, Any]:
        """dq, dk, dv, with other gradients of the scores, or other weights for dv."""
        ds, p = (own if given is None else given for given, own in ((ds, self.ds), (p, self.p)))
        dq, dk = matmul(ds, self.k) * self.scale, matmul(transposed(ds), self.q) * self.scale
        return dq, dk, matmul(transposed(p), self.dy)


def backward(change: Callable[[Pass], tuple[Any, Any, Any]]) -> Any:
    def formula(dy: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        return change(Pass(dy, q, k, v, mask, causal))

    return formula

"""Normalisation and its gradients in pieces, from which wrong formulas are put together; for floats and balls."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Formula = Callable[..., Any]


def mean(x: Any, axis: Any = -1) -> Any:
    return x.mean(axis, keepdims=True)


def centred(x: Any, axis: Any = -1) -> Any:
    return x - mean(x, axis)


def variance(x: Any, axis: Any = -1) -> Any:
    distances = centred(x, axis)
    return mean(distances * distances, axis)  # a power of a ball around 0 is NaN


def over_rows(terms: Any) -> Any:
    return terms.reshape(-1, terms.shape[-1]).sum(0)


def rooted(spread: Any, eps: Any) -> Any:
    return np.sqrt(spread + eps)


class Parts(NamedTuple):
    """What the gradients of a normalisation are made of; `bias` is None where none is added."""

    dy: Any
    x: Any
    gain: Any
    bias: Any
    root: Any  # (..., 1)
    x_hat: Any

    @property
    def g(self) -> Any:
        return self.dy * self.gain

    @property
    def overlap(self) -> Any:
        return mean(self.g * self.x_hat)

    def after(self, loss: Any) -> Any:
        """dx if g loses this."""
        return (self.g - loss) / self.root


Part = Callable[[Parts], Any]


def layer_norm_parts(dy: Any, x: Any, gain: Any, bias: Any, eps: Any) -> Parts:
    root = rooted(variance(x), eps)
    return Parts(dy, x, gain, bias, root, centred(x) / root)


def rms_norm_parts(dy: Any, x: Any, gain: Any, eps: Any) -> Parts:
    root = rooted(mean(x * x), eps)
    return Parts(dy, x, gain, None, root, x / root)


def layer_norm_dx(p: Parts) -> Any:
    return p.after(mean(p.g) + p.x_hat * p.overlap)


def rms_norm_dx(p: Parts) -> Any:
    return p.after(p.x_hat * p.overlap)


def dgain(p: Parts) -> Any:
    return over_rows(p.dy * p.x_hat)


def dbias(p: Parts) -> Any:
    return over_rows(p.dy)


def other_axes(x: Any, which: str) -> Any:
    """Axes that somebody may take for the last one; None for all."""
    axes: dict[str, Any] = {
        "first": 0,
        "previous": max(-2, -x.ndim),
        "whole": None,
        "all but the first": tuple(range(min(1, x.ndim - 1), x.ndim)),
    }
    return axes[which]

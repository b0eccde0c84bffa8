"""The pieces that wrong formulas of cross-entropy are made of: rows, targets, means, gradients, and emulations in a dtype."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Formula
from ._log_softmax_mistakes import log_weights
from ._softmax_mistakes import weights
from ._targets import counted


def hot(targets: Any, classes: int) -> Any:
    """One row for each target; a row of zeros for one that is no class."""
    return np.asarray(targets[:, None] == np.arange(classes)).astype(int)


def mixed(y: Any, e: Any) -> Any:
    return y * (1 - e) + e / y.shape[-1]


def loss(of_rows: Callable[[Any, Any, Any], Any], mean: Callable[[Any, int, int], Any] | None = None) -> Formula:
    """The mean, or another reduction(losses, N, C), of of_rows(z, y, e) for the rows that count."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows = counted(targets, ignore_index)
        losses = of_rows(logits[rows], hot(targets[rows], logits.shape[-1]), label_smoothing)
        return mean(losses, *logits.shape) if mean else losses.sum() / losses.size

    return formula


def targeted(mix: Callable[[Any, Any], Any]) -> Formula:
    """-sum_c mix(y, e)_c log s_c."""
    return loss(lambda z, y, e: -(mix(y, e) * log_weights(z, -1, 1)).sum(-1))


def right(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * log_weights(z, -1, 1)).sum(-1)


def of_probabilities(z: Any, y: Any, e: Any) -> Any:
    return right(weights(z, -1, 1), y, e)


def over_rows(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * log_weights(z, 0, 1)).sum(-1)


def without_normaliser(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * z).sum(-1)


def mean_in_normaliser(z: Any, y: Any, e: Any) -> Any:
    return right(z, y, e) - math.log(z.shape[-1])


def sigmoids(z: Any, y: Any, e: Any) -> Any:
    """Each class by itself: -y log sigmoid(z) - (1 - y) log sigmoid(-z)."""
    q = mixed(y, e)
    return (q * np.log(1 + np.exp(-z)) + (1 - q) * np.log(1 + np.exp(z))).sum(-1)


def divergence(z: Any, y: Any, e: Any) -> Any:
    if not e:
        raise ValueError("without smoothing it is the cross-entropy")
    q, at_target, at_others = mixed(y, e), 1 - e + e / y.shape[-1], e / y.shape[-1]
    return right(z, y, e) + (q * (y * math.log(at_target) + (1 - y) * math.log(at_others))).sum(-1)


def shifted_targets(by: int) -> Callable[[Any, Any, Any], Any]:
    return lambda z, y, e: right(z, np.roll(y, by, -1), e)


def with_ignored(kept: Callable[[Any, Any], Any], by_all: bool) -> Formula:
    """Ignored rows with the targets `kept`(targets, classes), over all rows or only those that count."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows = counted(targets, ignore_index)
        if rows.all():
            return right_loss(logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing)
        y = np.where(rows[:, None], mixed(hot(targets, logits.shape[-1]), label_smoothing), 0.0)
        y[~rows] = kept(label_smoothing, logits.shape[-1])
        total = -(y * log_weights(logits, -1, 1)).sum()
        return total / (rows.size if by_all else rows.sum())

    return formula


def first_class(e: Any, classes: int) -> Any:
    return mixed(hot(np.zeros(1, int), classes)[0], e)


def smoothing_only(e: Any, classes: int) -> Any:
    return np.full(classes, e / classes)


def halves(losses: Any, rows: int, classes: int) -> Any:
    half = losses.size // 2
    if not half:
        return losses.sum() / losses.size
    return (losses[:half].sum() / half + losses[half:].sum() / (losses.size - half)) / 2


def divided(by: Callable[[Any, int, int], Any]) -> Formula:
    return loss(right, lambda losses, rows, classes: losses.sum() / by(losses.size, rows, classes))


right_loss = loss(right)


def gradient(
    of_rows: Callable[[Any, Any, Any], Any], ignored: Callable[[Any, Any], Any] | None = None, by: Any = None
) -> Formula:
    """dL of_rows(s, y, e) / N; 0, or ignored(s, e), where a row does not count; over by(counted, rows, C) instead."""

    def formula(dloss: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows, s, e = counted(targets, ignore_index), weights(logits, -1, 1), label_smoothing
        y = hot(targets, logits.shape[-1])
        dz = of_rows(s, y, e)
        dz[~rows] = ignored(s[~rows], e) if ignored else 0 * dz[~rows]
        return dloss * dz / (by(int(rows.sum()), *logits.shape) if by else int(rows.sum()))

    return formula


def slope(s: Any, y: Any, e: Any) -> Any:
    return s - mixed(y, e)


def without_cotangent(dloss: Any, *inputs: Any, **options: Any) -> Any:
    return gradient(slope)(0 * dloss + 1, *inputs, **options)


def softmax_once_more(s: Any, y: Any, e: Any) -> Any:
    g = slope(s, y, e)
    return s * (g - (s * g).sum(-1, keepdims=True))


# Right formulas that lose their digits, in the dtype


def emulated(log_of: Callable[[Any], Any]) -> Formula:
    """From -log s in the dtype: row sums, then the mean, each accumulated in float32 at least and stored."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows, dtype = counted(targets, ignore_index), logits.dtype
        z = logits[rows]
        y, minus = hot(targets[rows], z.shape[-1]), -log_of(z)
        losses = np.take_along_axis(minus, y.argmax(-1)[:, None], -1)
        if label_smoothing:
            q = mixed(y, label_smoothing).astype(dtype)
            losses = stored_sum(q * minus, -1)
        return (stored_sum(losses, 0) / dtype.type(len(z))).reshape(())

    return formula


def stored_sum(x: Any, axis: int) -> Any:
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def logarithm_of_softmax(z: Any) -> Any:
    powers = np.exp(z - z.max(-1, keepdims=True))
    return np.log(powers / stored_sum(powers, -1))


def unshifted(z: Any) -> Any:
    return z - np.log(stored_sum(np.exp(z), -1))


def maximum_and_logarithm_together(z: Any) -> Any:
    peak = z.max(-1, keepdims=True)
    return z - (peak + np.log(stored_sum(np.exp(z - peak), -1)))


def sums_first(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    """(1 - e) mean + e / C (sum over all rows and classes) / N."""
    rows, number = counted(targets, ignore_index), logits.dtype.type
    z = logits[rows]
    below = z - z.max(-1, keepdims=True)
    minus = np.log(stored_sum(np.exp(below), -1)) - below
    at_target = np.take_along_axis(minus, hot(targets[rows], z.shape[-1]).argmax(-1)[:, None], -1)
    mean, uniform = (stored_sum(each, 0) / number(len(z)) for each in (at_target, stored_sum(minus, -1)))
    if not label_smoothing:
        return mean.reshape(())
    return (number(1 - label_smoothing) * mean + number(label_smoothing / z.shape[-1]) * uniform).reshape(())


def through_probabilities(
    dloss: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float
) -> Any:
    """-y / s, and then softmax backward: autograd of log(softmax)."""
    rows, dtype = counted(targets, ignore_index), logits.dtype
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    s = powers / stored_sum(powers, -1)
    y = mixed(hot(targets, logits.shape[-1]), label_smoothing) if label_smoothing else hot(targets, logits.shape[-1])
    g = -(y.astype(dtype) * dloss.astype(dtype) / dtype.type(rows.sum())) / s
    return np.where(rows[:, None], s * (g - stored_sum(s * g, -1)), dtype.type(0))

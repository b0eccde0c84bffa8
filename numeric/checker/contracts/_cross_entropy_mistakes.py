"""What goes wrong in cross-entropy: formulas, each with what it breaks."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Fit, Formula, Instability, Mistake, Variant
from ._log_softmax_mistakes import log_weights
from ._softmax_mistakes import weights
from ._targets import counted

HARD, SMOOTHED, MEAN = "loss.hard_label_loss", "loss.smoothed_loss", "loss_reductions.overall_mean_weighs_the_batches"
IGNORED, SILENT = "loss_ignored_rows.ignored_row_changes_nothing", "loss_ignored_rows.ignored_row_has_zero_gradient"
SLOPE, SMOOTHED_SLOPE, LOG = "loss.cross_entropy_gradient", "loss.label_smoothing", "softmax_derivatives.log_softmax_is_log_of_softmax"
ROWS = "loss_rows.valid_row_gradient"


def hot(targets: Any, classes: int) -> Any:
    """One row for each target; a row of zeros for one that is no class."""
    return np.asarray(targets[:, None] == np.arange(classes)).astype(int)


def mixed(y: Any, e: Any) -> Any:
    return y * (1 - e) + e / y.shape[-1]


def _loss(of_rows: Callable[[Any, Any, Any], Any], mean: Callable[[Any, int, int], Any] | None = None) -> Formula:
    """The mean, or another reduction(losses, N, C), of of_rows(z, y, e) for the rows that count."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows = counted(targets, ignore_index)
        losses = of_rows(logits[rows], hot(targets[rows], logits.shape[-1]), label_smoothing)
        return mean(losses, *logits.shape) if mean else losses.sum() / losses.size

    return formula


def _targeted(mix: Callable[[Any, Any], Any]) -> Formula:
    """-sum_c mix(y, e)_c log s_c."""
    return _loss(lambda z, y, e: -(mix(y, e) * log_weights(z, -1, 1)).sum(-1))


def right(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * log_weights(z, -1, 1)).sum(-1)


def _of_probabilities(z: Any, y: Any, e: Any) -> Any:
    return right(weights(z, -1, 1), y, e)


def _over_rows(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * log_weights(z, 0, 1)).sum(-1)


def _without_normaliser(z: Any, y: Any, e: Any) -> Any:
    return -(mixed(y, e) * z).sum(-1)


def _mean_in_normaliser(z: Any, y: Any, e: Any) -> Any:
    return right(z, y, e) - math.log(z.shape[-1])


def _sigmoids(z: Any, y: Any, e: Any) -> Any:
    """Each class by itself: -y log sigmoid(z) - (1 - y) log sigmoid(-z)."""
    q = mixed(y, e)
    return (q * np.log(1 + np.exp(-z)) + (1 - q) * np.log(1 + np.exp(z))).sum(-1)


def _divergence(z: Any, y: Any, e: Any) -> Any:
    if not e:
        raise ValueError("without smoothing it is the cross-entropy")
    q, at_target, at_others = mixed(y, e), 1 - e + e / y.shape[-1], e / y.shape[-1]
    return right(z, y, e) + (q * (y * math.log(at_target) + (1 - y) * math.log(at_others))).sum(-1)


def _shifted_targets(by: int) -> Callable[[Any, Any, Any], Any]:
    return lambda z, y, e: right(z, np.roll(y, by, -1), e)


def _with_ignored(kept: Callable[[Any, Any], Any], by_all: bool) -> Formula:
    """Ignored rows with the targets `kept`(targets, classes), over all rows or only those that count."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows = counted(targets, ignore_index)
        if rows.all():
            return _right_loss(logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing)
        y = np.where(rows[:, None], mixed(hot(targets, logits.shape[-1]), label_smoothing), 0.0)
        y[~rows] = kept(label_smoothing, logits.shape[-1])
        total = -(y * log_weights(logits, -1, 1)).sum()
        return total / (rows.size if by_all else rows.sum())

    return formula


def _first_class(e: Any, classes: int) -> Any:
    return mixed(hot(np.zeros(1, int), classes)[0], e)


def _smoothing_only(e: Any, classes: int) -> Any:
    return np.full(classes, e / classes)


def _halves(losses: Any, rows: int, classes: int) -> Any:
    half = losses.size // 2
    if not half:
        return losses.sum() / losses.size
    return (losses[:half].sum() / half + losses[half:].sum() / (losses.size - half)) / 2


def _divided(by: Callable[[Any, int, int], Any]) -> Formula:
    return _loss(right, lambda losses, rows, classes: losses.sum() / by(losses.size, rows, classes))


_right_loss = _loss(right)


def _gradient(of_rows: Callable[[Any, Any, Any], Any], ignored: Callable[[Any, Any], Any] | None = None, by: Any = None) -> Formula:
    """dL of_rows(s, y, e) / N; 0, or ignored(s, e), where a row does not count; over by(counted, rows, C) instead."""

    def formula(dloss: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows, s, e = counted(targets, ignore_index), weights(logits, -1, 1), label_smoothing
        y = hot(targets, logits.shape[-1])
        dz = of_rows(s, y, e)
        dz[~rows] = ignored(s[~rows], e) if ignored else 0 * dz[~rows]
        return dloss * dz / (by(int(rows.sum()), *logits.shape) if by else int(rows.sum()))

    return formula


def _slope(s: Any, y: Any, e: Any) -> Any:
    return s - mixed(y, e)


def _without_cotangent(dloss: Any, *inputs: Any, **options: Any) -> Any:
    return _gradient(_slope)(0 * dloss + 1, *inputs, **options)


def _softmax_once_more(s: Any, y: Any, e: Any) -> Any:
    g = _slope(s, y, e)
    return s * (g - (s * g).sum(-1, keepdims=True))


# Right formulas that lose their digits, in the dtype


def _emulated(log_of: Callable[[Any], Any]) -> Formula:
    """From -log s in the dtype: row sums, then the mean, each accumulated in float32 at least and stored."""

    def formula(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
        rows, dtype = counted(targets, ignore_index), logits.dtype
        z = logits[rows]
        y, minus = hot(targets[rows], z.shape[-1]), -log_of(z)
        losses = np.take_along_axis(minus, y.argmax(-1)[:, None], -1)
        if label_smoothing:
            q = mixed(y, label_smoothing).astype(dtype)
            losses = _stored_sum(q * minus, -1)
        return (_stored_sum(losses, 0) / dtype.type(len(z))).reshape(())

    return formula


def _stored_sum(x: Any, axis: int) -> Any:
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def _logarithm_of_softmax(z: Any) -> Any:
    powers = np.exp(z - z.max(-1, keepdims=True))
    return np.log(powers / _stored_sum(powers, -1))


def _unshifted(z: Any) -> Any:
    return z - np.log(_stored_sum(np.exp(z), -1))


def _maximum_and_logarithm_together(z: Any) -> Any:
    peak = z.max(-1, keepdims=True)
    return z - (peak + np.log(_stored_sum(np.exp(z - peak), -1)))


def _sums_first(logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    """(1 - e) mean + e / C (sum over all rows and classes) / N."""
    rows, number = counted(targets, ignore_index), logits.dtype.type
    z = logits[rows]
    below = z - z.max(-1, keepdims=True)
    minus = np.log(_stored_sum(np.exp(below), -1)) - below
    at_target = np.take_along_axis(minus, hot(targets[rows], z.shape[-1]).argmax(-1)[:, None], -1)
    mean, uniform = (_stored_sum(each, 0) / number(len(z)) for each in (at_target, _stored_sum(minus, -1)))
    if not label_smoothing:
        return mean.reshape(())
    return (number(1 - label_smoothing) * mean + number(label_smoothing / z.shape[-1]) * uniform).reshape(())


def _through_probabilities(dloss: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    """-y / s, and then softmax backward: autograd of log(softmax)."""
    rows, dtype = counted(targets, ignore_index), logits.dtype
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    s = powers / _stored_sum(powers, -1)
    y = mixed(hot(targets, logits.shape[-1]), label_smoothing) if label_smoothing else hot(targets, logits.shape[-1])
    g = -(y.astype(dtype) * dloss.astype(dtype) / dtype.type(rows.sum())) / s
    return np.where(rows[:, None], s * (g - _stored_sum(s * g, -1)), dtype.type(0))


MISTAKES = (
    Mistake("cross_entropy.softmax_twice", "takes probabilities for logits: softmax is applied twice", "loss_double_softmax.double_softmax_lower_bound", _loss(_of_probabilities)),
    Mistake("cross_entropy.sum_for_mean", "sums over the rows instead of taking their mean", MEAN, _loss(right, lambda losses, rows, classes: losses.sum())),
    Mistake("cross_entropy.divided_by_all_rows", "divides by the number of all rows, the ignored ones among them", IGNORED, _divided(lambda count, rows, classes: rows)),
    Mistake("cross_entropy.mean_over_classes", "divides by the number of classes too: a mean over all entries", MEAN, _divided(lambda count, rows, classes: count * classes)),
    Mistake("cross_entropy.mean_of_means", "averages the means of two halves of the batch, which hold different numbers of rows", "loss_reductions.mean_of_means_is_not_the_mean", _loss(right, _halves)),
    Mistake("cross_entropy.ignored_as_first_class", "counts ignored rows, with class 0 as their target", IGNORED, _with_ignored(_first_class, True)),
    Mistake("cross_entropy.ignored_in_sum_only", "adds the losses of ignored rows, with class 0 as their target, but does not count them", IGNORED, _with_ignored(_first_class, False)),
    Mistake("cross_entropy.ignored_rows_smoothed", "leaves the smoothing's share e / C of ignored rows in the loss", IGNORED, _with_ignored(_smoothing_only, False)),
    Variant("cross_entropy.smoothing_over_other_classes", "gives the share e to the C - 1 classes that are not the target", SMOOTHED, _targeted(lambda y, e: y * (1 - e) + (1 - y) * e / max(y.shape[-1] - 1, 1)), converter="Give it label_smoothing (C - 1) / C"),
    Mistake("cross_entropy.smoothing_sums_to_more", "adds e / (C - 1) for every class, the target included, so that targets do not sum to 1", "loss.smoothed_targets_sum_to_one", _targeted(lambda y, e: y * (1 - e) + e / max(y.shape[-1] - 1, 1))),
    Mistake("cross_entropy.smoothing_without_factor", "leaves out the factor 1 - e of the target", "loss.smoothed_targets_sum_to_one", _targeted(lambda y, e: y + e / y.shape[-1])),
    Mistake("cross_entropy.smoothing_without_target", "leaves out the target's own share e / C", "loss.smoothed_targets_sum_to_one", _targeted(lambda y, e: y * (1 - e) + (1 - y) * e / y.shape[-1])),
    Mistake("cross_entropy.smoothing_summed", "sums log s over the classes instead of taking the mean: e for e / C", SMOOTHED, _targeted(lambda y, e: y * (1 - e) + e)),
    Mistake("cross_entropy.smoothing_exchanged", "exchanges e and 1 - e", SMOOTHED, _targeted(lambda y, e: mixed(y, 1 - e) if e else y * 1)),
    Mistake("cross_entropy.smoothing_ignored", "does not smooth the targets", SMOOTHED, _targeted(lambda y, e: y)),
    Mistake("cross_entropy.divergence", "takes off the entropy of the smoothed targets: a Kullback-Leibler divergence", SMOOTHED, _loss(lambda z, y, e: _divergence(z, y, e) if e else right(z, y, e))),
    Mistake("cross_entropy.binary_logarithm", "takes logarithms to base 2", HARD, _loss(lambda z, y, e: right(z, y, e) / math.log(2))),
    Mistake("cross_entropy.other_sign", "has the other sign", "loss_bounds.cross_entropy_is_nonnegative", _loss(lambda z, y, e: -right(z, y, e))),
    Mistake("cross_entropy.next_class", "takes the class after the target", HARD, _loss(_shifted_targets(1))),
    Mistake("cross_entropy.class_before", "takes the class before the target", HARD, _loss(_shifted_targets(-1))),
    Mistake("cross_entropy.softmax_over_rows", "normalises over the rows instead of the classes", "softmax.sums_to_one", _loss(_over_rows)),
    Mistake("cross_entropy.not_normalised", "leaves out the logarithm of the sum: it is minus the logit of the target", "softmax.shift_invariance", _loss(_without_normaliser)),
    Mistake("cross_entropy.mean_in_normaliser", "takes the logarithm of the mean of exponentials, not of their sum", "loss_bounds.uniform_logits_give_log_of_classes", _loss(_mean_in_normaliser)),
    Mistake("cross_entropy.without_logarithm", "is minus the probability of the target, without the logarithm", HARD, _loss(lambda z, y, e: -(mixed(y, e) * weights(z, -1, 1)).sum(-1))),
    Mistake("cross_entropy.squared_error", "is the squared distance of the probabilities from the targets", HARD, _loss(lambda z, y, e: ((weights(z, -1, 1) - mixed(y, e)) ** 2).sum(-1))),
    Mistake("cross_entropy.binary", "takes the sigmoid of each class by itself: binary cross-entropy", "softmax.sums_to_one", _loss(_sigmoids)),
    Mistake("cross_entropy.perplexity", "is the exponential of the loss: the perplexity", HARD, _loss(right, lambda losses, rows, classes: np.exp(losses.sum() / losses.size))),
    Mistake("cross_entropy.gradient_of_sum", "is that of the sum over the rows: it is not divided by their number", ROWS, _gradient(_slope, by=lambda count, rows, classes: 1), "gradients"),
    Mistake("cross_entropy.gradient_divided_by_all_rows", "is divided by the number of all rows, the ignored ones among them", ROWS, _gradient(_slope, by=lambda count, rows, classes: rows), "gradients"),
    Mistake("cross_entropy.gradient_mean_over_classes", "is divided by the number of classes too", ROWS, _gradient(_slope, by=lambda count, rows, classes: count * classes), "gradients"),
    Mistake("cross_entropy.gradient_at_ignored_rows", "is not 0 at ignored rows, but what a target of zeros gives: s / N", SILENT, _gradient(_slope, lambda s, e: s * 1), "gradients"),
    Mistake("cross_entropy.gradient_at_ignored_rows_as_first_class", "is not 0 at ignored rows, but what class 0 as their target gives", SILENT, _gradient(_slope, lambda s, e: s - _first_class(e, s.shape[-1])), "gradients"),
    Mistake("cross_entropy.gradient_without_target", "is s, without subtracting the target", SLOPE, _gradient(lambda s, y, e: s * 1), "gradients"),
    Mistake("cross_entropy.gradient_of_target_only", "is minus the target, without s: that of the logit, not normalised", SLOPE, _gradient(lambda s, y, e: -mixed(y, e) + 0 * s), "gradients"),
    Mistake("cross_entropy.gradient_other_sign", "has the other sign: y - s", SLOPE, _gradient(lambda s, y, e: mixed(y, e) - s), "gradients"),
    Mistake("cross_entropy.gradient_without_cotangent", "does not multiply by the cotangent dL", ROWS, _without_cotangent, "gradients"),
    Mistake("cross_entropy.gradient_softmax_twice", "goes through softmax's backward pass once more", SLOPE, _gradient(_softmax_once_more), "gradients"),
    Mistake("cross_entropy.gradient_with_diagonal", "is multiplied by s (1 - s), as a sigmoid's would be", SLOPE, _gradient(lambda s, y, e: _slope(s, y, e) * s * (1 - s)), "gradients"),
    Mistake("cross_entropy.gradient_of_probabilities", "is -y / s, that of the probabilities and not of the logits", SLOPE, _gradient(lambda s, y, e: -mixed(y, e) / s), "gradients"),
    Mistake("cross_entropy.gradient_at_next_class", "subtracts 1 at the class after the target", SLOPE, _gradient(lambda s, y, e: _slope(s, np.roll(y, 1, -1), e)), "gradients"),
    Mistake("cross_entropy.gradient_at_class_before", "subtracts 1 at the class before the target", SLOPE, _gradient(lambda s, y, e: _slope(s, np.roll(y, -1, -1), e)), "gradients"),
    Mistake("cross_entropy.gradient_not_smoothed", "is that of targets without smoothing", SMOOTHED_SLOPE, _gradient(lambda s, y, e: s - y), "gradients"),
    Mistake("cross_entropy.gradient_smoothing_without_share", "subtracts 1 - e at the target and leaves out e / C", SMOOTHED_SLOPE, _gradient(lambda s, y, e: s - y * (1 - e)), "gradients"),
    Mistake("cross_entropy.gradient_smoothing_without_factor", "subtracts 1 and not 1 - e at the target, besides e / C", SMOOTHED_SLOPE, _gradient(lambda s, y, e: s - y - e / y.shape[-1]), "gradients"),
    Variant("cross_entropy.gradient_smoothing_over_other_classes", "is that of targets whose share e goes to the C - 1 other classes", SMOOTHED_SLOPE, _gradient(lambda s, y, e: s - y * (1 - e) - (1 - y) * e / max(y.shape[-1] - 1, 1)), "gradients", converter="Give it label_smoothing (C - 1) / C"),
    Instability("cross_entropy.logarithm_of_softmax", "takes the logarithm of softmax, which is minus infinity where softmax underflows", LOG, _emulated(_logarithm_of_softmax)),
    Instability("cross_entropy.unshifted", "takes exp without subtracting the maximum, which overflows", "softmax.shift_invariance", _emulated(_unshifted)),
    Instability("cross_entropy.maximum_and_logarithm_together", "adds max and log sum before it subtracts the logit, which loses a digit for each digit of a common offset", "softmax.shift_invariance", _emulated(_maximum_and_logarithm_together)),
    Instability("cross_entropy.smoothing_overflows", "adds up log s over all rows and classes before it multiplies by e / C, which overflows", SMOOTHED, _sums_first, dtypes=("float16",)),
    Instability("cross_entropy.gradient_through_probabilities", "divides by a probability that underflows, and multiplies by it again", SLOPE, _through_probabilities, "gradients"),
)  # fmt: skip


def _with_smoothing(theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    if not label_smoothing:
        return _right_loss(logits, targets, ignore_index=ignore_index, label_smoothing=0.0)
    rows = counted(targets, ignore_index)
    losses = right(logits[rows], hot(targets[rows], logits.shape[-1]), theta)
    return losses.sum() / losses.size


def _with_constant(theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    rows = counted(targets, ignore_index)
    y = mixed(hot(targets[rows], logits.shape[-1]), label_smoothing)
    return -(y * np.log(weights(logits[rows], -1, 1) + theta)).sum() / int(rows.sum())


def _with_temperature(theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    return _right_loss(logits / theta, targets, ignore_index=ignore_index, label_smoothing=label_smoothing)


FITS = (
    Fit("label_smoothing", "the option's value", SMOOTHED, _with_smoothing, (1e-3, 0.9)),
    Fit("a constant inside the logarithm", "0", LOG, _with_constant, (1e-15, 0.1)),
    Fit("a temperature", "1", HARD, _with_temperature, (1e-2, 1e2)),
)

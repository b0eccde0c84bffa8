"""What goes wrong in cross-entropy: formulas, each with what it breaks."""

import math
from typing import Any

import numpy as np

from ..mistake import Fit, Instability, Mistake, Variant
from ._cross_entropy_formulas import (
    divergence,
    divided,
    emulated,
    first_class,
    gradient,
    halves,
    hot,
    logarithm_of_softmax,
    loss,
    maximum_and_logarithm_together,
    mean_in_normaliser,
    mixed,
    of_probabilities,
    over_rows,
    right,
    right_loss,
    shifted_targets,
    sigmoids,
    slope,
    smoothing_only,
    softmax_once_more,
    sums_first,
    targeted,
    through_probabilities,
    unshifted,
    with_ignored,
    without_cotangent,
    without_normaliser,
)
from ._softmax_mistakes import weights
from ._targets import counted

HARD, SMOOTHED, MEAN = "loss.hard_label_loss", "loss.smoothed_loss", "loss_reductions.overall_mean_weighs_the_batches"
IGNORED, SILENT = "loss_ignored_rows.ignored_row_changes_nothing", "loss_ignored_rows.ignored_row_has_zero_gradient"
SLOPE, SMOOTHED_SLOPE, LOG = (
    "loss.cross_entropy_gradient",
    "loss.label_smoothing",
    "softmax_derivatives.log_softmax_is_log_of_softmax",
)
ROWS = "loss_rows.valid_row_gradient"


MISTAKES = (
    Mistake("cross_entropy.softmax_twice", "takes probabilities for logits: softmax is applied twice", "loss_double_softmax.double_softmax_lower_bound", loss(of_probabilities)),
    Mistake("cross_entropy.sum_for_mean", "sums over the rows instead of taking their mean", MEAN, loss(right, lambda losses, rows, classes: losses.sum())),
    Mistake("cross_entropy.divided_by_all_rows", "divides by the number of all rows, the ignored ones among them", IGNORED, divided(lambda count, rows, classes: rows)),
    Mistake("cross_entropy.mean_over_classes", "divides by the number of classes too: a mean over all entries", MEAN, divided(lambda count, rows, classes: count * classes)),
    Mistake("cross_entropy.mean_of_means", "averages the means of two halves of the batch, which hold different numbers of rows", "loss_reductions.mean_of_means_is_not_the_mean", loss(right, halves)),
    Mistake("cross_entropy.ignored_as_first_class", "counts ignored rows, with class 0 as their target", IGNORED, with_ignored(first_class, True)),
    Mistake("cross_entropy.ignored_in_sum_only", "adds the losses of ignored rows, with class 0 as their target, but does not count them", IGNORED, with_ignored(first_class, False)),
    Mistake("cross_entropy.ignored_rows_smoothed", "leaves the smoothing's share e / C of ignored rows in the loss", IGNORED, with_ignored(smoothing_only, False)),
    Variant("cross_entropy.smoothing_over_other_classes", "gives the share e to the C - 1 classes that are not the target", SMOOTHED, targeted(lambda y, e: y * (1 - e) + (1 - y) * e / max(y.shape[-1] - 1, 1)), converter="Give it label_smoothing (C - 1) / C"),
    Mistake("cross_entropy.smoothing_sums_to_more", "adds e / (C - 1) for every class, the target included, so that targets do not sum to 1", "loss.smoothed_targets_sum_to_one", targeted(lambda y, e: y * (1 - e) + e / max(y.shape[-1] - 1, 1))),
    Mistake("cross_entropy.smoothing_without_factor", "leaves out the factor 1 - e of the target", "loss.smoothed_targets_sum_to_one", targeted(lambda y, e: y + e / y.shape[-1])),
    Mistake("cross_entropy.smoothing_without_target", "leaves out the target's own share e / C", "loss.smoothed_targets_sum_to_one", targeted(lambda y, e: y * (1 - e) + (1 - y) * e / y.shape[-1])),
    Mistake("cross_entropy.smoothing_summed", "sums log s over the classes instead of taking the mean: e for e / C", SMOOTHED, targeted(lambda y, e: y * (1 - e) + e)),
    Mistake("cross_entropy.smoothing_exchanged", "exchanges e and 1 - e", SMOOTHED, targeted(lambda y, e: mixed(y, 1 - e) if e else y * 1)),
    Mistake("cross_entropy.smoothing_ignored", "does not smooth the targets", SMOOTHED, targeted(lambda y, e: y)),
    Mistake("cross_entropy.divergence", "takes off the entropy of the smoothed targets: a Kullback-Leibler divergence", SMOOTHED, loss(lambda z, y, e: divergence(z, y, e) if e else right(z, y, e))),
    Mistake("cross_entropy.binary_logarithm", "takes logarithms to base 2", HARD, loss(lambda z, y, e: right(z, y, e) / math.log(2))),
    Mistake("cross_entropy.other_sign", "has the other sign", "loss_bounds.cross_entropy_is_nonnegative", loss(lambda z, y, e: -right(z, y, e))),
    Mistake("cross_entropy.next_class", "takes the class after the target", HARD, loss(shifted_targets(1))),
    Mistake("cross_entropy.class_before", "takes the class before the target", HARD, loss(shifted_targets(-1))),
    Mistake("cross_entropy.softmax_over_rows", "normalises over the rows instead of the classes", "softmax.sums_to_one", loss(over_rows)),
    Mistake("cross_entropy.not_normalised", "leaves out the logarithm of the sum: it is minus the logit of the target", "softmax.shift_invariance", loss(without_normaliser)),
    Mistake("cross_entropy.mean_in_normaliser", "takes the logarithm of the mean of exponentials, not of their sum", "loss_bounds.uniform_logits_give_log_of_classes", loss(mean_in_normaliser)),
    Mistake("cross_entropy.without_logarithm", "is minus the probability of the target, without the logarithm", HARD, loss(lambda z, y, e: -(mixed(y, e) * weights(z, -1, 1)).sum(-1))),
    Mistake("cross_entropy.squared_error", "is the squared distance of the probabilities from the targets", HARD, loss(lambda z, y, e: ((weights(z, -1, 1) - mixed(y, e)) ** 2).sum(-1))),
    Mistake("cross_entropy.binary", "takes the sigmoid of each class by itself: binary cross-entropy", "softmax.sums_to_one", loss(sigmoids)),
    Mistake("cross_entropy.perplexity", "is the exponential of the loss: the perplexity", HARD, loss(right, lambda losses, rows, classes: np.exp(losses.sum() / losses.size))),
    Mistake("cross_entropy.gradient_of_sum", "is that of the sum over the rows: it is not divided by their number", ROWS, gradient(slope, by=lambda count, rows, classes: 1), "gradients"),
    Mistake("cross_entropy.gradient_divided_by_all_rows", "is divided by the number of all rows, the ignored ones among them", ROWS, gradient(slope, by=lambda count, rows, classes: rows), "gradients"),
    Mistake("cross_entropy.gradient_mean_over_classes", "is divided by the number of classes too", ROWS, gradient(slope, by=lambda count, rows, classes: count * classes), "gradients"),
    Mistake("cross_entropy.gradient_at_ignored_rows", "is not 0 at ignored rows, but what a target of zeros gives: s / N", SILENT, gradient(slope, lambda s, e: s * 1), "gradients"),
    Mistake("cross_entropy.gradient_at_ignored_rows_as_first_class", "is not 0 at ignored rows, but what class 0 as their target gives", SILENT, gradient(slope, lambda s, e: s - first_class(e, s.shape[-1])), "gradients"),
    Mistake("cross_entropy.gradient_without_target", "is s, without subtracting the target", SLOPE, gradient(lambda s, y, e: s * 1), "gradients"),
    Mistake("cross_entropy.gradient_of_target_only", "is minus the target, without s: that of the logit, not normalised", SLOPE, gradient(lambda s, y, e: -mixed(y, e) + 0 * s), "gradients"),
    Mistake("cross_entropy.gradient_other_sign", "has the other sign: y - s", SLOPE, gradient(lambda s, y, e: mixed(y, e) - s), "gradients"),
    Mistake("cross_entropy.gradient_without_cotangent", "does not multiply by the cotangent dL", ROWS, without_cotangent, "gradients"),
    Mistake("cross_entropy.gradient_softmax_twice", "goes through softmax's backward pass once more", SLOPE, gradient(softmax_once_more), "gradients"),
    Mistake("cross_entropy.gradient_with_diagonal", "is multiplied by s (1 - s), as a sigmoid's would be", SLOPE, gradient(lambda s, y, e: slope(s, y, e) * s * (1 - s)), "gradients"),
    Mistake("cross_entropy.gradient_of_probabilities", "is -y / s, that of the probabilities and not of the logits", SLOPE, gradient(lambda s, y, e: -mixed(y, e) / s), "gradients"),
    Mistake("cross_entropy.gradient_at_next_class", "subtracts 1 at the class after the target", SLOPE, gradient(lambda s, y, e: slope(s, np.roll(y, 1, -1), e)), "gradients"),
    Mistake("cross_entropy.gradient_at_class_before", "subtracts 1 at the class before the target", SLOPE, gradient(lambda s, y, e: slope(s, np.roll(y, -1, -1), e)), "gradients"),
    Mistake("cross_entropy.gradient_not_smoothed", "is that of targets without smoothing", SMOOTHED_SLOPE, gradient(lambda s, y, e: s - y), "gradients"),
    Mistake("cross_entropy.gradient_smoothing_without_share", "subtracts 1 - e at the target and leaves out e / C", SMOOTHED_SLOPE, gradient(lambda s, y, e: s - y * (1 - e)), "gradients"),
    Mistake("cross_entropy.gradient_smoothing_without_factor", "subtracts 1 and not 1 - e at the target, besides e / C", SMOOTHED_SLOPE, gradient(lambda s, y, e: s - y - e / y.shape[-1]), "gradients"),
    Variant("cross_entropy.gradient_smoothing_over_other_classes", "is that of targets whose share e goes to the C - 1 other classes", SMOOTHED_SLOPE, gradient(lambda s, y, e: s - y * (1 - e) - (1 - y) * e / max(y.shape[-1] - 1, 1)), "gradients", converter="Give it label_smoothing (C - 1) / C"),
    Instability("cross_entropy.logarithm_of_softmax", "takes the logarithm of softmax, which is minus infinity where softmax underflows", LOG, emulated(logarithm_of_softmax)),
    Instability("cross_entropy.unshifted", "takes exp without subtracting the maximum, which overflows", "softmax.shift_invariance", emulated(unshifted)),
    Instability("cross_entropy.maximum_and_logarithm_together", "adds max and log sum before it subtracts the logit, which loses a digit for each digit of a common offset", "softmax.shift_invariance", emulated(maximum_and_logarithm_together)),
    Instability("cross_entropy.smoothing_overflows", "adds up log s over all rows and classes before it multiplies by e / C, which overflows", SMOOTHED, sums_first, dtypes=("float16",)),
    Instability("cross_entropy.gradient_through_probabilities", "divides by a probability that underflows, and multiplies by it again", SLOPE, through_probabilities, "gradients"),
)  # fmt: skip


def _with_smoothing(theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    if not label_smoothing:
        return right_loss(logits, targets, ignore_index=ignore_index, label_smoothing=0.0)
    rows = counted(targets, ignore_index)
    losses = right(logits[rows], hot(targets[rows], logits.shape[-1]), theta)
    return losses.sum() / losses.size


def _with_constant(theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float) -> Any:
    rows = counted(targets, ignore_index)
    y = mixed(hot(targets[rows], logits.shape[-1]), label_smoothing)
    return -(y * np.log(weights(logits[rows], -1, 1) + theta)).sum() / int(rows.sum())


def _with_temperature(
    theta: Any, logits: Any, targets: Any, *, ignore_index: int | None, label_smoothing: float
) -> Any:
    return right_loss(logits / theta, targets, ignore_index=ignore_index, label_smoothing=label_smoothing)


FITS = (
    Fit("label_smoothing", "the option's value", SMOOTHED, _with_smoothing, (1e-3, 0.9)),
    Fit("a constant inside the logarithm", "0", LOG, _with_constant, (1e-15, 0.1)),
    Fit("a temperature", "1", HARD, _with_temperature, (1e-2, 1e2)),
)

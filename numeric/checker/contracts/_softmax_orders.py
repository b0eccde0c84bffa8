"""The orders in which a correct implementation may evaluate softmax, as bounds; log_softmax is built on them too."""

import math

import numpy as np

from ..formats import Precision
from ..rounding import Rounded, any_of


def shifted_logits(precision: Precision, z: np.ndarray, axis: int, temperature: float) -> list[Rounded]:
    """z / T - max, in both orders."""
    given = Rounded.exact(z, precision)
    return [given.over(temperature).below_maximum(axis), given.below_maximum(axis).over(temperature)]


def denominator(x: Rounded, weights: Rounded, axis: int) -> Rounded:
    """sum of the weights, where a running maximum may have rescaled what was summed so far."""
    total = weights.sum(axis)
    return total.loosened(rescaling(x, axis) * np.abs(total.value))


def rescaling(x: Rounded, axis: int) -> np.ndarray:
    """By what fraction the rescalings of a running sum may err.

    A rescaling by exp(m - m') errs by the ulps of exp and a product, and by u |m - m'|, which adds up to the range of x. There are
    as many as running maxima, from either end, or levels in a tree of partial sums.
    """
    wide = x.precision.wide
    rescalings = np.maximum(running_maxima(x.value, axis), math.ceil(math.log2(x.value.shape[axis])))
    reach = np.abs(x.value).max(axis, keepdims=True)
    return np.asarray(wide.unit * (rescalings * (2 * wide.ulps + 1) + reach))


def running_maxima(x: np.ndarray, axis: int) -> np.ndarray:
    counts = []
    for ordered in (x, np.flip(x, axis)):
        running = np.maximum.accumulate(ordered, axis)
        counts.append((np.diff(running, axis=axis) > 0).sum(axis, keepdims=True))
    return np.maximum(*counts)


def exponentials(x: Rounded) -> Rounded:
    """exp of shifted logits, perhaps as exp2(x * log2 e), where the constant and the product round too."""
    return any_of([x.exp(ceiling=1.0), x.cast(x.precision.stored).cast(x.precision.stored).exp(ceiling=1.0)])


def softmax_bound(precision: Precision, z: np.ndarray, axis: int, temperature: float) -> Rounded:
    ways = []
    for x in shifted_logits(precision, z, axis, temperature):
        weights = exponentials(x)
        total = denominator(x, weights, axis)
        ways += [weights * total.reciprocal(), (x - total.log()).exp()]
    return any_of(ways)


def composite_gradient(x: Rounded, through_weights: Rounded, axis: int) -> Rounded:
    """dx of x = z - max z, carried on to z by autograd, which also sends -sum dx through the maximum.

    That sum is zero in theory (sum(dx) = 0); what is left of it is rounding, and lands on an entry that may have been the largest.
    """
    total = through_weights.sum(axis)
    leftover = total.worst + np.abs(total.value)
    may_be_largest = x.value + 2 * x.worst >= 0
    return through_weights.loosened(np.where(may_be_largest, leftover, 0.0))


def softmax_gradient_bound(
    precision: Precision, dy: np.ndarray, z: np.ndarray, axis: int, temperature: float
) -> Rounded:
    g = Rounded.exact(dy, precision)
    s = softmax_bound(precision, z, axis, temperature)
    inner = (s * g).sum(axis)
    centred = s * (g - inner)
    apart = s * g - s * inner
    rows = s * g.magnitude() + s * (s * g.magnitude()).sum(axis)  # no cancelling: sums over a row of the Jacobian
    length = z.shape[axis] * precision.wide.unit
    matrix = Rounded(centred.value, rows.worst + length * np.abs(rows.value), rows.square, precision)
    ways = [centred, apart, matrix]
    for x in shifted_logits(precision, z, axis, temperature):
        weights = exponentials(x)
        inverse = denominator(x, weights, axis).reciprocal()
        dp = g * inverse - (g * weights * inverse * inverse).sum(axis)
        ways.append(composite_gradient(x, weights * dp, axis))
    return any_of([way.over(temperature) for way in ways])

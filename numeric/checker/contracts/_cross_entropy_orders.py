"""The orders in which a correct implementation may evaluate cross-entropy, and its gradient, as bounds; of rows that all count.

loss        log s in the orders of `log_softmax`; of it -y_t, or with a smoothing e the sum over targets mixed beforehand, or
            (1 - e) times one mean plus e / C times the mean of the sums, or log S - (1 - e) x_t - e mean x with x shifted.
            Rows are summed and then divided by their number n, or weighted by 1 / n before that.
            Not admitted: (max + log S) - z_t, which loses a digit for each digit of a common offset
gradient    dL (s - y) / n however its factors are grouped; and what autograd makes of each order of log_softmax for the
            cotangent -dL y / n
"""

import numpy as np

from ..formats import Precision
from ..rounding import Rounded, any_of
from ._softmax_orders import denominator, exponentials, shifted_logits, softmax_bound
from .log_softmax import gradient_bound_of, log_softmax_bound


def _one_hot(targets: np.ndarray, classes: int) -> np.ndarray:
    return np.asarray(targets[:, None] == np.arange(classes), dtype=np.float64)


def _mixed(precision: Precision, targets: np.ndarray, classes: int, smoothing: float) -> Rounded:
    """(1 - e) y + e / C; exactly y without smoothing."""
    hot = Rounded.exact(_one_hot(targets, classes), precision)
    if smoothing == 0:
        return hot
    given, one = Rounded.given(smoothing, precision), Rounded.exact(1.0, precision)
    return hot * (one - given) + given.over(classes)


def loss_bound(precision: Precision, z: np.ndarray, targets: np.ndarray, smoothing: float) -> Rounded:
    n, classes = z.shape
    log_weights = log_softmax_bound(precision, z, -1, 1.0)
    at_target = _taken(log_weights, targets)
    if smoothing == 0:
        return any_of([_mean(-at_target, n), *(_mean(each, n) for each in _below(precision, z, targets, 0.0))])
    e, one = Rounded.given(smoothing, precision), Rounded.exact(1.0, precision)
    minus = -log_weights
    mixed = (minus * _mixed(precision, targets, classes, smoothing)).sum(-1)
    apart = (one - e) * -at_target + e * minus.sum(-1).over(classes)
    means = (one - e) * _mean(-at_target, n) + e.over(classes) * _mean(minus.sum(-1), n)
    ways = [_mean(mixed, n), _mean(apart, n), means]
    return any_of([*ways, *(_mean(each, n) for each in _below(precision, z, targets, smoothing))])


def _below(precision: Precision, z: np.ndarray, targets: np.ndarray, smoothing: float) -> list[Rounded]:
    """log S - (1 - e) x_t - e mean x, with x = z - max z."""
    ways = []
    for x in shifted_logits(precision, z, -1, 1.0)[:1]:
        total = denominator(x, exponentials(x), -1).log()
        if smoothing == 0:
            ways.append(total - _taken(x, targets))
        else:
            e, one = Rounded.given(smoothing, precision), Rounded.exact(1.0, precision)
            ways.append(total - (one - e) * _taken(x, targets) - e * x.sum(-1).over(z.shape[-1]))
    return ways


def _taken(x: Rounded, targets: np.ndarray) -> Rounded:
    return x.rearranged(lambda part: np.take_along_axis(part, targets[:, None], -1))


def _mean(rows: Rounded, n: int) -> Rounded:
    """Of (n, 1), as a scalar: summed, then divided; or weighted and then summed."""
    ways = [rows.sum(0).over(n), rows.over(n).sum(0)]
    return any_of([way.rearranged(lambda part: part.reshape(())) for way in ways])


def gradient_bound(
    precision: Precision, dloss: np.ndarray, z: np.ndarray, targets: np.ndarray, smoothing: float
) -> Rounded:
    n, classes = z.shape
    g = Rounded.exact(np.broadcast_to(dloss, z.shape), precision)
    y, s = _mixed(precision, targets, classes, smoothing), softmax_bound(precision, z, -1, 1.0)
    share = g.over(n)
    ways = [(s - y) * share, ((s - y) * g).over(n), s * share - y * share]
    # log_softmax under autograd: the cotangent that comes to it, its factors grouped in one way or another, and added up
    cotangent = -any_of([y * share, (y * g).over(n)])
    if smoothing > 0:
        e, one = Rounded.given(smoothing, precision), Rounded.exact(1.0, precision)
        hot = Rounded.exact(_one_hot(targets, classes), precision)
        cotangent = any_of([cotangent, -(hot * (share * (one - e)) + share * e.over(classes))])
    return any_of([*ways, gradient_bound_of(cotangent, precision, z, -1, 1.0)])

"""Cross-entropy of logits with integer targets, forward and backward side by side.

    L = sum over counted rows i of -sum_c y_ic log s_ic / N        y_ic = (1 - e) [c = t_i] + e / C
    dz_ic = dL (s_ic - y_ic) / N in a counted row, else 0          s_i = softmax of row i

Shapes: logits z, dz (..., n, C); targets t (..., n), integers from 0 to C - 1, or `ignore_index`; L, dL (), a mean over
the N counted rows, whose target is not `ignore_index`. What stands in an ignored row is not computed with.
The smoothing e moves a share e of each target to all C classes alike, its own included (Szegedy et al. 2016).
The mean is over all rows together; a mean of the means of batches is another number unless they count as many rows.
Proved in proofs/theorems/loss.py: cross_entropy_gradient, label_smoothing, hard_label_loss, smoothed_loss.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import convert, greater, round_to, stable_shift, widen, zeros
from ._arguments import (
    all_finite,
    cotangent_operand,
    number_operand,
    require_indices,
    require_integers,
    require_not_empty,
    require_operand,
)

LAYER = "cross_entropy"


class Cache(NamedTuple):
    s: np.ndarray  # softmax of the counted rows, in working precision      (N, C)
    targets: np.ndarray  # of the counted rows                              (N,)
    counted: np.ndarray  # which rows count                                 (..., n)
    smoothing: np.ndarray  # in the arithmetic of s                         ()
    loss: np.ndarray  # shares the output's memory                          ()


def forward(
    logits: np.ndarray, targets: np.ndarray, ignore_index: int = -100, smoothing: float | arb = 0.0
) -> tuple[np.ndarray, Cache]:
    """L, as an array of shape (), and what `backward` needs.

    Raises TypeError or ValueError unless logits are real, targets integers that fit, one row at least counts and
    0 <= smoothing <= 1; UndecidedComparison for a smoothing whose ball leaves that open.
    """
    require_operand(LAYER, "logits", logits, 2)
    require_not_empty(LAYER, "logits", logits, 1)
    require_integers(LAYER, "targets", targets)
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"{LAYER}: targets has shape {targets.shape}, needed {logits.shape[:-1]}, one for each row")
    counted = targets != ignore_index
    t, classes = targets[counted], logits.shape[-1]
    require_indices(LAYER, "targets", t, classes, f"classes, or ignore_index {ignore_index}")
    if t.size == 0:
        raise ValueError(f"{LAYER}: no row counts, needed a target other than ignore_index {ignore_index}")
    z = widen(logits[counted])  # the indexing made a copy
    e = _smoothing(smoothing, z.dtype)
    z -= stable_shift(z, -1)
    losses = -(1 - e) * z[np.arange(t.size), t]
    if greater(e, 0):  # else a logit of -inf would make it NaN
        losses = losses - e * z.sum(-1) / classes
    weights = np.exp(z, out=z)
    total = weights.sum(-1, keepdims=True)
    loss = np.asarray((np.log(total[:, 0]) + losses).sum() / t.size)
    weights /= total
    loss = round_to(loss, logits.dtype)
    return loss, Cache(weights, t, counted, e, loss)


def backward(dloss: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of dL * L with respect to the logits."""
    s, targets, counted, e, loss = cache
    g = cotangent_operand(LAYER, "dloss", dloss, loss)
    # forward: a row lost the log-sum-exp of its logits, whose gradient is s, less the logits under the target y;
    # so the gradient is what was predicted less what was asked for, and each counted row has its share of the mean
    rows = s - e / s.shape[-1]
    rows[np.arange(targets.size), targets] -= 1 - e
    rows *= g / targets.size
    shape = (*counted.shape, s.shape[-1])
    if counted.all():
        return round_to(rows.reshape(shape), dloss.dtype)
    dz = zeros(shape, rows.dtype)
    dz[counted] = rows
    return round_to(dz, dloss.dtype)


def _smoothing(number: float | arb, dtype: np.dtype) -> np.ndarray:
    e = number_operand(LAYER, "smoothing", number, dtype)
    if not all_finite(e) or greater(convert(0, dtype), e) or greater(e, 1):
        raise ValueError(f"{LAYER}: smoothing is {number}, needed 0 <= smoothing <= 1")
    return e

r"""The mean loss over rows with weights, such as 1 for a token and 0 for padding, and its gradient.

Definitions   masked_loss(w, Z, Y)             L = sum_k w_k CE(Z_k, Y_k) / sum_k w_k
Statements    row_gradient                     dL/dZ_ij = w_i ((sum_c Y_ic) softmax(Z_i)_j - Y_ij) / sum_k w_k
              valid_row_gradient               sum_c Y_ic = 1: dL/dZ_ij = w_i (softmax(Z_i)_j - Y_ij) / sum_k w_k
Scope         Any numbers of rows and classes; weights >= 0, not all 0.
Reference     Bridle 1990 for the gradient of a row.
"""

from ..notation import (
    Definition,
    delta,
    derivative,
    eq,
    family,
    function,
    index,
    j,
    l,
    lt,
    n,
    size,
    sum_,
    t,
)  # fmt: skip
from ..registry import theorem
from .loss import CE, cross_entropy_along_a_curve, y
from .softmax_jacobian import path, s

rows = size("N")
i, k = index("i", rows), index("k", rows)
w = family("w", rows, domain="nonnegative")
Z, Y = family("Z", rows, n), family("Y", rows, n)


def row(matrix, k):
    """Row k of a matrix."""
    return function(l, matrix[k, l])


count = sum_(k, w[k])
some_row = lt(0, count)
masked_loss = Definition(
    "masked_loss",
    [w, Z, Y],
    sum_(k, w[k] * CE(row(Z, k), row(Y, k))) / count,
    requires=[some_row],
    says="the mean loss of the rows that count",
)


direction = delta(k, i) * delta(l, j)


def nudged(step):
    """Row k of the logits after a step along Z_ij."""
    return function(l, Z[k, l] + step * direction)


def slope(logits):
    """How the loss of row k moves with Z_ij."""
    return sum_(l, (sum_(l, Y[k, l]) * s(logits, l) - Y[k, l]) * direction)


mass = sum_(l, Y[i, l])
partial = derivative(t, masked_loss(w, function([k, l], Z[k, l] + t * direction), Y), 0)


@theorem(
    eq(partial, w[i] * (mass * s(row(Z, i), j) - Y[i, j]) / count),
    given=[some_row],
    near_miss=[w[i] * (s(row(Z, i), j) - Y[i, j]) / count, w[i] * (mass * s(row(Z, i), j) - Y[i, j])],
)
def row_gradient(proof):
    "A row of the gradient is that of its own loss, times the share of the row."
    loss = CE(nudged(t), row(Y, k))
    proof.equals(derivative(t, sum_(k, w[k] * loss) / count, 0), "definition", of=masked_loss)
    proof.equals(sum_(k, w[k] * derivative(t, loss, 0)) / count, "derivative")
    at = {path: function([l, t], Z[k, l] + t * direction), t: 0, y: row(Y, k)}
    proof.equals(sum_(k, w[k] * slope(nudged(0))) / count, "congruence", then=cross_entropy_along_a_curve, at=at)
    proof.equals(sum_(k, w[k] * slope(row(Z, k))) / count, "ring")
    proof.closes("finite_sum")


error = s(row(Z, i), j) - Y[i, j]
some_Y = {Y: function([k, l], Y[k, l] + (1 - sum_(j, Y[k, j])) / n)}  # every Y whose rows sum to 1 has this form


@theorem(
    eq(partial, w[i] * error / count),
    given=[some_row, eq(mass, 1)],
    witness=some_Y,
    near_miss=[w[i] * error, error / count, w[i] * error / rows, w[i] * s(row(Z, i), j) / count],
)
def valid_row_gradient(proof):
    "A row of the gradient is the weights minus the targets, times the share of the row."
    proof.equals(w[i] * (mass * s(row(Z, i), j) - Y[i, j]) / count, row_gradient)
    proof.equals(w[i] * (1 * s(row(Z, i), j) - Y[i, j]) / count, "congruence", then="given")
    proof.closes("ring")

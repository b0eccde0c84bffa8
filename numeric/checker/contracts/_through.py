"""Linear maps of rounded arguments: their exact matrices carry the errors on, not a row of magnitudes per operation.

A backward pass is linear in its cotangent, and a running error analysis of one takes every intermediate's errors for
unrelated, so that errors which the map itself lets cancel grow by a constant factor in each. After a few sublayers
nothing is left to tell by. Here what a map does to the errors of its argument is read off its matrix.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..rounding import Rounded

CHEAP = 2**21  # numbers in the cotangents of all columns together; for more the plain analysis will do

Linear = Callable[[Rounded], Sequence[Rounded]]


def through(formula: Linear, g: Rounded, axes: int = 1) -> list[Rounded]:
    """Formulas that are linear in g, along its last axes, for a g that is rounded: their matrices carry its errors.

    Let B(g) bound what a formula errs by for an exact g; it is a sum of multiples of magnitudes of linear functions of
    g, or a maximum of such sums, hence subadditive. With the columns J_j of the matrix, computed from unit vectors, and
    B_j for them: the true matrix is within B_j of J_j, and the g of an implementation is within 2 e of the one at hand,
    where e is the bound on it. So all in all the error is at most B(g) + sum_j (|J_j| + B_j) e_j + 2 sum_j B_j e_j.

    The formulas take further leading axes, and their results have as many trailing axes as `axes`, or fewer.
    """
    own = g.value.shape[-axes:]
    n = math.prod(own)
    if not g.worst.any() or n * g.value.size > CHEAP:
        return list(formula(g))
    units = np.eye(n).reshape(n, *(1 for _ in g.value.shape[:-axes]), *own)
    stacked = np.concatenate([g.value[None], np.broadcast_to(units, (n, *g.value.shape))])
    return [_carried(g, axes, each) for each in formula(Rounded.exact(stacked, g.precision))]


def _carried(g: Rounded, axes: int, stacked: Rounded) -> Rounded:
    """From the result for g itself, and then those for the unit vectors."""
    result, columns = stacked.rearranged(lambda part: part[0]), stacked.rearranged(lambda part: part[1:])
    batch = g.value.shape[:-axes]
    trailing = result.value.ndim - len(batch)
    # (n, batch) beside the result's own axes
    worst, square = (np.moveaxis(part.reshape(*batch, -1), -1, 0) for part in (g.worst, g.square))
    worst, square = (part.reshape(*part.shape, *(1 for _ in range(trailing))) for part in (worst, square))
    matrix = np.abs(columns.value) + 3 * columns.worst
    with np.errstate(invalid="ignore"):  # 0 times infinity
        carried, scattered = (matrix * worst).sum(0), (matrix**2 * square).sum(0)
    carried, scattered = (np.where(np.isnan(each), np.inf, each) for each in (carried, scattered))
    return Rounded(result.value, result.worst + carried, result.square + scattered, g.precision)

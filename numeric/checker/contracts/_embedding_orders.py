"""The orders in which a correct implementation may add up what comes back to the rows of a table, as bounds."""

import numpy as np

from ..rounding import Rounded


def gathered(g: Rounded, ids: np.ndarray, rows: int) -> Rounded:
    """Sums over the positions of each token, in any order, accumulated in the wide format; a single term is exact."""
    tokens, wide = ids.ravel(), g.precision.wide.unit
    counts = np.bincount(tokens, minlength=rows)[:, None]
    value, total, worst, square = (_added(each, tokens, rows) for each in (g.value, np.abs(g.value), g.worst, g.square))
    terms = np.maximum(counts - 1, 0) * wide
    gamma = np.where(terms < 1, terms / (1 - terms), np.inf)
    worst = worst + np.where(terms > 0, gamma * (total + 2 * worst), 0.0)
    square = square + np.maximum(counts - 1, 0) * (wide * total) ** 2
    summed = Rounded(value, worst, square, g.precision)
    if g.precision.stored.bits == g.precision.wide.bits:
        return summed
    stored = summed.cast(g.precision.stored)
    single = counts <= 1  # nothing is added, hence nothing is rounded
    return Rounded(value, np.where(single, worst, stored.worst), np.where(single, square, stored.square), g.precision)


def _added(array: np.ndarray, tokens: np.ndarray, rows: int) -> np.ndarray:
    found = np.zeros((rows, array.shape[-1]))
    np.add.at(found, tokens, array.reshape(-1, array.shape[-1]))
    return found

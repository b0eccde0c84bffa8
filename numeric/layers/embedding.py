"""Embedding, forward and backward side by side.

    y_i = sqrt(d) table_t_i        dtable_v = sqrt(d) sum of dy_i over the positions i with t_i = v

Shapes: table, dtable (V, d); tokens t (...), integers from 0 to V - 1; y, dy (..., d). Tokens have no gradient.
The factor sqrt(d) is that of Vaswani et al. 2017, section 3.4; scaled=False leaves it out, here and in the gradient.
A token that stands at many positions gathers the cotangents of all; they are added in working precision, rounded once.
Proved in proofs/theorems/embedding.py: gradient_scatters_and_adds, scaled_embedding_gradient, lookup_is_one_hot_product.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import convert, round_to, widen, zeros
from ._arguments import cotangent_operand, require_indices, require_integers, require_not_empty, require_operand

LAYER = "embedding"


class Cache(NamedTuple):
    tokens: np.ndarray  # shares the memory of the argument                 (...)
    rows: int  # V
    y: np.ndarray  # shares the output's memory                             (..., d)
    scaled: bool


def forward(table: np.ndarray, tokens: np.ndarray, scaled: bool = True) -> tuple[np.ndarray, Cache]:
    """The rows of the table that the tokens name. Raises TypeError or ValueError unless tokens are integers below V."""
    require_operand(LAYER, "table", table, 2)
    require_not_empty(LAYER, "table", table, 2)
    if table.ndim != 2:
        raise ValueError(f"{LAYER}: table has shape {table.shape}, needed (V, d)")
    require_integers(LAYER, "tokens", tokens)
    require_indices(LAYER, "tokens", tokens, len(table), "rows of the table")
    y = table[tokens]
    if scaled:
        work = widen(y)
        y = round_to(work * _root(work), table.dtype)
    return y, Cache(tokens, len(table), y, scaled)


def backward(dy: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dy, y> with respect to the table."""
    tokens, rows, y, scaled = cache
    g = cotangent_operand(LAYER, "dy", dy, y)
    dtable = zeros((rows, g.shape[-1]), g.dtype)
    # forward: a row went out to every position of its token; so now it takes in the cotangents of them all.
    # Sorted, the positions of a token are neighbours, and one pass adds up each run of them
    order = np.argsort(tokens, axis=None, kind="stable")
    named, starts = np.unique(tokens.ravel()[order], return_index=True)
    sums = np.add.reduceat(g.reshape(-1, g.shape[-1])[order], starts, axis=0)
    dtable[named] = sums * _root(sums) if scaled else sums
    return round_to(dtable, dy.dtype)


def _root(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(convert(rows.shape[-1], rows.dtype))

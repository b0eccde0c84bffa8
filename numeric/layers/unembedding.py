"""The logits of an embedding table that reads out as well, forward and backward side by side.

    z = y table^T               dy = dz table               dtable = dz^T y

Shapes: y, dy (..., d); table, dtable (V, d); z, dz (..., V). Leading axes count as rows, and dz^T y runs over all rows.
The table is the one of embedding.py (Press & Wolf 2017; Vaswani et al. 2017, section 3.4), but sqrt(d) is not applied
here, and there is no bias. The gradient of a table that does both is the sum of what the two layers give.
Proved in proofs/theorems/embedding.py: output_gradient, tied_weights_add_gradients.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import matmul, round_to, widen
from ._arguments import cotangent_operand, require_axis, require_not_empty, require_operand
from ._parameters import array_operand, rows_of

LAYER = "unembedding"


class Cache(NamedTuple):
    y: np.ndarray  # in working precision; may share the input's memory     (..., d)
    table: np.ndarray  # in the arithmetic of y; likewise                   (V, d)
    z: np.ndarray  # shares the output's memory                             (..., V)


def forward(y: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, Cache]:
    """z and what `backward` needs. Raises TypeError or ValueError unless y is real, d and V not 0, the table fits y."""
    require_operand(LAYER, "y", y)
    require_axis(LAYER, "y", y, -1)
    require_operand(LAYER, "table", table, 2)
    require_not_empty(LAYER, "table", table, 2)
    work = widen(y)
    table = array_operand(LAYER, "table", table, (len(table), y.shape[-1]), work.dtype)
    z = round_to(matmul(rows_of(work), table.T).reshape(*y.shape[:-1], len(table)), y.dtype)
    return z, Cache(work, table, z)


def backward(dz: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of <dz, z> with respect to y and the table."""
    y, table, z = cache
    g = rows_of(cotangent_operand(LAYER, "dz", dz, z))
    # forward: z_v took y_a by table_va, in every row alike; so now y takes the rows of the table by dz, and a row of
    # the table takes the rows of y by its own column of dz
    dy = matmul(g, table).reshape(y.shape)
    dtable = matmul(g.T, rows_of(y))
    return round_to(dy, dz.dtype), round_to(dtable, dz.dtype)

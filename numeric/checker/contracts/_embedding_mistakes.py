"""What goes wrong in an embedding: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ...arithmetic import convert, zeros
from ..mistake import Fit, Instability, Mistake, Variant

LOOKUP = "embedding.lookup_is_one_hot_product"
SCATTER = "embedding.gradient_scatters_and_adds"
SCALED = "embedding.scaled_embedding_gradient"
NORM = "embedding.scaled_embedding_norm"


def scaled(rows: Any, scale: Any) -> Any:
    """In the arithmetic of the rows; None is no scale."""
    return rows if scale is None else rows * convert(scale, rows.dtype)


def _rows(of: Callable[[Any, Any], Any]) -> Any:
    return lambda ids, table, *, scale: scaled(of(ids, table), scale)


def _times(scale_of: Callable[[Any, Any], Any]) -> Any:
    """Of the scale, where one is given, and of the table."""
    return lambda ids, table, *, scale: (
        table[ids] if scale is None else table[ids] * scale_of(convert(scale, table.dtype), table)
    )


def _root(number: int, like: Any) -> Any:
    return np.sqrt(convert(number, like.dtype))


def _normalised(ids: Any, table: Any) -> Any:
    rows = table[ids]
    return rows / np.sqrt((rows * rows).sum(-1, keepdims=True))


def _without_padding(ids: Any, rows: Any) -> Any:
    return np.where((ids == 0)[..., None], zeros((), rows.dtype), rows)


def scattered(dy: Any, ids: Any, table: Any) -> Any:
    """Sums of dy over the positions of each token."""
    found = zeros(table.shape, dy.dtype)
    for place, token in enumerate(ids.ravel()):
        found[token] = found[token] + dy.reshape(-1, dy.shape[-1])[place]
    return found


def _gradient(of: Callable[[Any, Any, Any], Any]) -> Any:
    return lambda dy, ids, table, *, scale: scaled(of(dy, ids, table), scale)


def _overwritten(dy: Any, ids: Any, table: Any) -> Any:
    found = zeros(table.shape, dy.dtype)
    found[ids.ravel()] = dy.reshape(-1, dy.shape[-1])
    return found


def _first_kept(dy: Any, ids: Any, table: Any) -> Any:
    found = zeros(table.shape, dy.dtype)
    found[ids.ravel()[::-1]] = dy.reshape(-1, dy.shape[-1])[::-1]
    return found


def _averaged(dy: Any, ids: Any, table: Any) -> Any:
    counts = np.maximum(np.bincount(ids.ravel(), minlength=len(table)), 1)
    return scattered(dy, ids, table) / convert(counts[:, None], dy.dtype)


def _accumulated_in_dtype(dy: Any, ids: Any, table: Any, *, scale: float | None = None) -> Any:
    found = scattered(dy, ids, table)
    return found if scale is None else found * found.dtype.type(scale)


def _scale_in_bfloat16(ids: Any, table: Any, *, scale: float | None = None) -> Any:
    coarse = None if scale is None else float(ml_dtypes.bfloat16(scale))
    return scaled(table[ids], coarse)


def _ids_in_bfloat16(ids: Any, table: Any, *, scale: float | None = None) -> Any:
    kept = ids.astype(ml_dtypes.bfloat16).astype(np.int64)
    return scaled(table[np.minimum(kept, len(table) - 1)], scale)


MISTAKES = (
    Variant("embedding.scaled", "multiplies by sqrt(d), though no scale is asked for", SCALED, lambda ids, table, *, scale: table[ids] * (_root(table.shape[-1], table) if scale is None else convert(scale, table.dtype)), converter="Divide the table by sqrt(d), or ask for it with scale = sqrt(d)"),
    Mistake("embedding.scale_ignored", "does not use the scale", SCALED, _times(lambda scale, table: 0 * scale + 1)),
    Mistake("embedding.scale_squared", "multiplies by the scale twice, once here and once elsewhere", NORM, _times(lambda scale, table: scale * scale)),
    Mistake("embedding.scale_divides", "divides by the scale", NORM, _times(lambda scale, table: 1 / scale)),
    Mistake("embedding.root_of_scale", "multiplies by the root of the scale", NORM, _times(lambda scale, table: np.sqrt(scale))),
    Mistake("embedding.scale_of_rows", "multiplies by the root of the number of rows V, not by the scale", NORM, _times(lambda scale, table: _root(len(table), table))),
    Mistake("embedding.scale_added", "adds the scale instead of multiplying by it", SCALED, lambda ids, table, *, scale: table[ids] if scale is None else table[ids] + convert(scale, table.dtype)),
    Mistake("embedding.ids_from_one", "counts the rows of the table from 1", LOOKUP, _rows(lambda ids, table: table[ids - 1])),
    Mistake("embedding.next_row", "takes the row after the one asked for", LOOKUP, _rows(lambda ids, table: table[(ids + 1) % len(table)])),
    Mistake("embedding.rows_from_the_end", "counts the rows of the table from the end", LOOKUP, _rows(lambda ids, table: table[len(table) - 1 - ids])),
    Mistake("embedding.rows_by_position", "takes the row of the position, not that of the token", LOOKUP, _rows(lambda ids, table: table[np.arange(ids.shape[-1]) % len(table) + 0 * ids])),
    Mistake("embedding.first_token_everywhere", "takes the first token of each sequence at all its positions", LOOKUP, _rows(lambda ids, table: table[ids[..., :1] + 0 * ids])),
    Mistake("embedding.padding_row_is_zero", "returns zeros for token 0, as if it were padding", LOOKUP, _rows(lambda ids, table: _without_padding(ids, table[ids]))),
    Mistake("embedding.rows_normalised", "divides each row by its norm", LOOKUP, _rows(_normalised)),
    Mistake("embedding.columns_reversed", "has the columns of the table in reverse", LOOKUP, _rows(lambda ids, table: table[ids][..., ::-1])),
    Variant("embedding.padding_gets_no_gradient", "gives token 0 no gradient, as padding_idx=0 does in PyTorch", SCATTER, _gradient(lambda dy, ids, table: scattered(_without_padding(ids, dy), ids, table)), "gradients", converter="Leave out padding_idx, or never look up token 0"),
    Mistake("embedding.gradient_overwritten", "writes dy into the rows instead of adding: of a repeated token the last counts", SCATTER, _gradient(_overwritten), "gradients"),
    Mistake("embedding.gradient_of_first", "counts the first position of a repeated token only", SCATTER, _gradient(_first_kept), "gradients"),
    Mistake("embedding.gradient_averaged", "averages over the positions of a token instead of adding (scale_grad_by_freq in PyTorch)", SCATTER, _gradient(_averaged), "gradients"),
    Mistake("embedding.gradient_without_scale", "leaves out the scale, which the output has", SCALED, lambda dy, ids, table, *, scale: scattered(dy, ids, table), "gradients"),
    Mistake("embedding.gradient_scale_squared", "multiplies by the scale twice", SCALED, lambda dy, ids, table, *, scale: scaled(scaled(scattered(dy, ids, table), scale), scale), "gradients"),
    Mistake("embedding.gradient_scale_divides", "divides by the scale", SCALED, lambda dy, ids, table, *, scale: scattered(dy, ids, table) if scale is None else scattered(dy, ids, table) / convert(scale, dy.dtype), "gradients"),
    Mistake("embedding.gradient_mean", "divides by the number of positions", SCATTER, _gradient(lambda dy, ids, table: scattered(dy, ids, table) / ids.size), "gradients"),
    Mistake("embedding.gradient_of_last_sequence", "counts the last sequence of the batch only", SCATTER, _gradient(lambda dy, ids, table: scattered(dy, ids, table) if ids.ndim < 2 else scattered(dy[-1], ids[-1], table)), "gradients"),
    Mistake("embedding.gradient_of_next_row", "goes to the row after the token's", SCATTER, _gradient(lambda dy, ids, table: scattered(dy, (ids + 1) % len(table), table)), "gradients"),
    Instability("embedding.scale_in_bfloat16", "rounds the scale to bfloat16, such as sqrt(3072) = 55.426 to 55.5, which is 1.00134 times too large", SCALED, _scale_in_bfloat16),
    Instability("embedding.ids_in_bfloat16", "keeps ids in bfloat16, where 257 is 256", LOOKUP, _ids_in_bfloat16),
    Instability("embedding.gradient_accumulated_in_16_bits", "adds up the positions of a token in 16 bits, where the sum soon stops growing", SCATTER, _accumulated_in_dtype, "gradients", dtypes=("float16", "bfloat16")),
)  # fmt: skip


def _with_scale(theta: Any, ids: Any, table: Any, *, scale: float | None) -> Any:
    return table[ids] * theta


FITS = (Fit("scale", "the option's value", SCALED, _with_scale, (1e-3, 1e4)),)

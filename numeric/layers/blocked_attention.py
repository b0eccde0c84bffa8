"""Scaled dot-product attention block by block, never with all scores at once; forward and backward side by side.

    for every block of queries and keys:    for every block again:
        s = q k^T / sqrt(d_k)                   p = exp(s - m) / l
        m' = max(m, rows of s)                  dv += p^T dy
        e = exp(s - m')                         ds = p * (dy v^T - sum_c(dy * y))
        l = l * exp(m - m') + sum e             dq += ds k / sqrt(d_k)
        o = o * exp(m - m') + e v               dk += ds^T q / sqrt(d_k)
        m = m'
    y = o / l

The output, the gradients, the shapes and how they broadcast are those of attention.py; s, e, p, ds are (..., block, block).
From forward to backward go y and two numbers a row, m and l; the weights are computed once more. l and o are what they
would be had the last m been subtracted from the start, and any m would do: the running maximum keeps exp from overflowing.
m + log l is the log-sum-exp of the row, kept as two numbers, since beside a large m one number would lose log l.
A mask keep is boolean, True is a key that is kept; or a word, which needs no array of n_q n_k: "causal" is
masking.causal(n_q, n_k), query i keeps the keys j <= i (aligned upper left), and "causal_lower_right" is the same with
lower_right=True, j <= i + n_k - n_q. Blocks that keep no key are passed over. A row that keeps no key gives zeros.
Source: Dao et al. 2022, algorithms 1 and 4; the running sums are those of Milakov & Gimelshein 2018, algorithm 3.
Proved in proofs/theorems/online_softmax.py: online_softmax_equals_softmax, flash_attention_equals_attention, normaliser_is_positive.
Proved in proofs/theorems/tiled_attention.py: parts_merge, attention_in_blocks.
Proved in proofs/theorems/attention_identities.py: flash_row_term, loss_moves_by_its_gradients.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arithmetic import convert, matmul, round_to, widen, zeros
from ._arguments import cotangent_operand, require_keep, require_size
from ._attention import require_attention, root_of_width, scores_shape, summed_over_shared
from .masking import largest_kept, take_exponentials

LAYER = "blocked_attention"
Mask = np.ndarray | int | None  # boolean (..., n_q, n_k); or a number c, query i keeps the keys j <= i + c


class Cache(NamedTuple):
    q: np.ndarray  # q / sqrt(d_k), in working precision, as all that follow  (..., n_q, d_k)
    k: np.ndarray  # may share the memory of the argument                   (..., n_k, d_k)
    v: np.ndarray  # may share the memory of the argument                   (..., n_k, d_v)
    y: np.ndarray  # may share the output's memory                          (..., n_q, d_v)
    shift: np.ndarray  # m, the largest score; for balls the largest midpoint  (..., n_q, 1)
    total: np.ndarray  # l, but 1 where no key is kept                      (..., n_q, 1)
    mask: Mask  # a view of the argument
    block: int


def forward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, keep: np.ndarray | str | None = None, block: int = 512
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs. Masked keys and values must be finite all the same: a weight of 0 may multiply them.

    n_k times the largest value must not overflow, since o is divided by l last. Raises TypeError or ValueError unless
    q, k, v are real, of one dtype, of shapes that fit and at least one entry along each of their last two axes, keep is
    None, one of the two words or boolean, of a shape that fits, and block is an integer of at least 1.
    """
    require_attention(LAYER, q, k, v)
    block = require_size(LAYER, "block", block)
    shape = scores_shape(q, k)
    mask = _mask(keep, shape)
    keys, values = widen(k), widen(v)
    scaled = widen(q) / root_of_width(keys)
    rows_shape = (*shape[:-1], 1)
    shift = largest_kept(zeros(rows_shape, keys.dtype), np.zeros(rows_shape, np.bool_))  # of no key
    total = zeros(rows_shape, keys.dtype)
    batch = np.broadcast_shapes(shape[:-2], v.shape[:-2])
    y = zeros((*batch, shape[-2], v.shape[-1]), keys.dtype)
    for rows, columns, kept in _blocks(mask, shape, block):
        scores = matmul(scaled[..., rows, :], keys[..., columns, :].swapaxes(-1, -2))
        m, l, o = (each[..., rows, :] for each in (shift, total, y))
        larger = np.maximum(m, largest_kept(scores, kept))
        take_exponentials(scores, larger, kept)
        with np.errstate(over="ignore"):  # from the lowest number down to -inf: the factor 0 is right
            factor = np.exp(m - larger)
        m[...] = larger
        l *= factor
        l += scores.sum(-1, keepdims=True)
        o *= factor
        o += matmul(scores, values[..., columns, :])
    total = np.where(_keeps_some(mask, shape[-2]), total, convert(1, keys.dtype))
    y /= total
    return round_to(y, q.dtype), Cache(scaled, keys, values, y, shift, total, mask, block)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients dq, dk, dv of <dy, y>."""
    q, k, v, y, shift, total, mask, block = cache
    # p = e / l is never formed: p^T dy = e^T (dy / l), and ds is linear in dy, so that dy is divided by l once a row
    g = cotangent_operand(LAYER, "dy", dy, y) / total
    row_term = (g * y).sum(-1, keepdims=True)
    dq, dk, dv = (zeros(each.shape, each.dtype) for each in (q, k, v))
    for rows, columns, kept in _blocks(mask, scores_shape(q, k), block):
        e = matmul(q[..., rows, :], k[..., columns, :].swapaxes(-1, -2))
        take_exponentials(e, shift[..., rows, :], kept)
        # from here on as in attention.backward, the sums over queries and over keys taken block by block
        _add(dv[..., columns, :], matmul(e.swapaxes(-1, -2), g[..., rows, :]))
        ds = matmul(g[..., rows, :], v[..., columns, :].swapaxes(-1, -2))
        ds -= row_term[..., rows, :]
        ds *= e
        _add(dq[..., rows, :], matmul(ds, k[..., columns, :]))
        _add(dk[..., columns, :], matmul(ds.swapaxes(-1, -2), q[..., rows, :]))
    dq /= root_of_width(k)
    dq, dk, dv = (round_to(gradient, dy.dtype) for gradient in (dq, dk, dv))
    return dq, dk, dv


def _add(gradient: np.ndarray, part: np.ndarray) -> None:
    gradient += summed_over_shared(part, gradient.shape)


def _mask(keep: np.ndarray | str | None, shape: tuple[int, ...]) -> Mask:
    """What is asked for, checked; an array becomes a view of the shape of the scores."""
    n_q, n_k = shape[-2:]
    if keep is None:
        return None
    if isinstance(keep, str):
        shifts = {"causal": 0, "causal_lower_right": n_k - n_q}
        if keep not in shifts:
            words = " or ".join(map(repr, shifts))
            raise ValueError(f"{LAYER}: keep is {keep!r}, needed {words}, a boolean array or None")
        return shifts[keep]
    require_keep(LAYER, keep, shape)
    return np.broadcast_to(keep, shape)


def _keeps_some(mask: Mask, n_q: int) -> np.ndarray:
    """Which queries keep a key, (..., n_q, 1)."""
    if isinstance(mask, np.ndarray):
        return np.asarray(mask.any(-1, keepdims=True))
    return np.asarray(np.arange(n_q)[:, None] + (mask or 0) >= 0)


def _blocks(mask: Mask, shape: tuple[int, ...], block: int) -> Iterator[tuple[slice, slice, np.ndarray | None]]:
    """Rows, columns and mask of every block that keeps a key; no mask where it keeps all."""
    n_q, n_k = shape[-2:]
    for i in range(0, n_q, block):
        rows = slice(i, min(i + block, n_q))
        # of a causal mask the first query of a block keeps the fewest keys, the last one the most
        fewest, most = (i + mask + 1, rows.stop + mask) if isinstance(mask, int) else (n_k, n_k)
        for j in range(0, min(most, n_k), block):
            columns = slice(j, min(j + block, n_k))
            if isinstance(mask, np.ndarray):
                kept = mask[..., rows, columns]
                if kept.any():
                    yield rows, columns, None if kept.all() else kept
            elif columns.stop <= fewest:
                yield rows, columns, None
            else:
                yield rows, columns, np.tri(rows.stop - i, columns.stop - j, fewest - 1 - j, dtype=np.bool_)

"""Multi-head attention, forward and backward side by side; heads may share keys and values in groups.

    q_fw = (x w_q + b_q) of head (f, w)     k_f = (m w_k + b_k) of group f     v_f = (m w_v + b_v) of group f
    h_fw = attention(q_fw, k_f, v_f)        y = concat(h) w_o + b_o
    dh = dy w_o^T, split into heads         dw_o = concat(h)^T dy
    dx = dq w_q^T                           dw_q = x^T dq
    dm = dk w_k^T + dv w_v^T                dw_k = m^T dk                dw_v = m^T dv        (dq, dk, dv side by side again)
    db_q, db_k, db_v, db_o = sums of dq, dk, dv, dy over all tokens

Shapes: x, dx (..., n_q, d); m, dm (..., n_k, d_m), the tokens that give keys and values; w_q (d, H d_k); w_k (d_m, F d_k);
w_v (d_m, F d_v); w_o (H d_v, d_y); each bias has the columns of its matrix; y, dy (..., n_q, d_y). H heads in F groups of
R = H / F: head q = f R + w is head w of group f, and takes neighbouring columns, from q d_k on. F = H is multi-head attention
(Vaswani et al. 2017, section 3.2.2, which has no biases), F = 1 has one key and value for all (Shazeer 2019).
A mask keep broadcasts to (..., n_q, n_k), the same for every head. Self-attention is m = x, and its gradient is dx + dm.
Products are taken in working precision; y, and each gradient, is rounded once.
Proved in proofs/theorems/multi_head_gradients.py: gradient_of_output_projection, gradient_of_query_projection, gradient_of_key_projection, gradient_of_value_projection.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import matmul, round_to, widen
from . import attention
from ._arguments import (
    cotangent_operand,
    require_keep,
    require_not_empty,
    require_operand,
    require_same_dtype,
    require_size,
)
from ._parameters import rows_of, sum_of_rows

LAYER = "multi_head"


class Weights(NamedTuple):
    """The parameters, or their gradients. A bias that is None is not added, and its gradient is None."""

    w_q: np.ndarray  # (d, H d_k)
    w_k: np.ndarray  # (d_m, F d_k)
    w_v: np.ndarray  # (d_m, F d_v)
    w_o: np.ndarray  # (H d_v, d_y)
    b_q: np.ndarray | None = None  # (H d_k,)
    b_k: np.ndarray | None = None  # (F d_k,)
    b_v: np.ndarray | None = None  # (F d_v,)
    b_o: np.ndarray | None = None  # (d_y,)


class Cache(NamedTuple):
    x: np.ndarray  # in working precision, as all that follow; may share memory  (..., n_q, d)
    m: np.ndarray  # may share the memory of the argument                   (..., n_k, d_m)
    weights: Weights  # may share the memory of the arguments
    heads: np.ndarray  # concat(h)                                          (..., n_q, H d_v)
    inner: attention.Cache  # its batch axes are (..., F, R) for q, (..., F, 1) for k and v
    y: np.ndarray  # shares the output's memory                             (..., n_q, d_y)


def forward(
    x: np.ndarray,
    m: np.ndarray,
    weights: Weights,
    n_heads: int,
    n_groups: int | None = None,
    keep: np.ndarray | None = None,
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs; n_groups is n_heads unless given. A row that keeps no key gives zeros.

    Raises TypeError or ValueError unless all arrays are real, of one dtype and of shapes that fit, n_groups divides
    n_heads, and keep is None or boolean, of a shape that fits.
    """
    n_heads, n_groups = _counts(n_heads, n_groups)
    _require_shapes({"x": x, "m": m}, weights, n_heads, n_groups)
    if m.shape[:-2] != x.shape[:-2]:
        raise ValueError(f"{LAYER}: m has shape {m.shape}, needed {x.shape[:-2]} before its last two axes, as x has")
    wide_x, wide_m = widen(x), widen(m)
    weights = Weights._make(None if each is None else widen(each) for each in weights)
    k, v = _keys_and_values(wide_m, weights, n_groups)
    y, heads, inner = _attend(wide_x, k, v, weights, n_heads, keep)
    y = round_to(y, x.dtype)
    return y, Cache(wide_x, wide_m, weights, heads, inner, y)


def backward(dy: np.ndarray, cache: Cache) -> tuple[np.ndarray, np.ndarray, Weights]:
    """The gradients of <dy, y> with respect to x, m and the weights."""
    x, m, weights, heads, inner, y = cache
    g = cotangent_operand(LAYER, "dy", dy, y)
    # forward: y was concat(h) w_o; so now each head takes the cotangent through its own rows of w_o
    n_groups, group_size = inner.y.shape[-4:-2]
    dh = _split(matmul(g, weights.w_o.T), n_groups, group_size)
    # the heads of a group used the same keys and values, so attention.backward adds up what they send back
    dq, dk, dv = map(_concat, attention.backward(dh, inner))
    # forward: tokens were projected to queries, keys and values; so now the three go back through their own weights,
    # and m, which gave both keys and values, takes in two of them
    dx = matmul(dq, weights.w_q.T)
    dm = matmul(dk, weights.w_k.T)
    dm += matmul(dv, weights.w_v.T)
    dw_q, dw_k, dw_v, dw_o = map(_weight_gradient, (x, m, m, heads), (dq, dk, dv, g))
    biases = (
        None if bias is None else round_to(sum_of_rows(each), dy.dtype)
        for bias, each in zip(weights[4:], (dq, dk, dv, g), strict=True)
    )
    dx, dm, dw_q, dw_k, dw_v, dw_o = (round_to(each, dy.dtype) for each in (dx, dm, dw_q, dw_k, dw_v, dw_o))
    return dx, dm, Weights(dw_q, dw_k, dw_v, dw_o, *biases)


def keys_and_values(
    m: np.ndarray, weights: Weights, n_heads: int, n_groups: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The keys (..., F, 1, n_k, d_k) and values (..., F, 1, n_k, d_v) of the tokens m, for `attend`.

    Raises TypeError or ValueError as `forward`.
    """
    n_heads, n_groups = _counts(n_heads, n_groups)
    _require_shapes({"m": m}, weights, n_heads, n_groups)
    k, v = _keys_and_values(widen(m), weights, n_groups)
    return round_to(k, m.dtype), round_to(v, m.dtype)


def attend(
    x: np.ndarray, k: np.ndarray, v: np.ndarray, weights: Weights, n_heads: int, keep: np.ndarray | None = None
) -> np.ndarray:
    """y for keys and values that are there already, as in decoding token by token (Shazeer 2019, section 2.3).

    The keys and values of several calls of `keys_and_values` may be joined along their axis -2. Raises TypeError or ValueError
    as `forward`.
    """
    for name, array in (("k", k), ("v", v)):
        require_operand(LAYER, name, array, 4)
        require_not_empty(LAYER, name, array, 2)
    n_heads, n_groups = _counts(n_heads, k.shape[-4])
    _require_shapes({"x": x}, weights, n_heads, n_groups)
    require_same_dtype(LAYER, x=x, k=k, v=v)
    batch = (*x.shape[:-2], n_groups, 1, k.shape[-2])
    for name, array, w in (("k", k, weights.w_k), ("v", v, weights.w_v)):
        if array.shape != (*batch, w.shape[1] // n_groups):
            needed = (*batch, w.shape[1] // n_groups)
            raise ValueError(f"{LAYER}: {name} has shape {array.shape}, needed {needed}, with x {x.shape}")
    return round_to(_attend(widen(x), widen(k), widen(v), weights, n_heads, keep)[0], x.dtype)


def _keys_and_values(m: np.ndarray, weights: Weights, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    k, v = _projected(m, weights.w_k, weights.b_k), _projected(m, weights.w_v, weights.b_v)
    return _split(k, n_groups, 1), _split(v, n_groups, 1)


def _attend(
    x: np.ndarray, k: np.ndarray, v: np.ndarray, weights: Weights, n_heads: int, keep: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, attention.Cache]:
    """y before it is rounded, concat(h), and the cache of attention."""
    if keep is not None:
        shape = (*x.shape[:-1], k.shape[-2])
        require_keep(LAYER, keep, shape)
        keep = np.broadcast_to(keep, shape)[..., None, None, :, :]
    n_groups = k.shape[-4]
    q = _split(_projected(x, weights.w_q, weights.b_q), n_groups, n_heads // n_groups)
    h, inner = attention.forward(q, k, v, keep)
    heads = _concat(h)
    return _projected(heads, weights.w_o, weights.b_o), heads, inner


def _projected(tokens: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
    projected = matmul(tokens, widen(w))
    if b is not None:
        projected += b
    return projected


def _split(z: np.ndarray, n_groups: int, group_size: int) -> np.ndarray:
    """(..., n, F R width) to (..., F, R, n, width): head f R + w has the columns from (f R + w) width on."""
    width = z.shape[-1] // (n_groups * group_size)
    return np.moveaxis(z.reshape(*z.shape[:-1], n_groups, group_size, width), -4, -2)


def _concat(h: np.ndarray) -> np.ndarray:
    """The inverse of `_split`: the heads side by side."""
    h = np.moveaxis(h, -2, -4)
    return h.reshape(*h.shape[:-3], h.shape[-3] * h.shape[-2] * h.shape[-1])


def _weight_gradient(inputs: np.ndarray, cotangent: np.ndarray) -> np.ndarray:
    """The sum over tokens, and over the batch, of input times cotangent."""
    return matmul(rows_of(inputs).T, rows_of(cotangent))


def _counts(n_heads: int, n_groups: int | None) -> tuple[int, int]:
    n_heads = require_size(LAYER, "n_heads", n_heads)
    n_groups = n_heads if n_groups is None else require_size(LAYER, "n_groups", n_groups)
    if n_heads % n_groups:
        raise ValueError(f"{LAYER}: n_groups is {n_groups}, needed a divisor of n_heads, {n_heads}")
    return n_heads, n_groups


def _require_shapes(tokens: dict[str, np.ndarray], weights: Weights, n_heads: int, n_groups: int) -> None:
    if not isinstance(weights, Weights):
        raise TypeError(f"{LAYER}: weights is a {type(weights).__name__}, needed multi_head.Weights")
    matrices = dict(zip(Weights._fields[:4], weights[:4], strict=True))
    for name, array in {**tokens, **matrices}.items():
        require_operand(LAYER, name, array, 2)
        require_not_empty(LAYER, name, array, 2)
        if name in matrices and array.ndim != 2:
            raise ValueError(f"{LAYER}: {name} has shape {array.shape}, needed two axes")
    require_same_dtype(LAYER, **tokens, **matrices)
    for name, columns in (("w_q", n_heads), ("w_v", n_groups)):
        if matrices[name].shape[1] % columns:
            raise ValueError(
                f"{LAYER}: {name} has shape {matrices[name].shape}, needed a multiple of {columns} columns, as many for each"
            )
    d_k, d_v = weights.w_q.shape[1] // n_heads, weights.w_v.shape[1] // n_groups
    rows_of_x = tokens["x"].shape[-1] if "x" in tokens else len(weights.w_q)
    rows_of_m = tokens["m"].shape[-1] if "m" in tokens else len(weights.w_k)
    needed = {
        "w_q": (rows_of_x, weights.w_q.shape[1]),
        "w_k": (rows_of_m, n_groups * d_k),
        "w_v": (rows_of_m, weights.w_v.shape[1]),
        "w_o": (n_heads * d_v, weights.w_o.shape[1]),
    }
    for name, shape in needed.items():
        if matrices[name].shape != shape:
            given = ", ".join(f"{each} {array.shape}" for each, array in tokens.items())
            raise ValueError(
                f"{LAYER}: {name} has shape {matrices[name].shape}, needed {shape}, with {given}, "
                f"{n_heads} heads in {n_groups} groups, d_k = {d_k} and d_v = {d_v}"
            )
    _require_biases(weights)


def _require_biases(weights: Weights) -> None:
    for name, bias, matrix in zip(Weights._fields[4:], weights[4:], weights[:4], strict=True):
        if bias is not None:
            require_operand(LAYER, name, bias)
            require_same_dtype(LAYER, w_q=weights.w_q, **{name: bias})
            if bias.shape != matrix.shape[1:]:
                raise ValueError(f"{LAYER}: {name} has shape {bias.shape}, needed {matrix.shape[1:]}, one a column")

"""Multi-head attention, forward and backward side by side; heads may share keys and values in groups.

    q_fw = (x w_q) of head (f, w)     k_f = (m w_k) of group f     v_f = (m w_v) of group f
    h_fw = attention(q_fw, k_f, v_f)  y = concat(h) w_o
    dh = dy w_o^T, split into heads   dw_o = concat(h)^T dy
    dx = dq w_q^T                     dw_q = x^T dq
    dm = dk w_k^T + dv w_v^T          dw_k = m^T dk                dw_v = m^T dv        (dq, dk, dv side by side again)

Shapes: x, dx (..., n_q, d); m, dm (..., n_k, d_m), the tokens that give keys and values; w_q (d, H d_k); w_k (d_m, F d_k);
w_v (d_m, F d_v); w_o (H d_v, d_y); y, dy (..., n_q, d_y). H heads in F groups of R = H / F: head q = f R + w is head w of
group f, and takes neighbouring columns, from q d_k on. F = H is multi-head attention, F = 1 has one key and value for all.
A mask keep broadcasts to (..., n_q, n_k), the same for every head. Self-attention is m = x, and its gradient is dx + dm.
No biases. Products are taken in working precision; y, and each gradient, is rounded once.
Proved in proofs/theorems/multi_head_gradients.py: gradient_of_output_projection, gradient_of_query_projection, gradient_of_key_projection, gradient_of_value_projection.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic import round_to, widen, zeros
from . import attention
from ._arguments import (
    cotangent_operand,
    require_keep,
    require_not_empty,
    require_operand,
    require_same_dtype,
    require_size,
)

LAYER = "multi_head"


class Cache(NamedTuple):
    x: np.ndarray  # in working precision, as all that follow; may share memory  (..., n_q, d)
    m: np.ndarray  # may share the memory of the argument                   (..., n_k, d_m)
    w_q: np.ndarray  # the same of these four                               (d, H d_k)
    w_k: np.ndarray  # (d_m, F d_k)
    w_v: np.ndarray  # (d_m, F d_v)
    w_o: np.ndarray  # (H d_v, d_y)
    heads: np.ndarray  # concat(h)                                          (..., n_q, H d_v)
    inner: attention.Cache  # its batch axes are (..., F, R) for q, (..., F, 1) for k and v
    y: np.ndarray  # shares the output's memory                             (..., n_q, d_y)


Gradients = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def forward(
    x: np.ndarray,
    m: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    n_heads: int,
    n_groups: int | None = None,
    keep: np.ndarray | None = None,
) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs; n_groups is n_heads unless given. A row that keeps no key gives zeros.

    Raises TypeError or ValueError unless all arrays are real, of one dtype and of shapes that fit, n_groups divides
    n_heads, and keep is None or boolean, of a shape that fits.
    """
    n_heads = require_size(LAYER, "n_heads", n_heads)
    n_groups = n_heads if n_groups is None else require_size(LAYER, "n_groups", n_groups)
    if n_heads % n_groups:
        raise ValueError(f"{LAYER}: n_groups is {n_groups}, needed a divisor of n_heads, {n_heads}")
    _require_shapes(x, m, w_q, w_k, w_v, w_o, n_heads, n_groups)
    if keep is not None:
        require_keep(LAYER, keep, (*x.shape[:-1], m.shape[-2]))
        keep = np.broadcast_to(keep, (*x.shape[:-1], m.shape[-2]))[..., None, None, :, :]
    dtype = x.dtype
    x, m, w_q, w_k, w_v, w_o = map(widen, (x, m, w_q, w_k, w_v, w_o))
    q, k, v = (_split(z, n_groups, size) for z, size in ((x @ w_q, n_heads // n_groups), (m @ w_k, 1), (m @ w_v, 1)))
    h, inner = attention.forward(q, k, v, keep)
    heads = _concat(h)
    y = round_to(heads @ w_o, dtype)
    return y, Cache(x, m, w_q, w_k, w_v, w_o, heads, inner, y)


def backward(dy: np.ndarray, cache: Cache) -> Gradients:
    """The gradients dx, dm, dw_q, dw_k, dw_v, dw_o of <dy, y>."""
    x, m, w_q, w_k, w_v, w_o, heads, inner, y = cache
    g = cotangent_operand(LAYER, "dy", dy, y)
    # forward: y was concat(h) w_o; so now each head takes the cotangent through its own rows of w_o
    dw_o = _weight_gradient(heads, g)
    n_groups, group_size = inner.y.shape[-4:-2]
    dh = _split(g @ w_o.T, n_groups, group_size)
    # the heads of a group used the same keys and values, so attention.backward adds up what they send back
    dq, dk, dv = map(_concat, attention.backward(dh, inner))
    # forward: tokens were projected to queries, keys and values; so now the three go back through their own weights,
    # and m, which gave both keys and values, takes in two of them
    gradients = (
        dq @ w_q.T,
        dk @ w_k.T + dv @ w_v.T,
        _weight_gradient(x, dq),
        _weight_gradient(m, dk),
        _weight_gradient(m, dv),
        dw_o,
    )
    dx, dm, dw_q, dw_k, dw_v, dw_o = (round_to(gradient, dy.dtype) for gradient in gradients)
    return dx, dm, dw_q, dw_k, dw_v, dw_o


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
    left, right = (a.reshape(-1, a.shape[-1]) for a in (inputs, cotangent))
    # NumPy's empty product would hold no balls
    return left.T @ right if len(left) else zeros((left.shape[1], right.shape[1]), left.dtype)


def _require_shapes(
    x: np.ndarray,
    m: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    n_heads: int,
    n_groups: int,
) -> None:
    weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    for name, array in {"x": x, "m": m, **weights}.items():
        require_operand(LAYER, name, array, 2)
        require_not_empty(LAYER, name, array, 2)
        if name in weights and array.ndim != 2:
            raise ValueError(f"{LAYER}: {name} has shape {array.shape}, needed two axes")
    require_same_dtype(LAYER, x=x, m=m, **weights)
    if m.shape[:-2] != x.shape[:-2]:
        raise ValueError(f"{LAYER}: m has shape {m.shape}, needed {x.shape[:-2]} before its last two axes, as x has")
    for name, columns in (("w_q", n_heads), ("w_v", n_groups)):
        if weights[name].shape[1] % columns:
            raise ValueError(
                f"{LAYER}: {name} has shape {weights[name].shape}, needed a multiple of {columns} columns, as many for each"
            )
    d_k, d_v = w_q.shape[1] // n_heads, w_v.shape[1] // n_groups
    needed = {
        "w_q": (x.shape[-1], w_q.shape[1]),
        "w_k": (m.shape[-1], n_groups * d_k),
        "w_v": (m.shape[-1], w_v.shape[1]),
        "w_o": (n_heads * d_v, w_o.shape[1]),
    }
    for name, shape in needed.items():
        if weights[name].shape != shape:
            raise ValueError(
                f"{LAYER}: {name} has shape {weights[name].shape}, needed {shape}, with x {x.shape}, m {m.shape}, "
                f"{n_heads} heads in {n_groups} groups, d_k = {d_k} and d_v = {d_v}"
            )

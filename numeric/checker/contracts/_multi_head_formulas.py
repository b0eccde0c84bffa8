"""Multi-head attention written out, with the places at which it goes wrong as arguments; on floats and on balls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arithmetic import matmul
from ._attention_formulas import right_scale, softmax, transposed, wide
from ._masks import kept

Move = Callable[..., Any]


def split(z: Any, count: int) -> Any:
    """(B, n, d) to (B, count, n, d / count), neighbouring columns to one head."""
    return z.reshape(*z.shape[:-1], count, -1).swapaxes(1, 2)


def merge(h: Any) -> Any:
    return h.swapaxes(1, 2).reshape(h.shape[0], h.shape[2], -1)


def heads_as_rows(h: Any) -> Any:
    """As `merge` without its transpose: a mistake, in the output and in its gradient."""
    return h.reshape(h.shape[0], h.shape[2], -1)


def share(k: Any, heads: int) -> Any:
    """Each of the groups for heads / groups neighbouring heads."""
    return np.repeat(k, heads // k.shape[1], 1)


def summed_over_groups(dk: Any, groups: int) -> Any:
    return dk.reshape(dk.shape[0], groups, -1, *dk.shape[2:]).sum(2)


def keep_of(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    """For heads (B, H, n, w)."""
    return kept(mask, causal, (*q.shape[:-1], k.shape[-2]))


def tokens(z: Any) -> Any:
    return z.reshape(-1, z.shape[-1])


@dataclass(frozen=True)
class Wiring:
    """How the parts are put together; the defaults are right."""

    split: Move = split
    split_keys: Move | None = None  # `split` unless given
    merge: Move = merge
    share: Move = share
    scale: Move = right_scale
    keep: Move = keep_of
    weigh: Move = softmax
    project: Callable[[Any, Any, Any, Any, Any], tuple[Any, Any, Any]] = lambda x, m, w_q, w_k, w_v: (
        matmul(x, w_q),
        matmul(m, w_k),
        matmul(m, w_v),
    )
    finish: Move = lambda h, w_o, merge: matmul(merge(h), w_o)


def attention_of(wiring: Wiring, arrays: tuple[Any, ...], heads: int, groups: int, mask: Any, causal: bool) -> Any:
    """The heads (B, H, n_q, w)."""
    q, k, v = wiring.project(*arrays[:5])
    q = wiring.split(q, heads)
    k, v = (wiring.share((wiring.split_keys or wiring.split)(each, groups), heads) for each in (k, v))
    z = matmul(q, transposed(k)) * wiring.scale(q, k, v)
    return matmul(wiring.weigh(z, wiring.keep(q, k, mask, causal)), v)


def wired(**changes: Any) -> Any:
    """Multi-head attention with other parts."""
    wiring = replace(Wiring(), **changes)

    def formula(*arrays: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> Any:
        arrays = wide(*arrays)
        h = attention_of(wiring, arrays, heads, kv_heads or heads, mask, causal)
        return wiring.finish(h, arrays[5], wiring.merge)

    return formula


class Pass:
    """A forward pass, and the pieces of a backward one."""

    def __init__(self, dy: Any, arrays: tuple[Any, ...], heads: int, groups: int, mask: Any, causal: bool) -> None:
        self.dy, self.x, self.m, self.w_q, self.w_k, self.w_v, self.w_o = wide(dy, *arrays)
        self.heads, self.groups = heads, groups
        self.q = split(matmul(self.x, self.w_q), heads)
        self.k, self.v = (share(split(matmul(self.m, w), groups), heads) for w in (self.w_k, self.w_v))
        self.keep = keep_of(self.q, self.k, mask, causal)
        self.scale = right_scale(self.q, self.k, self.v)
        self.p = softmax(matmul(self.q, transposed(self.k)) * self.scale, self.keep)
        self.h = matmul(self.p, self.v)
        self.dh = split(matmul(self.dy, self.w_o.T), heads)
        self.dp = matmul(self.dh, transposed(self.v))
        self.ds = self.p * (self.dp - (self.p * self.dp).sum(-1, keepdims=True))

    def inner(self, ds: Any = None, dh: Any = None) -> tuple[Any, Any, Any]:
        """dq, dk, dv, (B, H, n, w)."""
        ds = self.ds if ds is None else ds
        dq, dk = matmul(ds, self.k) * self.scale, matmul(transposed(ds), self.q) * self.scale
        return dq, dk, matmul(transposed(self.p), self.dh if dh is None else dh)

    def outer(self, dq: Any, dk: Any, dv: Any, collect: Move = summed_over_groups) -> dict[str, Any]:
        """All gradients by name."""
        dq, dk, dv = merge(dq), merge(collect(dk, self.groups)), merge(collect(dv, self.groups))
        pairs = {"w_q": (self.x, dq), "w_k": (self.m, dk), "w_v": (self.m, dv), "w_o": (merge(self.h), self.dy)}
        return {
            "x": matmul(dq, self.w_q.T),
            "m": matmul(dk, self.w_k.T) + matmul(dv, self.w_v.T),
            **{name: matmul(tokens(left).T, tokens(right)) for name, (left, right) in pairs.items()},
        }


def backward(change: Callable[[Pass], dict[str, Any]]) -> Any:
    """Gradients that are right but for those that `change` returns."""

    def formula(dy: Any, *arrays: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> Any:
        a = Pass(dy, arrays, heads, kv_heads or heads, mask, causal)
        return tuple({**a.outer(*a.inner()), **change(a)}.values())

    return formula

"""The orders in which a correct implementation may evaluate a layer of a Transformer, as bounds, sublayer by sublayer.

    sublayers   attention as in `_multi_head_orders`, feed-forward as in `_feed_forward_orders`, norms as in `_norm_orders`
    residual    x added to what the sublayer gives, or among the products of its last matrix
    dx          the skip path, and what comes through queries, keys and values, added up in any order; the three one by
                one, or as one product with w_q, w_k, w_v side by side

Each function returns its output and a pull, which takes the cotangent of the output to gradients. A pull carries the
errors of the cotangent by `through`, the way along the skip path included.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..rounding import Rounded, any_of
from ._activation_bounds import gradient_bound_of
from ._attention_bounds import Attended, gradient_bounds
from ._attention_orders import gradients_from_scores, score_gradients, transposed
from ._feed_forward_orders import bias_gradient, hidden_units, linear, weights_gradient
from ._multi_head_orders import Bounds, concat, forward_bounds, split, weight_gradient
from ._norm_orders import centred_rows, inputs_gradient, output_bound, over_rows
from ._through import through

Arrays = tuple[Rounded, ...]


# pull(dy, skip): first the gradient of the input, with dy added to it if `skip`; then the others
Pull = Callable[[Rounded, bool], tuple[Rounded, ...]]
Sublayer = Callable[[Rounded, Rounded], tuple[Rounded, Pull]]  # of u and x: x + f(u)


def added(*terms: Rounded) -> Rounded:
    """The sum in any order, each partial sum stored."""
    size = sum(np.abs(each.value) + 2 * each.worst for each in terms)
    return reduce(add, terms).loosened(len(terms) * terms[0].precision.stored.unit * size)


def self_attention(weights: Arrays, heads: int, keep: Any) -> Sublayer:
    """Others: the gradients of the four matrices."""

    def sublayer(u: Rounded, x: Rounded) -> tuple[Rounded, Pull]:
        at = forward_bounds(u, u, weights, heads, heads, keep)

        def pull(dy: Rounded, skip: bool) -> tuple[Rounded, ...]:
            def formula(g: Rounded) -> list[Rounded]:
                back = _to_projections(g, at, weights[3])
                return [*back, _projected_back(back, weights[:3], [g] if skip else [])]

            *back, dx = through(formula, dy, 2)
            return dx, *_of_matrices(u, u, at, back, dy)

        return _beside_products(x, at.y, len(weights[3].value)), pull

    return sublayer


def cross_attention(memory: Rounded, weights: Arrays, heads: int, keep: Any) -> Sublayer:
    """Others: the gradient of the memory, and those of the four matrices."""

    def sublayer(u: Rounded, x: Rounded) -> tuple[Rounded, Pull]:
        at = forward_bounds(u, memory, weights, heads, heads, keep)

        def pull(dy: Rounded, skip: bool) -> tuple[Rounded, ...]:
            def formula(g: Rounded) -> list[Rounded]:
                dq, dk, dv = _to_projections(g, at, weights[3])
                dx = _projected_back([dq], weights[:1], [g] if skip else [])
                return [dq, dk, dv, dx, _projected_back([dk, dv], weights[1:3], [])]

            *back, dx, dm = through(formula, dy, 2)
            return dx, dm, *_of_matrices(u, memory, at, back, dy)

        return _beside_products(x, at.y, len(weights[3].value)), pull

    return sublayer


def _to_projections(g: Rounded, at: Bounds, w_o: Rounded) -> list[Rounded]:
    """dq, dk and dv, side by side again; for attention whose heads have keys and values of their own."""
    dh = split(g @ transposed(w_o), *at.q.value.shape[-4:-2])
    inner = at.at
    if not isinstance(inner, Attended):
        return [concat(each) for each in gradient_bounds(dh, at.q, at.k, at.v, inner)]
    # of the bounds that `gradient_bounds` takes the smaller one of, the plain one, since a minimum is not subadditive
    ds = score_gradients(dh, dh @ transposed(at.v), inner.scores, inner.plain, inner.keep)
    return [concat(each) for each in gradients_from_scores(dh, at.q, at.k, inner.plain.p, ds)]


def _projected_back(cotangents: list[Rounded], weights: Arrays, others: list[Rounded]) -> Rounded:
    one_by_one = added(*others, *(g @ transposed(w) for g, w in zip(cotangents, weights, strict=True)))
    if len(cotangents) == 1:
        return one_by_one
    side_by_side = [_joined(list(each)) for each in (cotangents, weights)]
    return any_of([one_by_one, added(*others, side_by_side[0] @ transposed(side_by_side[1]))])


def _joined(arrays: list[Rounded]) -> Rounded:
    value, worst, square = (
        np.concatenate([getattr(each, part) for each in arrays], -1) for part in ("value", "worst", "square")
    )
    return Rounded(value, worst, square, arrays[0].precision)


def _of_matrices(x: Rounded, m: Rounded, at: Bounds, back: list[Rounded], dy: Rounded) -> tuple[Rounded, ...]:
    pairs = zip((x, m, m, at.concat), (*back, dy), strict=True)
    return tuple(weight_gradient(*pair) for pair in pairs)


def feed_forward(parameters: Sequence[Rounded], activation: str) -> Sublayer:
    """Of w1, b1, w2 and b2. Others: their gradients."""
    w1, b1, w2, b2 = parameters

    def sublayer(u: Rounded, x: Rounded) -> tuple[Rounded, Pull]:
        inner = hidden_units(_rows(u), w1, b1, activation)
        f = linear(inner.h, w2, b2).rearranged(lambda part: part.reshape(x.value.shape))

        def pull(dy: Rounded, skip: bool) -> tuple[Rounded, ...]:
            def formula(g: Rounded) -> list[Rounded]:
                da = gradient_bound_of(activation, g @ transposed(w2), inner.a)
                return [da, _projected_back([da], (w1,), [g] if skip else [])]

            g = _rows(dy)
            da, dx = through(formula, g)
            dx = dx.rearranged(lambda part: part.reshape(x.value.shape))
            return dx, weights_gradient(inner.x, da), bias_gradient(da), weights_gradient(inner.h, g), bias_gradient(g)

        return _beside_products(x, f, len(b1.value) + 1), pull

    return sublayer


def _rows(x: Rounded) -> Rounded:
    return x.rearranged(lambda part: part.reshape(-1, part.shape[-1]))


def normalised(
    x: Rounded, parameters: Sequence[Rounded], eps: float
) -> tuple[Rounded, Callable[[Rounded], tuple[Rounded, ...]]]:
    """With a gain and a bias. The pull gives the gradients of x, gain and bias."""
    gain, bias = parameters
    rows = centred_rows(x, eps)

    def pull(dy: Rounded) -> tuple[Rounded, ...]:
        (dx,) = through(lambda g: [inputs_gradient(rows, g * gain)], dy)
        return dx, over_rows(dy * rows.x_hat), over_rows(dy)

    return output_bound(rows, gain, bias), pull


def connected(
    x: Rounded, sublayer: Sublayer, norm: Sequence[Rounded], order: str, eps: float
) -> tuple[Rounded, Callable[[Rounded], tuple[Rounded, ...]]]:
    """LN(x + f(x)), or x + f(LN(x)). The pull gives the gradients of x, gain and bias, and then what else that of f gives."""
    if order == "post":
        total, pull_f = sublayer(x, x)
        y, pull_norm = normalised(total, norm, eps)

        def pull(dy: Rounded) -> tuple[Rounded, ...]:
            ds, *dnorm = pull_norm(dy)
            dx, *others = pull_f(ds, True)
            return dx, *dnorm, *others

        return y, pull
    u, pull_norm = normalised(x, norm, eps)
    y, pull_f = sublayer(u, x)

    def pull_pre(dy: Rounded) -> tuple[Rounded, ...]:
        du, *others = pull_f(dy, False)
        dx, *dnorm = pull_norm(du)
        return added(dy, dx), *dnorm, *others

    return y, pull_pre


def _beside_products(x: Rounded, f: Rounded, terms: int) -> Rounded:
    """x + f, with x perhaps among the terms of which f is the sum."""
    extra = (terms + 1) * x.precision.wide.unit * (np.abs(x.value) + 2 * x.worst)
    return (x + f).loosened(extra)

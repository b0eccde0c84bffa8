"""add_and_norm: x (..., d), a sublayer f, gain (d,), bias (d,) -> LN(x + f(x)) (order "post") or x + f(LN(x)) ("pre").

The implementation gets f as a callable on its own arrays: `sublayer(u)` is f(u), and `sublayer.vjp(u, df)` the gradient of
<df, f(u)> with respect to u, for a backward pass written by hand. A probe gives f as an array (2, d) of numbers that the dtype
holds, a and b of f(u) = (a + b u) u; see `_sublayer`. Gradients are those for x, gain and bias.

The bound admits the orders of `_norm_orders` for LN, and those of a sum of three cotangents.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...layers import residual
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from . import _rows, _sublayer
from ._add_and_norm_mistakes import FITS, MISTAKES
from ._norm_orders import centred_rows, gradient_bounds, output_bound
from ._rows import OWN_UNIT, moments, own_error, rounded_gain, rounded_rows
from ._sublayer import Sublayer, random_weights, weights_of
from .layer_norm import EPS

ORDER = Option("order", "post", residual.PLACEMENTS, "where the norm stands: LN(x + f(x)), or x + f(LN(x))")


def zero_sublayer(bench: Bench, rng: np.random.Generator) -> Residual:
    """With f = 0, gain 1 and bias 0, post-norm is x^ and pre-norm x."""
    x = rounded_rows(bench, rng)
    y, allowed = bench.output(x, weights_of(0, 7), np.ones(7), np.zeros(7))
    if bench.options["order"] == "pre":
        return y - x, allowed
    mean, v = moments(x)
    x_hat = (x - mean) / np.sqrt(v + bench.options["eps"])
    return y - x_hat, allowed + 16 * x.shape[-1] * OWN_UNIT * (np.abs(x_hat) + 1)


def rows_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    rest = (random_weights(rng, 7), gain, bench.rounded(rng.standard_normal(7)))
    alone, allowed_alone = bench.output(x[1:2, 2:], *rest)
    among, allowed = (part[1:2, 2:] for part in bench.output(x, *rest))
    return alone - among, allowed + allowed_alone


def mean_direction(bench: Bench, rng: np.random.Generator) -> Residual:
    """With f = 0, sum dx = 0 for post-norm, and sum dx = sum dy for pre-norm."""
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    dy = bench.rounded(rng.standard_normal(x.shape))
    (dx, allowed), _, _ = bench.gradients(dy, x, weights_of(0, 7), gain, bench.rounded(rng.standard_normal(7)))
    passed_on = dy if bench.options["order"] == "pre" else 0 * dy
    return (dx - passed_on).sum(-1), allowed.sum(-1) + own_error(dx) + own_error(passed_on)


class AddAndNorm(Contract):
    name = "add_and_norm"
    summary = 'a residual connection around a sublayer f, and layer normalisation: LN(x + f(x)), or x + f(LN(x)) for order "pre"'
    inputs = (
        Input("x", "(..., d)"),
        Input("sublayer", "f, a callable (..., d) -> same; sublayer.vjp(u, df)", floating=False),
        Input("gain", "(d,)"),
        Input("bias", "(d,)"),
    )
    output = "(..., d), like x"
    options = (ORDER, EPS)
    gradient_theorem = "residual_norm.post_norm_along_a_curve"
    mistakes = MISTAKES
    fits = FITS

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        x, weights, gain, bias = arrays
        return x, Sublayer(weights), gain, bias

    def arrays(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        x, sublayer, gain, bias = arguments
        return x, sublayer.weights, gain, bias

    def layer(
        self, x: np.ndarray, weights: np.ndarray, gain: np.ndarray, bias: np.ndarray, *, order: str, eps: float
    ) -> tuple[np.ndarray, Pullback]:
        f = Sublayer(weights)
        y, cache = residual.forward(x, lambda u: (f(u), u), gain, bias, order, eps)
        return y, lambda dy: residual.backward(dy, cache, lambda df, u: (f.vjp(u, df),))[:3]

    def bound(
        self,
        precision: Precision,
        x: np.ndarray,
        weights: np.ndarray,
        gain: np.ndarray,
        bias: np.ndarray,
        *,
        order: str,
        eps: float,
    ) -> Rounded:
        given, scale, shift = (Rounded.exact(each, precision) for each in (x, gain, bias))
        if order == "post":
            total = given + _sublayer.output_bound(given, weights)
            return output_bound(centred_rows(total, eps), scale, shift).returned()
        u = output_bound(centred_rows(given, eps), scale, shift)
        return (given + _sublayer.output_bound(u, weights)).returned()

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        x: np.ndarray,
        weights: np.ndarray,
        gain: np.ndarray,
        bias: np.ndarray,
        *,
        order: str,
        eps: float,
    ) -> tuple[Rounded, ...]:
        g, given, scale, shift = (Rounded.exact(each, precision) for each in (dy, x, gain, bias))
        if order == "post":
            rows = centred_rows(given + _sublayer.output_bound(given, weights), eps)
            ds, dgain, dbias = gradient_bounds(rows, g, scale)
            dx = _sublayer.vjp_bound(given, ds, weights, skip=ds)
        else:
            rows = centred_rows(given, eps)
            du = _sublayer.vjp_bound(output_bound(rows, scale, shift), g, weights)
            dx, dgain, dbias = gradient_bounds(rows, du, scale)
            dx = g + dx
        return tuple(each.returned() for each in (dx, dgain, dbias))

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [_probe(rng, name, x) for name, x in _rows.generic_rows(rng, options["eps"])]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        quarters = rng.integers(-12, 13, (3, 9)) / 4
        linear = [
            ("zero sublayer", np.array([[1.0, 2.0, 3.0, 6.0]]), 0.0),
            ("sublayer x / 2", _rows.rows(rng, (3, 6)), 0.5),
            ("sublayer -x", _rows.rows(rng, (3, 7)), -1.0),
            ("large offset", quarters + 2.0 ** (form.bits // 2), 0.0),
        ]
        plain = [
            ("constant rows", np.array([[3.0] * 5, [0.0] * 5, [-0.1] * 5])),
            ("single feature", rng.standard_normal((5, 1))),
            ("single row", rng.standard_normal((1, 6))),
            ("one axis (11,)", rng.standard_normal(11)),
            ("3 x 512", rng.standard_normal((3, 512))),
        ]
        probes = [_probe(rng, name, x) for name, x in plain]
        for order in residual.PLACEMENTS:
            probes += [_probe(rng, f"{name}, {order}", x, a=a, options={"order": order}) for name, x, a in linear]
        return probes + [_probe(rng, name, _rows.rows(rng, (2, 5, 7)), name) for name in ("strided", "read-only")]

    properties = (
        Property(
            "zero sublayer",
            "residual_norm.post_norm_without_branch",
            "with f = 0, post-norm is not LN(x), or pre-norm not x",
            zero_sublayer,
        ),
        Property(
            "rows are independent",
            "layer_norm.acts_per_token",
            "a row changes when other rows are taken away",
            rows_are_independent,
        ),
        Property(
            "mean direction",
            "residual_norm.post_norm_loses_the_mean_direction",
            "with f = 0, the rows of dx do not sum to 0 (post-norm), or not to those of dy (pre-norm)",
            mean_direction,
            of_gradient=True,
        ),
    )


def _probe(
    rng: np.random.Generator,
    name: str,
    x: np.ndarray,
    layout: str = "contiguous",
    a: float | None = None,
    options: Options | None = None,
) -> Probe:
    """With f(u) = a u where a is given."""
    d = x.shape[-1]
    weights = random_weights(rng, d) if a is None else weights_of(a, d)
    return Probe(name, (x, weights, _rows.gain_of(rng, d), rng.standard_normal(d)), options or {}, layout)


CONTRACT = AddAndNorm()

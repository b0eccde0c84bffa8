"""layer_norm: x (..., d), gain (d,), bias (d,) -> gain (x - mean x) / sqrt(v + eps) + bias, v the biased variance of a row.

The bound admits the orders of `_norm_orders`: two passes, one pass where it keeps its digits, Welford's; x^ gain + bias and
fused scales; gradients in closed form, by autograd through each step, by coefficients of a row, or by the Jacobian.
"""

import numpy as np

from ...layers import layer_norm
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from . import _rows
from ._layer_norm_mistakes import FITS, MISTAKES
from ._norm_orders import centred_rows, gradient_bounds, output_bound
from ._rows import OWN_UNIT, moments, own_error, rounded_gain, rounded_rows

EPS = Option("eps", 1e-5, (1e-5, 1e-3), "added to the variance, under the root")


def _plain(bench: Bench, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x^, as the output for gain 1 and bias 0."""
    return bench.output(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def _with_parameters(bench: Bench, rng: np.random.Generator, x: np.ndarray) -> tuple[np.ndarray, ...]:
    d = x.shape[-1]
    return x, rounded_gain(bench, rng, d), bench.rounded(rng.standard_normal((d,)))


def mean_is_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    y, allowed = _plain(bench, rounded_rows(bench, rng))
    return y.sum(-1), allowed.sum(-1) + own_error(y)


def variance_is_one(bench: Bench, rng: np.random.Generator) -> Residual:
    """sum y^2 = d v / (v + eps)."""
    x = rounded_rows(bench, rng)
    y, allowed = _plain(bench, x)
    _, v = moments(x)
    length = x.shape[-1] * (v / (v + bench.options["eps"]))[..., 0]
    own = 8 * x.shape[-1] * OWN_UNIT * length + own_error(y * y)
    return (y * y).sum(-1) - length, (2 * np.abs(y) * allowed + allowed**2).sum(-1) + own


def shift_invariance(bench: Bench, rng: np.random.Generator) -> Residual:
    grid = rng.integers(-12, 13, (4, 9)) / 4
    shift = 2.0 ** (bench.format.bits // 2)
    _, gain, bias = _with_parameters(bench, rng, grid)
    first, allowed = bench.output(grid, gain, bias)
    second, allowed_shifted = bench.output(grid + shift, gain, bias)
    return second - first, allowed + allowed_shifted


def scale_law(bench: Bench, rng: np.random.Generator) -> Residual:
    """x^(a x, eps) = x^(x, eps / a^2), so their ratio is sqrt((v + eps) / (v + eps / a^2))."""
    x, a, eps = bench.rounded(_rows.rows(rng, (4, 9), 1e-2, 1.0)), 16.0, bench.options["eps"]
    first, allowed = _plain(bench, x)
    second, allowed_scaled = _plain(bench, a * x)
    _, v = moments(x)
    ratio = np.sqrt((v + eps) / (v + eps / a**2))
    own = 8 * x.shape[-1] * OWN_UNIT * np.abs(second)
    return second - ratio * first, allowed_scaled + ratio * allowed + own


def rows_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    x, gain, bias = _with_parameters(bench, rng, rounded_rows(bench, rng))
    alone, allowed_alone = bench.output(x[1:2, 2:], gain, bias)
    among, allowed = (part[1:2, 2:] for part in bench.output(x, gain, bias))
    return alone - among, allowed + allowed_alone


def gradient_sums_to_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    x, gain, bias = _with_parameters(bench, rng, rounded_rows(bench, rng))
    (dx, allowed), _, _ = bench.gradients(bench.rounded(rng.standard_normal(x.shape)), x, gain, bias)
    return dx.sum(-1), allowed.sum(-1) + own_error(dx)


def euler_identity(bench: Bench, rng: np.random.Generator) -> Residual:
    """sum x dx = eps / (v + eps) sum g x^."""
    x, gain, bias = _with_parameters(bench, rng, rounded_rows(bench, rng))
    dy = bench.rounded(rng.standard_normal(x.shape))
    (dx, allowed), _, _ = bench.gradients(dy, x, gain, bias)
    mean, v = moments(x)
    radicand = v + bench.options["eps"]
    terms = bench.options["eps"] / radicand * gain * dy * (x - mean) / np.sqrt(radicand)
    own = own_error(x * dx) + 16 * x.shape[-1] * OWN_UNIT * np.abs(terms).sum(-1)
    return (x * dx).sum(-1) - terms.sum(-1), (np.abs(x) * allowed).sum(-1) + own


def parameters_enter_linearly(bench: Bench, rng: np.random.Generator) -> Residual:
    """<gain, dgain> + <bias, dbias> = <dy, y>."""
    x, gain, bias = _with_parameters(bench, rng, rounded_rows(bench, rng))
    dy = bench.rounded(rng.standard_normal(x.shape))
    y, allowed = bench.output(x, gain, bias)
    _, (dgain, allowed_gain), (dbias, allowed_bias) = bench.gradients(dy, x, gain, bias)
    left, right = np.concatenate([gain * dgain, bias * dbias]), (dy * y).ravel()
    reach = (np.abs(gain) * allowed_gain + np.abs(bias) * allowed_bias).sum() + (np.abs(dy) * allowed).sum()
    return np.asarray(left.sum() - right.sum()), np.asarray(reach + own_error(left) + own_error(right))


class LayerNorm(Contract):
    name = "layer_norm"
    summary = "each row less its mean, over the root of its biased variance plus eps, times gain plus bias"
    inputs = (Input("x", "(..., d)"), Input("gain", "(d,)"), Input("bias", "(d,)"))
    output = "(..., d), like x"
    options = (EPS,)
    gradient_theorem = "layer_norm_gradients.vjp"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, x: np.ndarray, gain: np.ndarray, bias: np.ndarray, *, eps: float) -> tuple[np.ndarray, Pullback]:
        y, cache = layer_norm.forward(x, gain, bias, eps)
        return y, lambda dy: layer_norm.backward(dy, cache)

    def bound(self, precision: Precision, x: np.ndarray, gain: np.ndarray, bias: np.ndarray, *, eps: float) -> Rounded:
        given, scale, shift = (Rounded.exact(each, precision) for each in (x, gain, bias))
        return output_bound(centred_rows(given, eps), scale, shift).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, x: np.ndarray, gain: np.ndarray, bias: np.ndarray, *, eps: float
    ) -> tuple[Rounded, ...]:
        g, given, scale = (Rounded.exact(each, precision) for each in (dy, x, gain))
        return tuple(each.returned() for each in gradient_bounds(centred_rows(given, eps), g, scale))

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [_probe(rng, name, x) for name, x in _rows.generic_rows(rng, options["eps"])]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        probes = [_probe(rng, name, x) for name, x in _rows.structured_rows(rng, form, options["eps"])]
        plain = _rows.rows(rng, (3, 5))
        probes.append(Probe("gain 1 and bias 0", (plain, np.ones(5), np.zeros(5))))
        probes.append(Probe("gain 0", (plain, np.zeros(5), rng.standard_normal(5))))
        layouts = ("strided", "read-only")
        return probes + [_probe(rng, layout, _rows.rows(rng, (2, 5, 7)), layout) for layout in layouts]

    properties = (
        Property("mean is 0", "layer_norm.mean_is_zero", "with gain 1 and bias 0 rows do not sum to 0", mean_is_zero),
        Property(
            "variance", "layer_norm.variance", "with gain 1 and bias 0 mean y^2 = v / (v + eps) fails", variance_is_one
        ),
        Property("shift invariance", "layer_norm.shift_invariance", "LN(x + c) = LN(x) fails", shift_invariance),
        Property(
            "scale law",
            "layer_norm_scale.scale_law",
            "x^(a x) at eps = x^(x) at eps / a^2 fails: eps, or what x is divided by, does not enter as it should",
            scale_law,
        ),
        Property(
            "rows are independent",
            "layer_norm.acts_per_token",
            "a row changes when other rows are taken away",
            rows_are_independent,
        ),
        Property(
            "gradient sums to 0",
            "layer_norm_gradients.gradient_sums_to_zero",
            "the rows of dx do not sum to 0: the mean of g is not taken off as it should be",
            gradient_sums_to_zero,
            of_gradient=True,
        ),
        Property(
            "Euler's identity",
            "layer_norm_gradients.euler_identity",
            "<x, dx> = eps / (v + eps) <g, x^> fails: the share along x^ is not taken off as it should be",
            euler_identity,
            of_gradient=True,
        ),
        Property(
            "parameters enter linearly",
            "layer_norm_gradients.gain_gradient",
            "<gain, dgain> + <bias, dbias> = <dy, y> fails",
            parameters_enter_linearly,
            of_gradient=True,
        ),
    )


def _probe(rng: np.random.Generator, name: str, x: np.ndarray, layout: str = "contiguous") -> Probe:
    d = x.shape[-1]
    return Probe(name, (x, _rows.gain_of(rng, d), rng.standard_normal(d)), layout=layout)


CONTRACT = LayerNorm()

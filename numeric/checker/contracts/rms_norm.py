"""rms_norm: x (..., d), gain (d,) -> gain x / sqrt(mean x^2 + eps), the mean over a row.

The bound admits the orders of `_norm_orders`: x / r or x (1 / r), times gain before or after, and with a cast to the dtype
between the two or not; gradients in closed form, by autograd through each step, or by the Jacobian.
"""

import numpy as np

from ...layers import rms_norm
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from . import _rows
from ._norm_orders import gradient_bounds, output_bound, plain_rows
from ._rms_norm_mistakes import FITS, MISTAKES
from ._rows import OWN_UNIT, own_error, rounded_gain, rounded_rows

EPS = Option("eps", 1e-5, (1e-5,), "added to the mean square, under the root")


def _mean_square(x: np.ndarray) -> np.ndarray:
    return (x * x).mean(-1, keepdims=True)


def mean_square_is_one(bench: Bench, rng: np.random.Generator) -> Residual:
    """sum y^2 = d m / (m + eps), m the mean square of x."""
    x = rounded_rows(bench, rng)
    y, allowed = bench.output(x, np.ones(x.shape[-1]))
    m = _mean_square(x)
    length = x.shape[-1] * (m / (m + bench.options["eps"]))[..., 0]
    own = 8 * x.shape[-1] * OWN_UNIT * length + own_error(y * y)
    return (y * y).sum(-1) - length, (2 * np.abs(y) * allowed + allowed**2).sum(-1) + own


def scale_law(bench: Bench, rng: np.random.Generator) -> Residual:
    """y(a x, eps) = y(x, eps / a^2) for a > 0, so their ratio is sqrt((m + eps) / (m + eps / a^2)); with an a whose square is large."""
    x, a, eps = bench.rounded(_rows.rows(rng, (4, 9), 0.3, 3.0)), 256.0, bench.options["eps"]
    gain = rounded_gain(bench, rng, 9)
    first, allowed = bench.output(x, gain)
    second, allowed_scaled = bench.output(a * x, gain)
    m = _mean_square(x)
    ratio = np.sqrt((m + eps) / (m + eps / a**2))
    own = 8 * x.shape[-1] * OWN_UNIT * np.abs(second)
    return second - ratio * first, allowed_scaled + ratio * allowed + own


def odd(bench: Bench, rng: np.random.Generator) -> Residual:
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    first, allowed = bench.output(x, gain)
    second, allowed_negated = bench.output(-x, gain)
    return first + second, allowed + allowed_negated


def rows_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    alone, allowed_alone = bench.output(x[1:2, 2:], gain)
    among, allowed = (part[1:2, 2:] for part in bench.output(x, gain))
    return alone - among, allowed + allowed_alone


def euler_identity(bench: Bench, rng: np.random.Generator) -> Residual:
    """sum x dx = eps / (m + eps) sum g x^."""
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    dy = bench.rounded(rng.standard_normal(x.shape))
    (dx, allowed), _ = bench.gradients(dy, x, gain)
    radicand = _mean_square(x) + bench.options["eps"]
    terms = bench.options["eps"] / radicand * gain * dy * x / np.sqrt(radicand)
    own = own_error(x * dx) + 16 * x.shape[-1] * OWN_UNIT * np.abs(terms).sum(-1)
    return (x * dx).sum(-1) - terms.sum(-1), (np.abs(x) * allowed).sum(-1) + own


def gain_enters_linearly(bench: Bench, rng: np.random.Generator) -> Residual:
    """<gain, dgain> = <dy, y>."""
    x, gain = rounded_rows(bench, rng), rounded_gain(bench, rng, 7)
    dy = bench.rounded(rng.standard_normal(x.shape))
    y, allowed = bench.output(x, gain)
    _, (dgain, allowed_gain) = bench.gradients(dy, x, gain)
    left, right = gain * dgain, (dy * y).ravel()
    reach = (np.abs(gain) * allowed_gain).sum() + (np.abs(dy) * allowed).sum()
    return np.asarray(left.sum() - right.sum()), np.asarray(reach + own_error(left) + own_error(right))


class RMSNorm(Contract):
    name = "rms_norm"
    summary = "each row over the root of its mean square plus eps, times gain"
    inputs = (Input("x", "(..., d)"), Input("gain", "(d,)"))
    output = "(..., d), like x"
    options = (EPS,)
    gradient_theorem = "rms_norm_gradients.vjp"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, x: np.ndarray, gain: np.ndarray, *, eps: float) -> tuple[np.ndarray, Pullback]:
        y, cache = rms_norm.forward(x, gain, eps)
        return y, lambda dy: rms_norm.backward(dy, cache)

    def bound(self, precision: Precision, x: np.ndarray, gain: np.ndarray, *, eps: float) -> Rounded:
        given, scale = Rounded.exact(x, precision), Rounded.exact(gain, precision)
        return output_bound(plain_rows(given, eps), scale, None).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, x: np.ndarray, gain: np.ndarray, *, eps: float
    ) -> tuple[Rounded, ...]:
        g, given, scale = (Rounded.exact(each, precision) for each in (dy, x, gain))
        return tuple(each.returned() for each in gradient_bounds(plain_rows(given, eps), g, scale)[:2])

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [_probe(rng, name, x) for name, x in _rows.generic_rows(rng, options["eps"])]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        probes = [_probe(rng, name, x) for name, x in _rows.structured_rows(rng, form, options["eps"])]
        plain = _rows.rows(rng, (3, 5))
        probes += [Probe("gain 1", (plain, np.ones(5))), Probe("gain 0", (plain, np.zeros(5)))]
        layouts = ("strided", "read-only")
        return probes + [_probe(rng, layout, _rows.rows(rng, (2, 5, 7)), layout) for layout in layouts]

    properties = (
        Property("mean square", "rms_norm.value", "with gain 1 mean y^2 = m / (m + eps) fails", mean_square_is_one),
        Property(
            "scale law",
            "rms_norm.scale_law",
            "y(256 x) at eps = y(x) at eps / 256^2 fails: eps, or what x is divided by, does not enter as it should",
            scale_law,
        ),
        Property("odd", "rms_norm.scale_law", "y(-x) = -y(x) fails", odd),
        Property(
            "rows are independent",
            "rms_norm_gradients.jacobian",
            "a row changes when other rows are taken away",
            rows_are_independent,
        ),
        Property(
            "Euler's identity",
            "rms_norm_gradients.euler_identity",
            "<x, dx> = eps / (m + eps) <g, x^> fails: the share along x^ is not taken off as it should be",
            euler_identity,
            of_gradient=True,
        ),
        Property(
            "gain enters linearly",
            "rms_norm_gradients.gain_gradient",
            "<gain, dgain> = <dy, y> fails",
            gain_enters_linearly,
            of_gradient=True,
        ),
    )


def _probe(rng: np.random.Generator, name: str, x: np.ndarray, layout: str = "contiguous") -> Probe:
    return Probe(name, (x, _rows.gain_of(rng, x.shape[-1])), layout=layout)


CONTRACT = RMSNorm()

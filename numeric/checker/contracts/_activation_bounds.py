"""The orders in which a correct implementation may evaluate an activation function and its derivative, as bounds.

    relu     exact; at 0, and where rounding may have moved x across 0, any slope from 0 to 1 is a subgradient
             (activation_bounds.relu_subgradient), and so admitted
    sigmoid  1 / (1 + exp(-x)), or exp(x) / (1 + exp(x)) where x < 0: accurate. (1 + tanh(x/2)) / 2, or 1 - s(-x): errs
             by a few u, so that nothing is left of it where s is small
    Phi      erfc(-x / sqrt 2) / 2: accurate. (1 + erf(x / sqrt 2)) / 2: errs by a few u
    silu     x s        slope   s (1 + x (1 - s));  s + x s (1 - s);  y + s (1 - y), which errs by a few u y
    gelu     x Phi      slope   Phi + x phi, phi = exp(-x^2/2) / sqrt(2 pi), or as autograd has it, exp(-z^2)

The slope is added up before or after it is multiplied by the cotangent. Two bounds come of this: of accurate orders
only, and of all. In 16 bits every order is accurate that is computed in the wide format and rounded once.

An erfc errs, besides its ulps, by what squaring its argument does to exp(-z^2): 2 u z^2, relatively (Cephes, ndtr.c,
states 5.7e-14 up to 26.6). An erf in a sum with 1 may err by half as much again as its ulps, of 1, which is 12 u: the one
inside PyTorch's gelu in float32 (Abramowitz and Stegun's formula 7.1.26, within 1.5e-7) was seen to err by 9.4 u, and its
derivative to be 0 from -7 on.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from ..formats import Precision
from ..rounding import Rounded, any_of

SATURATED = 16.0  # tanh and erf are 1, exactly, where they are nearer to it than u by this factor

Ways = list[Rounded]


class Activation(NamedTuple):
    """`value` of x, and `gradient` of <g, y> from g and x; accurate orders only, or all of them."""

    value: Callable[[Rounded, bool], Ways]
    gradient: Callable[[Rounded, Rounded, bool], Ways]


def bound_of(activation: str, x: Rounded) -> Rounded:
    """All orders, each intermediate stored."""
    return any_of(ACTIVATIONS[activation].value(x, False))


def gradient_bound_of(activation: str, g: Rounded, x: Rounded) -> Rounded:
    return any_of(ACTIVATIONS[activation].gradient(g, x, False))


def accurate_only(precision: Precision) -> bool:
    """In 16 bits the orders that lose digits do so in the wide format, which does not show."""
    return precision.returned.bits >= precision.wide.bits


# relu


def _relu(x: Rounded, accurate: bool) -> Ways:
    off = np.where(x.value < -2 * x.worst, 0.0, x.worst)
    return [Rounded(np.maximum(x.value, 0.0), off, np.where(x.value < 0, 0.0, x.square), x.precision)]


def _relu_gradient(g: Rounded, x: Rounded, accurate: bool) -> Ways:
    open_slope = np.abs(x.value) <= 2 * x.worst
    passed = np.where(x.value > 0, 1.0, 0.0)
    worst = np.where(open_slope, np.abs(g.value) + g.worst, passed * g.worst)
    square = np.where(open_slope, g.value**2, 0.0) + passed * g.square
    return [Rounded(passed * g.value, worst, square, g.precision)]


# silu


def sigmoids(x: Rounded, accurate: bool) -> Ways:
    form = x.precision.stored
    s, rest = scipy.special.expit(x.value), scipy.special.expit(-x.value)
    # the exponential errs by its ulps, which moves s as an error of x would; ln s (1 - s) moves by no more than x
    moved = np.minimum(x.worst + 2 * form.ulps * form.unit, 700.0)
    worst = (s * rest * moved + 2 * form.unit * s) * np.exp(moved)
    # 1 + exp(-x) is 1 where exp(-x) is small enough, and so is s
    saturated = rest * np.exp(moved) < form.unit / 4
    worst = np.minimum(worst, np.where(saturated, 2 * rest * np.exp(moved), 1.0))
    square = (s * rest) ** 2 * (x.square + (2 * form.ulps * form.unit) ** 2) + 2 * (form.unit * s) ** 2
    exact = Rounded(s, worst, square, x.precision)
    way = exact.loosened(np.where(s < form.tiny, np.minimum(form.tiny, 2 * s), 0.0))
    if accurate:
        return [way]
    return [way, way.loosened(np.where(s * rest < form.unit / SATURATED, s * rest, form.unit * (form.ulps + 2)))]


def _silu(x: Rounded, accurate: bool) -> Ways:
    return [x * s for s in sigmoids(x, accurate)]


def _silu_gradient(g: Rounded, x: Rounded, accurate: bool) -> Ways:
    one, ways = Rounded.exact(1.0, x.precision), []
    for s in sigmoids(x, accurate):
        rest = one - s
        slopes = [s * (one + x * rest), s + x * (s * rest)]
        ways += [g * slope for slope in slopes]
        ways.append(g * s + (g * x) * (s * rest))
        if not accurate:
            y = x * s
            ways.append(g * (y + s * (one - y)))
    return ways


# gelu


def _constant(value: float, precision: Precision, roundings: int) -> Rounded:
    kept = Rounded.exact(value, precision).loosened(np.asarray(2.0**-53 * value))
    for _ in range(roundings):
        kept = kept.cast(precision.stored)
    return kept


def normal_distribution(x: Rounded, accurate: bool) -> Ways:
    """Phi."""
    form = x.precision.stored
    z = x * _constant(math.sqrt(0.5), x.precision, 2)
    slope = 2 / math.sqrt(math.pi) * np.exp(-(np.maximum(np.abs(z.value) - 2 * z.worst, 0.0) ** 2))
    tail = scipy.special.erfc(-z.value)
    squared = 2 * form.unit * (np.abs(z.value) + 2 * z.worst) ** 2 * scipy.special.erfc(np.abs(z.value))
    below = z.mapped(tail, np.minimum(z.worst * slope, 2.0), slope).loosened(np.minimum(squared, tail))
    ways = [below.over(2.0)]
    if not accurate:
        other = scipy.special.erfc(np.abs(z.value))
        ulps = np.where(other < form.unit / SATURATED, 2 * other, 3 * form.ulps * form.unit)
        erf = Rounded(scipy.special.erf(z.value), np.minimum(z.worst * slope, 2.0), slope**2 * z.square, x.precision)
        ways.append((Rounded.exact(1.0, x.precision) + erf.loosened(ulps)).over(2.0))
    return ways


def normal_density(x: Rounded) -> Rounded:
    """phi; z = x / sqrt 2 and its square err by no more than 8 u z^2 together."""
    form = x.precision.stored
    with np.errstate(over="ignore"):
        exponent = np.minimum(x.value**2 / 2, 1e6)
        reach = np.minimum((np.abs(x.value) + x.worst) * x.worst + 8 * form.unit * exponent, 1e6)
    peak = 1 / math.sqrt(2 * math.pi)
    value = peak * np.exp(-exponent)
    near = value * np.expm1(np.minimum(reach, 1.0))
    worst = np.where(reach < 1, near, peak * np.exp(np.minimum(reach - exponent, 0.0)))
    density = x.mapped(value, worst, np.minimum(np.abs(x.value), 1e3) * value)
    for _ in range(3):  # the constant, and two products where autograd has them
        density = density.cast(form)
    return density


def _gelu(x: Rounded, accurate: bool) -> Ways:
    return [x * phi for phi in normal_distribution(x, accurate)]


def _gelu_gradient(g: Rounded, x: Rounded, accurate: bool) -> Ways:
    bounded = Rounded(np.clip(x.value, -1e150, 1e150), x.worst, x.square, x.precision)
    density, ways = normal_density(bounded), []
    if not accurate:  # a kernel may stop where erf is 1
        far = scipy.special.erfc(np.abs(bounded.value) / math.sqrt(2)) < x.precision.stored.unit / SATURATED
        density = density.loosened(np.where(far, density.value, 0.0))
    for phi in normal_distribution(x, accurate):
        ways += [g * (phi + bounded * density), g * phi + (g * bounded) * density]
    return ways


ACTIVATIONS = {
    "relu": Activation(_relu, _relu_gradient),
    "gelu": Activation(_gelu, _gelu_gradient),
    "silu": Activation(_silu, _silu_gradient),
}

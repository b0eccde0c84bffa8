"""log_softmax: z (..., n) -> y of the same shape, y = z / T - log sum exp(z / T) along an axis.

Evaluation orders that the bound admits: (x - log S) with x shifted by the maximum before or after the division by T, S online
or not; and, where softmax does not underflow, log(p / S). Not admitted: x - (max + log S), which loses a digit for each digit
of a common offset. For the gradient, g - s * sum g with s = p / S or exp(y as returned), and what autograd makes of either order.
"""

import numpy as np

from ...layers import log_softmax
from ..contract import Bench, Contract, Input, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from . import _slices
from ._log_softmax_mistakes import FITS, MISTAKES
from ._softmax_orders import composite_gradient, denominator, exponentials, shifted_logits, softmax_bound


def exponentials_sum_to_one(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    y, allowed = bench.output(_slices.logits_of(bench, rng))
    s = np.exp(y)
    # the checker's own exp errs by 4 ulps, hence 8 units
    own = _slices.own_error(s, axis) + 8 * _slices.OWN_UNIT * s.sum(axis) + _slices.OWN_UNIT
    return s.sum(axis) - 1, (s * np.expm1(allowed)).sum(axis) + own


def log_softmax_bound(precision: Precision, z: np.ndarray, axis: int, temperature: float) -> Rounded:
    ways = []
    for x in shifted_logits(precision, z, axis, temperature):
        y = x - denominator(x, exponentials(x), axis).log()
        ways += [y, _logarithm_of_softmax(y)]
    return any_of(ways)


def _logarithm_of_softmax(y: Rounded) -> Rounded:
    """log(p / S): to the errors of y come, as relative errors of s and so absolute ones of y, those of exp, 1 / S, and the product."""
    stored = y.precision.stored
    function = 2 * stored.ulps
    return _in_range(y.loosened(stored.unit * (function + 3 + function * np.abs(y.value))), np.exp(y.value))


def _in_range(way: Rounded, s: np.ndarray, axis: int | None = None) -> Rounded:
    """Admitted only where softmax does not underflow: at the entry, or at every entry along an axis."""
    fine = np.asarray(s > 4 * way.precision.stored.tiny)
    if axis is not None:
        fine = np.asarray(fine.all(axis, keepdims=True))
    return Rounded(way.value, np.where(fine, way.worst, np.inf), way.square, way.precision)


def gradient_bound(precision: Precision, dy: np.ndarray, z: np.ndarray, axis: int, temperature: float) -> Rounded:
    return gradient_bound_of(Rounded.exact(dy, precision), precision, z, axis, temperature)


def gradient_bound_of(g: Rounded, precision: Precision, z: np.ndarray, axis: int, temperature: float) -> Rounded:
    """Where the cotangent g has been computed itself."""
    total = g.sum(axis)
    y = log_softmax_bound(precision, z, axis, temperature).returned()
    s = any_of([softmax_bound(precision, z, axis, temperature), y.exp()])
    ways = [g - s * total, _through_logarithm_of_softmax(g, s, axis)]
    for x in shifted_logits(precision, z, axis, temperature):
        weights = exponentials(x)
        inverse = denominator(x, weights, axis).reciprocal()
        ways.append(composite_gradient(x, g - weights * (total * inverse), axis))
    return any_of([way.over(temperature) for way in ways])


def _through_logarithm_of_softmax(g: Rounded, s: Rounded, axis: int) -> Rounded:
    """log(p / S) under autograd: g / s comes back, and is multiplied by p and 1 / S, that is by the same s, whose error cancels.

    What remains is six roundings of g.
    """
    echo = g
    for _ in range(6):
        echo = echo.cast(g.precision.stored)
    return _in_range(echo - s * echo.sum(axis), s.value, axis)


class LogSoftmax(Contract):
    name = "log_softmax"
    summary = "z / temperature minus the logarithm of the sum of its exponentials along an axis"
    inputs = (Input("z", "(..., n)"),)
    output = "(..., n), like z"
    options = _slices.OPTIONS
    gradient_theorem = "softmax_derivatives.log_softmax_jacobian"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, z: np.ndarray, *, axis: int, temperature: float) -> tuple[np.ndarray, Pullback]:
        output, cache = log_softmax.forward(z, axis, temperature)
        return output, lambda dy: (log_softmax.backward(dy, cache),)

    def bound(self, precision: Precision, z: np.ndarray, *, axis: int, temperature: float) -> Rounded:
        return log_softmax_bound(precision, z, axis, temperature).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, z: np.ndarray, *, axis: int, temperature: float
    ) -> tuple[Rounded, ...]:
        return (gradient_bound(precision, dy, z, axis, temperature).returned(),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.generic_logits(rng, options["axis"])

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.structured_logits(rng, form, options["axis"])

    properties = (
        Property(
            "exponentials sum to 1",
            "softmax.sums_to_one",
            "the exponentials of a slice do not sum to 1",
            exponentials_sum_to_one,
        ),
        Property(
            "shift invariance",
            "softmax.shift_invariance",
            "log_softmax(z + c) = log_softmax(z) fails",
            _slices.shift_invariance,
        ),
        Property(
            "permutation equivariance",
            "softmax.permutation_equivariance",
            "permuting the logits does not permute the output",
            _slices.permutation_equivariance,
        ),
        Property(
            "slices are independent",
            "softmax_derivatives.log_softmax_jacobian",
            "a slice changes when other slices are taken away",
            _slices.slices_are_independent,
        ),
        Property(
            "gradient sums to 0",
            "softmax_derivatives.log_softmax_jacobian",
            "gradient does not sum to 0",
            _slices.gradient_sums_to_zero,
            of_gradient=True,
        ),
    )


CONTRACT = LogSoftmax()

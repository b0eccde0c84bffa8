"""log_softmax: z (..., n) -> y of the same shape, y = z / T - log sum exp(z / T) along an axis.

Evaluation orders that the bound admits: (x - log S) with x shifted by the maximum before or after the division by T, S online
or not; and, where softmax does not underflow, log(p / S). Not admitted: x - (max + log S), which loses a digit for each digit
of a common offset. For the gradient, g - s * sum g with s = p / S or exp(y as returned), and what autograd makes of either order.
"""

from typing import Any

import numpy as np

from ...arithmetic import to_balls
from ...layers import log_softmax
from ..contract import Bench, Contract, Input, Options, Probe, Property, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from . import _slices
from ._softmax_orders import composite_gradient, denominator, shifted_logits, softmax_bound


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
        total = denominator(x, x.exp(ceiling=1.0), axis)
        ways.append(x - total.log())
    ways.append(softmax_bound(precision, z, axis, temperature).log())
    return any_of(ways)


def gradient_bound(precision: Precision, dy: np.ndarray, z: np.ndarray, axis: int, temperature: float) -> Rounded:
    g = Rounded.exact(dy, precision)
    total = g.sum(axis)
    y = log_softmax_bound(precision, z, axis, temperature).returned()
    s = any_of([softmax_bound(precision, z, axis, temperature), y.exp()])
    ratio = g / s
    through_softmax = s * ratio - s * (s * ratio).sum(axis)  # log(p / S) under autograd
    ways = [g - s * total, through_softmax]
    for x in shifted_logits(precision, z, axis, temperature):
        weights = x.exp(ceiling=1.0)
        inverse = denominator(x, weights, axis).reciprocal()
        ways.append(composite_gradient(x, g - weights * (total * inverse), axis))
    return any_of([way.over(temperature) for way in ways])


class LogSoftmax(Contract):
    name = "log_softmax"
    summary = "z / temperature minus the logarithm of the sum of its exponentials along an axis"
    inputs = (Input("z", "(..., n)"),)
    output = "(..., n), like z"
    options = _slices.OPTIONS
    theorem = "softmax.gradient_of_logsumexp"
    gradient_theorem = "softmax.log_softmax_jacobian"

    def exact(self, z: np.ndarray, *, axis: int, temperature: float) -> np.ndarray:  # type: ignore[override]
        return log_softmax.forward(to_balls(z), axis, temperature)[0]

    def exact_gradients(self, dy: np.ndarray, z: np.ndarray, **options: Any) -> tuple[np.ndarray, ...]:  # type: ignore[override]
        _, cache = log_softmax.forward(to_balls(z), **options)
        return (log_softmax.backward(to_balls(dy), cache),)

    def bound(self, precision: Precision, z: np.ndarray, *, axis: int, temperature: float) -> Rounded:  # type: ignore[override]
        return log_softmax_bound(precision, z, axis, temperature).returned()

    def gradient_bounds(  # type: ignore[override]
        self, precision: Precision, dy: np.ndarray, z: np.ndarray, *, axis: int, temperature: float
    ) -> tuple[Rounded, ...]:
        return (gradient_bound(precision, dy, z, axis, temperature).returned(),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.generic_logits(rng)

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.structured_logits(rng, form, options["axis"])

    properties = (
        Property(
            "exponentials sum to 1", "softmax.sums_to_one", "the exponentials of a slice do not sum to 1", exponentials_sum_to_one
        ),
        Property(
            "shift invariance", "softmax.shift_invariance", "log_softmax(z + c) = log_softmax(z) fails", _slices.shift_invariance
        ),
        Property(
            "permutation equivariance",
            "softmax.permutation_equivariance",
            "permuting the logits does not permute the output",
            _slices.permutation_equivariance,
        ),
        Property(
            "slices are independent",
            "softmax.log_softmax_jacobian",
            "a slice changes when other slices are taken away",
            _slices.slices_are_independent,
        ),
        Property(
            "gradient sums to 0",
            "softmax.log_softmax_jacobian",
            "gradient does not sum to 0",
            _slices.gradient_sums_to_zero,
            of_gradient=True,
        ),
    )


CONTRACT = LogSoftmax()

"""softmax: z (..., n) -> s of the same shape, s = exp(z / T) / sum exp(z / T) along an axis.

Evaluation orders that the bound admits: the shift by the maximum before or after the division by T, and either one online
(rescaled whenever a new maximum turns up); p / S, p * (1 / S), exp(log_softmax). An unshifted exp is admitted as far as it does
not overflow or underflow: it only lacks the rounding of the shift. For the gradient, s as computed, and then
s * (g - sum s g), s * g - s * sum(s g), the Jacobian as a matrix, and what autograd makes of the composite p / S.
"""

import numpy as np

from ...layers import softmax
from ..contract import Bench, Contract, Input, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from . import _slices
from ._softmax_mistakes import FITS, MISTAKES
from ._softmax_orders import softmax_bound, softmax_gradient_bound


def sums_to_one(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    s, allowed = bench.output(_slices.logits_of(bench, rng))
    return s.sum(axis) - 1, allowed.sum(axis) + _slices.own_error(s, axis) + _slices.OWN_UNIT


def constant_cotangent(bench: Bench, rng: np.random.Generator) -> Residual:
    z = _slices.logits_of(bench, rng)
    [(dz, allowed)] = bench.gradients(np.ones_like(z), z)
    return dz, allowed


def jacobian_is_symmetric(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    z = _slices.logits_of(bench, rng)
    g, h = (bench.rounded(rng.standard_normal(z.shape)) for _ in range(2))
    [(of_g, allowed_g)], [(of_h, allowed_h)] = bench.gradients(g, z), bench.gradients(h, z)
    left, right = of_g * h, of_h * g
    allowed = (allowed_g * np.abs(h) + allowed_h * np.abs(g)).sum(axis)
    own = _slices.own_error(left, axis) + _slices.own_error(right, axis)
    return left.sum(axis) - right.sum(axis), allowed + 2 * own


class Softmax(Contract):
    name = "softmax"
    summary = "exp(z / temperature) divided by its sum along an axis"
    inputs = (Input("z", "(..., n)"),)
    output = "(..., n), like z"
    options = _slices.OPTIONS
    gradient_theorem = "softmax_jacobian.vjp"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, z: np.ndarray, *, axis: int, temperature: float) -> tuple[np.ndarray, Pullback]:
        output, cache = softmax.forward(z, axis, temperature)
        return output, lambda dy: (softmax.backward(dy, cache),)

    def bound(self, precision: Precision, z: np.ndarray, *, axis: int, temperature: float) -> Rounded:
        return softmax_bound(precision, z, axis, temperature).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, z: np.ndarray, *, axis: int, temperature: float
    ) -> tuple[Rounded, ...]:
        return (softmax_gradient_bound(precision, dy, z, axis, temperature).returned(),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.generic_logits(rng, options["axis"])

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _slices.structured_logits(rng, form, options["axis"])

    properties = (
        Property("slices sum to 1", "softmax.sums_to_one", "slices do not sum to 1", sums_to_one),
        Property(
            "shift invariance",
            "softmax.shift_invariance",
            "softmax(z + c) = softmax(z) fails",
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
            "softmax_jacobian.jacobian",
            "a slice changes when other slices are taken away",
            _slices.slices_are_independent,
        ),
        Property(
            "gradient sums to 0",
            "softmax_jacobian.rows_sum_to_zero",
            "gradient does not sum to 0",
            _slices.gradient_sums_to_zero,
            of_gradient=True,
        ),
        Property(
            "constant cotangent",
            "softmax_jacobian.rows_sum_to_zero",
            "J 1 = 0 fails: a constant cotangent gives a gradient that is not 0",
            constant_cotangent,
            of_gradient=True,
        ),
        Property(
            "Jacobian is symmetric",
            "softmax_jacobian.symmetric",
            "<J g, h> = <g, J h> fails: the Jacobian is not symmetric",
            jacobian_is_symmetric,
            of_gradient=True,
        ),
    )


CONTRACT = Softmax()

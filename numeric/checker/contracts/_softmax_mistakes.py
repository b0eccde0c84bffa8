"""What goes wrong in softmax: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import stable_shift
from ..mistake import Fit, Instability, Mistake


def weights(z: Any, axis: int, temperature: Any) -> Any:
    scaled = z / temperature
    powers = np.exp(scaled - stable_shift(scaled, axis))
    return powers / powers.sum(axis, keepdims=True)


def _along(which: int) -> Any:
    def formula(z: Any, *, axis: int, temperature: float) -> Any:
        return weights(z, which, temperature)

    return formula


def _other_axis(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z, 0 if axis in (-1, z.ndim - 1) else -1, temperature)


def _every_axis(z: Any, *, axis: int, temperature: float) -> Any:
    flat = (z / temperature).reshape(-1)
    return weights(flat, 0, 1).reshape(z.shape)


def _multiplied(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z * temperature * temperature, axis, temperature)


def _ignored(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z, axis, 1)


def _divided_after(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z, axis, 1) / temperature


def _not_normalised(z: Any, *, axis: int, temperature: float) -> Any:
    scaled = z / temperature
    return np.exp(scaled - stable_shift(scaled, axis))


def _binary(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z * np.log(z * 0 + 2), axis, temperature)


def _of_negative(z: Any, *, axis: int, temperature: float) -> Any:
    return weights(-z, axis, temperature)


def _logarithm(z: Any, *, axis: int, temperature: float) -> Any:
    return np.log(weights(z, axis, temperature))


def _plus_one(z: Any, *, axis: int, temperature: float) -> Any:
    scaled = z / temperature
    shift = stable_shift(scaled, axis)
    powers = np.exp(scaled - shift)
    return powers / (np.exp(-shift) + powers.sum(axis, keepdims=True))


def _diagonal(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return dy * s * (1 - s) / temperature


def _identity(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    return dy + 0 * z


def _without_sum(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z, axis, temperature) * dy / temperature


def _mean_for_sum(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return s * (dy - (s * dy).mean(axis, keepdims=True)) / temperature


def _unweighted_sum(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return s * (dy - dy.sum(axis, keepdims=True)) / temperature


def _added_sum(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return s * (dy + (s * dy).sum(axis, keepdims=True)) / temperature


def _without_weights(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return (dy - (s * dy).sum(axis, keepdims=True)) / temperature


def _gradient_without_temperature(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return s * (dy - (s * dy).sum(axis, keepdims=True))


def _inputs_for_weights(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    """J_ij = s_i (delta_ij - z_j): the logit stands where the weight should."""
    s = weights(z, axis, temperature)
    return (s * dy - z * (s * dy).sum(axis, keepdims=True)) / temperature


def _sum_weighted_by_logits(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    """The same Jacobian from the left: sum_j J_ij dy_j."""
    return weights(z, axis, temperature) * (dy - (z * dy).sum(axis, keepdims=True)) / temperature


def _of_log_softmax(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
    s = weights(z, axis, temperature)
    return (dy - s * dy.sum(axis, keepdims=True)) / temperature


# Right formulas that lose their digits, in the dtype


def _stored(total: Any, z: Any) -> Any:
    return total.astype(z.dtype)


def _unshifted(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    powers = np.exp(z / z.dtype.type(temperature))
    return powers / _stored(powers.sum(axis, keepdims=True, dtype=_wide(z)), z)


def _clamped_shift(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    scaled = z / z.dtype.type(temperature)
    powers = np.exp(scaled - np.maximum(scaled.max(axis, keepdims=True), z.dtype.type(0)))
    return powers / _stored(powers.sum(axis, keepdims=True, dtype=_wide(z)), z)


def _shifted_by_all(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    scaled = z / z.dtype.type(temperature)
    powers = np.exp(scaled - scaled.max())
    return powers / _stored(powers.sum(axis, keepdims=True, dtype=_wide(z)), z)


def _wide(z: Any) -> Any:
    return np.float32 if z.dtype.itemsize == 2 else z.dtype


MISTAKES = (
    Mistake("softmax.other_axis", "sums along another axis (the last for the first, the first for the last)", "softmax.sums_to_one", _other_axis),
    Mistake("softmax.first_axis", "sums along the first axis, whatever axis says", "softmax.sums_to_one", _along(0)),
    Mistake("softmax.last_axis", "sums along the last axis, whatever axis says", "softmax.sums_to_one", _along(-1)),
    Mistake("softmax.whole_array", "sums over the whole array instead of along an axis", "softmax.sums_to_one", _every_axis),
    Mistake("softmax.temperature_multiplies", "multiplies the logits by the temperature", "softmax.relative_form", _multiplied),
    Mistake("softmax.temperature_ignored", "does not use the temperature", "softmax.relative_form", _ignored),
    Mistake("softmax.temperature_after", "divides the weights by the temperature, not the logits", "softmax.sums_to_one", _divided_after),
    Mistake("softmax.not_normalised", "does not divide by the sum", "softmax.sums_to_one", _not_normalised),
    Mistake("softmax.base_two", "takes powers of 2 instead of e", "softmax.relative_form", _binary),
    Mistake("softmax.of_minus_z", "has the logits with the other sign", "softmax.relative_form", _of_negative),
    Mistake("softmax.logarithm", "returns the logarithm of softmax", "softmax_derivatives.log_softmax_is_log_of_softmax", _logarithm),
    Mistake("softmax.one_more_in_sum", "has 1 + sum exp as its denominator", "softmax.sums_to_one", _plus_one),
    Mistake("softmax.diagonal_gradient", "has only the diagonal of the Jacobian: dy s (1 - s)", "softmax_jacobian.rows_sum_to_zero", _diagonal, "gradients"),
    Mistake("softmax.gradient_is_cotangent", "passes dy on unchanged, which is right only where softmax and cross-entropy are fused", "softmax_jacobian.vjp", _identity, "gradients"),
    Mistake("softmax.gradient_without_sum", "leaves out the sum: s dy", "softmax_jacobian.rows_sum_to_zero", _without_sum, "gradients"),
    Mistake("softmax.gradient_mean_for_sum", "takes the mean of s dy for its sum", "softmax_jacobian.vjp", _mean_for_sum, "gradients"),
    Mistake("softmax.gradient_unweighted_sum", "subtracts the sum of dy, not weighted by s", "softmax_jacobian.vjp", _unweighted_sum, "gradients"),
    Mistake("softmax.gradient_adds_sum", "adds the sum of s dy instead of subtracting it", "softmax_jacobian.rows_sum_to_zero", _added_sum, "gradients"),
    Mistake("softmax.gradient_without_weights", "leaves out the factor s", "softmax_jacobian.vjp", _without_weights, "gradients"),
    Mistake("softmax.gradient_without_temperature", "does not divide by the temperature", "softmax_jacobian.vjp", _gradient_without_temperature, "gradients"),
    Mistake("softmax.gradient_of_logits", "has the logits z_j in the Jacobian where the weights s_j belong", "softmax_jacobian.symmetric", _inputs_for_weights, "gradients"),
    Mistake("softmax.gradient_sum_of_logits", "weights the sum of dy by the logits z_j, not by s_j", "softmax_jacobian.symmetric", _sum_weighted_by_logits, "gradients"),
    Mistake("softmax.gradient_of_log_softmax", "is that of log_softmax", "softmax_jacobian.vjp", _of_log_softmax, "gradients"),
    Instability("softmax.unshifted", "takes exp without subtracting the maximum, which overflows", "softmax.shift_invariance", _unshifted),
    Instability("softmax.clamped_shift", "subtracts max(0, max z) instead of max z, so that very negative logits vanish", "softmax.shift_invariance", _clamped_shift),
    Instability("softmax.shifted_by_all", "subtracts the maximum of the whole array, so that slices far below it vanish", "softmax.shift_invariance", _shifted_by_all),
)  # fmt: skip


def _with_temperature(theta: Any, z: Any, *, axis: int, temperature: float) -> Any:
    return weights(z, axis, theta)


FITS = (Fit("temperature", "the option's value", "softmax.relative_form", _with_temperature, (1e-3, 1e3)),)

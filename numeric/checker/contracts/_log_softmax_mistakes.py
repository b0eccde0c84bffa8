"""What goes wrong in log_softmax: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import stable_shift
from ..mistake import Fit, Instability, Mistake
from ._softmax_mistakes import weights

SUMS = "softmax.sums_to_one"
LOGARITHM = "softmax_derivatives.log_softmax_is_log_of_softmax"
JACOBIAN = "softmax_derivatives.log_softmax_jacobian"
SHIFT = "softmax.shift_invariance"


def log_weights(z: Any, axis: int, temperature: Any) -> Any:
    scaled = z / temperature
    below = scaled - stable_shift(scaled, axis)
    return below - np.log(np.exp(below).sum(axis, keepdims=True))


def _other_axis(z: Any, *, axis: int, temperature: float) -> Any:
    return log_weights(z, 0 if axis in (-1, z.ndim - 1) else -1, temperature)


def _along(which: int) -> Any:
    return lambda z, *, axis, temperature: log_weights(z, which, temperature)


def _every_axis(z: Any, *, axis: int, temperature: float) -> Any:
    return log_weights(z.reshape(-1), 0, temperature).reshape(z.shape)


def _of_scaled(scaled: Callable[[Any, Any], Any]) -> Any:
    return lambda z, *, axis, temperature: log_weights(scaled(z, temperature), axis, 1)


def _from_shifted(formula: Callable[[Any, Any, Any], Any]) -> Any:
    """Of x = z / T - max, its exponentials, and their sum."""

    def of(z: Any, *, axis: int, temperature: float) -> Any:
        scaled = z / temperature
        below = scaled - stable_shift(scaled, axis)
        powers = np.exp(below)
        return formula(below, powers, powers.sum(axis, keepdims=True))

    return of


def _two(like: Any) -> Any:
    return like * 0 + 2


def _divided_after(z: Any, *, axis: int, temperature: float) -> Any:
    return log_weights(z, axis, 1) / temperature


def _sum_of_undivided(z: Any, *, axis: int, temperature: float) -> Any:
    below = z - stable_shift(z, axis)
    return below / temperature - np.log(np.exp(below).sum(axis, keepdims=True))


def _unshifted_in_front(z: Any, *, axis: int, temperature: float) -> Any:
    """z - log sum exp(z - max): the maximum is missing once."""
    scaled = z / temperature
    return scaled - np.log(np.exp(scaled - stable_shift(scaled, axis)).sum(axis, keepdims=True))


def _one_more_in_sum(z: Any, *, axis: int, temperature: float) -> Any:
    scaled = z / temperature
    shift = stable_shift(scaled, axis)
    return scaled - shift - np.log(np.exp(-shift) + np.exp(scaled - shift).sum(axis, keepdims=True))


def _gradient(formula: Callable[[Any, Any, int], Any], divided: bool = True) -> Any:
    """Of dy, the weights s, and the axis."""

    def of(dy: Any, z: Any, *, axis: int, temperature: float) -> Any:
        dz = formula(dy, weights(z, axis, temperature), axis)
        return dz / temperature if divided else dz

    return of


def _total(x: Any, axis: int) -> Any:
    return x.sum(axis, keepdims=True)


def _right(dy: Any, s: Any, axis: int) -> Any:
    return dy - s * _total(dy, axis)


# Right formulas that lose their digits, in the dtype


def _stored_sum(powers: Any, axis: int) -> Any:
    wide = np.float32 if powers.dtype.itemsize == 2 else powers.dtype
    return powers.sum(axis, keepdims=True, dtype=wide).astype(powers.dtype)


def _maximum_and_logarithm_together(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    scaled = z / z.dtype.type(temperature)
    peak = scaled.max(axis, keepdims=True)
    return scaled - (peak + np.log(_stored_sum(np.exp(scaled - peak), axis)))


def _unshifted(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    scaled = z / z.dtype.type(temperature)
    return scaled - np.log(_stored_sum(np.exp(scaled), axis))


def _logarithm_of_softmax(z: Any, *, axis: int = -1, temperature: float = 1.0) -> Any:
    scaled = z / z.dtype.type(temperature)
    powers = np.exp(scaled - scaled.max(axis, keepdims=True))
    return np.log(powers / _stored_sum(powers, axis))


MISTAKES = (
    Mistake("log_softmax.other_axis", "sums along another axis (the last for the first, the first for the last)", SUMS, _other_axis),
    Mistake("log_softmax.first_axis", "sums along the first axis, whatever axis says", SUMS, _along(0)),
    Mistake("log_softmax.last_axis", "sums along the last axis, whatever axis says", SUMS, _along(-1)),
    Mistake("log_softmax.whole_array", "sums over the whole array instead of along an axis", SUMS, _every_axis),
    Mistake("log_softmax.temperature_multiplies", "multiplies the logits by the temperature", "softmax.relative_form", _of_scaled(lambda z, t: z * t)),
    Mistake("log_softmax.temperature_ignored", "does not use the temperature", "softmax.relative_form", _of_scaled(lambda z, t: z)),
    Mistake("log_softmax.temperature_after", "divides the logarithms by the temperature, not the logits", SUMS, _divided_after),
    Mistake("log_softmax.sum_without_temperature", "sums exponentials of logits that were not divided by the temperature", SUMS, _sum_of_undivided),
    Mistake("log_softmax.not_normalised", "leaves out the logarithm of the sum", SUMS, _from_shifted(lambda x, p, total: x + 0 * total)),
    Mistake("log_softmax.maximum_missing_once", "subtracts the maximum inside the sum only: z - log sum exp(z - max)", SHIFT, _unshifted_in_front),
    Mistake("log_softmax.sum_without_logarithm", "subtracts the sum of exponentials, not its logarithm", SUMS, _from_shifted(lambda x, p, total: x - total)),
    Mistake("log_softmax.mean_for_sum", "takes the logarithm of the mean of exponentials, not of their sum", SUMS, _from_shifted(lambda x, p, total: x - np.log(total / (p.size // total.size)))),
    Mistake("log_softmax.one_more_in_sum", "has log(1 + sum exp), as log1p gives it", SUMS, _one_more_in_sum),
    Mistake("log_softmax.binary_logarithm", "takes the logarithm of the sum to base 2", SUMS, _from_shifted(lambda x, p, total: x - np.log(total) / np.log(_two(total)))),
    Mistake("log_softmax.softmax", "returns softmax, not its logarithm", LOGARITHM, lambda z, *, axis, temperature: weights(z, axis, temperature)),
    Mistake("log_softmax.negated", "has the other sign: the negative logarithm", LOGARITHM, lambda z, *, axis, temperature: -log_weights(z, axis, temperature)),
    Mistake("log_softmax.of_minus_z", "has the logits with the other sign", LOGARITHM, _of_scaled(lambda z, t: -z / t)),
    Mistake("log_softmax.log_sigmoid", "takes the logarithm of the sigmoid of each logit by itself", SUMS, lambda z, *, axis, temperature: -np.log(1 + np.exp(-z / temperature))),
    Mistake("log_softmax.gradient_is_cotangent", "passes dy on: the sum is left out", JACOBIAN, _gradient(lambda dy, s, axis: dy + 0 * s), "gradients"),
    Mistake("log_softmax.gradient_of_softmax", "is that of softmax", JACOBIAN, _gradient(lambda dy, s, axis: s * (dy - _total(s * dy, axis))), "gradients"),
    Mistake("log_softmax.gradient_without_sum", "subtracts s dy entry by entry, where s times the sum of dy is right", JACOBIAN, _gradient(lambda dy, s, axis: dy - s * dy), "gradients"),
    Mistake("log_softmax.gradient_weighted_sum", "subtracts s times the sum of s dy, where that of dy is right", JACOBIAN, _gradient(lambda dy, s, axis: dy - s * _total(s * dy, axis)), "gradients"),
    Mistake("log_softmax.gradient_mean_for_sum", "takes the mean of dy for its sum", JACOBIAN, _gradient(lambda dy, s, axis: dy - s * dy.mean(axis, keepdims=True)), "gradients"),
    Mistake("log_softmax.gradient_without_weights", "subtracts the sum of dy without the factor s", JACOBIAN, _gradient(lambda dy, s, axis: dy - _total(dy, axis) + 0 * s), "gradients"),
    Mistake("log_softmax.gradient_adds_sum", "adds s times the sum of dy instead of subtracting it", JACOBIAN, _gradient(lambda dy, s, axis: dy + s * _total(dy, axis)), "gradients"),
    Mistake("log_softmax.gradient_of_one_target", "is dy - s, right only where dy sums to 1", JACOBIAN, _gradient(lambda dy, s, axis: dy - s), "gradients"),
    Mistake("log_softmax.gradient_without_temperature", "does not divide by the temperature", JACOBIAN, _gradient(_right, divided=False), "gradients"),
    Instability("log_softmax.maximum_and_logarithm_together", "subtracts max + log sum at once, which loses a digit for each digit of a common offset", SHIFT, _maximum_and_logarithm_together),
    Instability("log_softmax.unshifted", "takes exp without subtracting the maximum, which overflows", SHIFT, _unshifted),
    Instability("log_softmax.logarithm_of_softmax", "takes the logarithm of softmax, which is minus infinity where softmax underflows", LOGARITHM, _logarithm_of_softmax),
)  # fmt: skip


def _with_temperature(theta: Any, z: Any, *, axis: int, temperature: float) -> Any:
    return log_weights(z, axis, theta)


FITS = (Fit("temperature", "the option's value", "softmax.relative_form", _with_temperature, (1e-3, 1e3)),)

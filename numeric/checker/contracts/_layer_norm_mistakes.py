"""What goes wrong in layer normalisation: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Fit, Formula, Instability, Mistake, Variant
from ._norm_emulations import flushed_eps, narrow_row_sums, narrow_squares, narrow_sums, one_pass
from ._norm_formulas import (
    Part,
    Parts,
    centred,
    dbias,
    dgain,
    layer_norm_dx,
    layer_norm_parts,
    mean,
    other_axes,
    over_rows,
    rooted,
    variance,
)


def affine(normalise: Callable[[Any, Any], Any]) -> Formula:
    """gain * normalise(x, eps) + bias."""

    def formula(x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
        return normalise(x, eps) * gain + bias

    return formula


def around(combine: Callable[[Any, Any, Any], Any]) -> Formula:
    """combine(x^, gain, bias), with the right x^."""

    def formula(x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
        return combine(right(x, eps), gain, bias)

    return formula


def right(x: Any, eps: Any) -> Any:
    return centred(x) / rooted(variance(x), eps)


def unbiased_variance(x: Any, eps: Any) -> Any:
    d = x.shape[-1]
    return centred(x) / rooted(variance(x) * d / (d - 1), eps)


def unbiased_deviation_plus_eps(x: Any, eps: Any) -> Any:
    d = x.shape[-1]
    return centred(x) / (np.sqrt(variance(x) * d / (d - 1)) + eps)


def eps_outside(x: Any, eps: Any) -> Any:
    return centred(x) / (np.sqrt(variance(x)) + eps)


def without_eps(x: Any, eps: Any) -> Any:
    return centred(x) / np.sqrt(variance(x))


def without_mean(x: Any, eps: Any) -> Any:
    return x / rooted(mean(x * x), eps)


def _axes(which: str) -> Callable[[Any, Any], Any]:
    def normalise(x: Any, eps: Any) -> Any:
        axes = other_axes(x, which)
        return centred(x, axes) / rooted(variance(x, axes), eps)

    return normalise


def _eps_as_floor(x: Any, eps: Any) -> Any:
    v = variance(x)
    return centred(x) / np.sqrt(np.where(v > eps, v, 0 * v + eps))


def _count_of_second_axis(x: Any, eps: Any) -> Any:
    share = x.shape[-1] / x.shape[min(1, x.ndim - 1)]
    distances = x - mean(x) * share
    return distances / rooted(mean(distances * distances) * share, eps)


def _gain_first(x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    return right(x * gain, eps) + bias


def wrong_dx(dx: Part) -> Formula:
    return _gradients(dx, dgain, dbias)


def wrong_dgain(part: Part) -> Formula:
    return _gradients(layer_norm_dx, part, dbias)


def wrong_dbias(part: Part) -> Formula:
    return _gradients(layer_norm_dx, dgain, part)


def _gradients(*of: Part) -> Formula:
    def formula(dy: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
        p = layer_norm_parts(dy, x, gain, bias, eps)
        return tuple(each(p) for each in of)

    return formula


def _gain_outside(p: Parts) -> Any:
    return p.gain * (p.dy - mean(p.dy) - p.x_hat * mean(p.dy * p.x_hat)) / p.root


def _without_gain(p: Parts) -> Any:
    return layer_norm_dx(p._replace(gain=1))


def _output_for_x_hat(p: Parts) -> Any:
    y = p.x_hat * p.gain + p.bias
    return p.after(mean(p.g) + y * mean(p.g * y))


def _sums_over(count: Callable[[Any], int]) -> Part:
    """Sums over the last axis, divided by this in place of d."""

    def dx(p: Parts) -> Any:
        return p.after((mean(p.g) + p.x_hat * p.overlap) * (p.x.shape[-1] / count(p.x)))

    return dx


def _behind_first_axis(x: Any) -> int:
    return int(np.prod(x.shape[1:]))


def _last_row(terms: Any) -> Any:
    return terms.reshape(-1, terms.shape[-1])[-1]


def _rows_of(x: Any) -> int:
    return max(int(np.prod(x.shape[:-1])), 1)


def _batch(x: Any) -> int:
    return x.shape[0] if x.ndim > 1 else 1


def _narrow_row_sums(dy: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    return narrow_row_sums(dy, x, gain, bias, eps)


MISTAKES = (
    Variant("layer_norm.one_plus_gain", "multiplies by 1 + gain", "layer_norm_jacobian.jacobian_with_gain", around(lambda x_hat, gain, bias: x_hat * (gain + 1) + bias), converter="Pass it gain - 1"),
    Mistake("layer_norm.one_added_twice", "multiplies by 2 + gain: 1 is added twice", "layer_norm_jacobian.jacobian_with_gain", around(lambda x_hat, gain, bias: x_hat * (gain + 2) + bias)),
    Mistake("layer_norm.unbiased_variance", "divides the variance by d - 1", "layer_norm_scale.unbiased_variance_ratio", affine(unbiased_variance)),
    Mistake("layer_norm.eps_outside_root", "adds eps to the root, not under it", "layer_norm.variance", affine(eps_outside)),
    Mistake("layer_norm.unbiased_deviation_plus_eps", "divides by the unbiased deviation plus eps, as x.std() + eps does", "layer_norm_scale.unbiased_variance_ratio", affine(unbiased_deviation_plus_eps)),
    Mistake("layer_norm.no_eps", "adds no eps", "layer_norm.variance", affine(without_eps)),
    Mistake("layer_norm.eps_squared", "adds eps squared to the variance", "layer_norm.variance", affine(lambda x, eps: centred(x) / rooted(variance(x), eps * eps))),
    Mistake("layer_norm.eps_in_sum", "adds eps to the sum of squares, before it is divided by d", "layer_norm.variance", affine(lambda x, eps: centred(x) / rooted(variance(x), eps / x.shape[-1]))),
    Mistake("layer_norm.eps_as_floor", "takes the larger of v and eps for v + eps", "layer_norm.variance", affine(_eps_as_floor)),
    Mistake("layer_norm.eps_ignored", "takes 1e-05 for eps, whatever eps says", "layer_norm.variance", affine(lambda x, eps: right(x, 1e-5))),
    Mistake("layer_norm.first_axis", "normalises over the first axis", "layer_norm.acts_per_token", affine(_axes("first"))),
    Mistake("layer_norm.previous_axis", "normalises over the last axis but one", "layer_norm.acts_per_token", affine(_axes("previous"))),
    Mistake("layer_norm.whole_array", "normalises over the whole array", "layer_norm.acts_per_token", affine(_axes("whole"))),
    Mistake("layer_norm.all_but_first_axis", "normalises over all axes but the first", "layer_norm.acts_per_token", affine(_axes("all but the first"))),
    Mistake("layer_norm.count_of_second_axis", "divides its sums by x.shape[1], which is d only where there are two axes", "layer_norm.mean_is_zero", affine(_count_of_second_axis)),
    Mistake("layer_norm.no_gain", "does not multiply by gain", "layer_norm_jacobian.jacobian_with_gain", around(lambda x_hat, gain, bias: x_hat + bias)),
    Mistake("layer_norm.no_bias", "does not add bias", "layer_norm_gradients.bias_gradient", around(lambda x_hat, gain, bias: x_hat * gain)),
    Mistake("layer_norm.no_gain_nor_bias", "uses neither gain nor bias", "layer_norm_jacobian.jacobian_with_gain", around(lambda x_hat, gain, bias: x_hat + 0 * gain)),
    Mistake("layer_norm.gain_first", "multiplies by gain before it normalises", "layer_norm_jacobian.jacobian_with_gain", _gain_first),
    Mistake("layer_norm.bias_first", "adds bias before it multiplies by gain", "layer_norm_gradients.bias_gradient", around(lambda x_hat, gain, bias: (x_hat + bias) * gain)),
    Mistake("layer_norm.gain_for_bias", "takes bias for gain and gain for bias", "layer_norm_jacobian.jacobian_with_gain", around(lambda x_hat, gain, bias: x_hat * bias + gain)),
    Mistake("layer_norm.no_mean", "subtracts no mean, as RMS normalisation", "layer_norm.mean_is_zero", affine(without_mean)),
    Mistake("layer_norm.mean_in_variance_only", "subtracts the mean for the variance, but not from what is divided", "layer_norm.mean_is_zero", affine(lambda x, eps: x / rooted(variance(x), eps))),
    Mistake("layer_norm.mean_square_for_variance", "subtracts the mean, and then divides by the root mean square of x itself", "layer_norm.variance", affine(lambda x, eps: centred(x) / rooted(mean(x * x), eps))),
    Mistake("layer_norm.not_divided", "subtracts the mean and divides by nothing", "layer_norm.variance", affine(lambda x, eps: centred(x) + 0 * eps)),
    Mistake("layer_norm.no_root", "divides by the variance, not by its root", "layer_norm.variance", affine(lambda x, eps: centred(x) / (variance(x) + eps))),
    Mistake("layer_norm.sum_for_variance", "divides by the root of the sum of squares, not of their mean", "layer_norm.variance", affine(lambda x, eps: centred(x) / rooted(variance(x) * x.shape[-1], eps))),
    Mistake("layer_norm.gradient_without_mean", "leaves out the mean of g", "layer_norm_gradients.gradient_sums_to_zero", wrong_dx(lambda p: p.after(p.x_hat * p.overlap)), "gradients"),
    Mistake("layer_norm.gradient_mean_twice", "subtracts the mean of g twice", "layer_norm_gradients.gradient_sums_to_zero", wrong_dx(lambda p: p.after(mean(p.g) * 2 + p.x_hat * p.overlap)), "gradients"),
    Mistake("layer_norm.gradient_adds_mean", "adds the mean of g instead of subtracting it", "layer_norm_gradients.gradient_sums_to_zero", wrong_dx(lambda p: p.after(p.x_hat * p.overlap - mean(p.g))), "gradients"),
    Mistake("layer_norm.gradient_without_x_hat", "leaves out the share along x^: the variance is taken for a constant", "layer_norm_gradients.euler_identity", wrong_dx(lambda p: p.after(mean(p.g))), "gradients"),
    Mistake("layer_norm.gradient_adds_x_hat", "adds the share along x^ instead of subtracting it", "layer_norm_gradients.euler_identity", wrong_dx(lambda p: p.after(mean(p.g) - p.x_hat * p.overlap)), "gradients"),
    Mistake("layer_norm.gradient_without_both", "takes mean and variance for constants: g / r", "layer_norm_gradients.gradient_sums_to_zero", wrong_dx(lambda p: p.after(0)), "gradients"),
    Mistake("layer_norm.gradient_sum_along_x_hat", "takes the sum of g x^ for its mean", "layer_norm_gradients.euler_identity", wrong_dx(lambda p: p.after(mean(p.g) + p.x_hat * p.overlap * p.x.shape[-1])), "gradients"),
    Mistake("layer_norm.gradient_unbiased", "divides the sum of g x^ by d - 1", "layer_norm_gradients.euler_identity", wrong_dx(lambda p: p.after(mean(p.g) + p.x_hat * p.overlap * p.x.shape[-1] / max(p.x.shape[-1] - 1, 1))), "gradients"),
    Mistake("layer_norm.gradient_count_of_second_axis", "divides its sums by x.shape[1], which is d only where there are two axes", "layer_norm_gradients.vjp", wrong_dx(_sums_over(lambda x: x.shape[min(1, x.ndim - 1)])), "gradients"),
    Mistake("layer_norm.gradient_count_behind_first_axis", "divides its sums by the size of x[0], which is d only where there are two axes", "layer_norm_gradients.vjp", wrong_dx(_sums_over(_behind_first_axis)), "gradients"),
    Mistake("layer_norm.gradient_of_output", "has y where x^ belongs, which is the same only for gain 1 and bias 0", "layer_norm_gradients.vjp", wrong_dx(_output_for_x_hat), "gradients"),
    Mistake("layer_norm.gradient_without_gain", "takes dy for g = gain dy", "layer_norm_gradients.vjp", wrong_dx(_without_gain), "gradients"),
    Mistake("layer_norm.gradient_gain_outside", "multiplies by gain after the shares are taken off, not before", "layer_norm_gradients.gradient_sums_to_zero", wrong_dx(_gain_outside), "gradients"),
    Mistake("layer_norm.gradient_without_root", "does not divide by r", "layer_norm_gradients.vjp", wrong_dx(lambda p: p.g - mean(p.g) - p.x_hat * p.overlap), "gradients"),
    Mistake("layer_norm.gradient_root_squared", "divides by r squared, which is v + eps", "layer_norm_gradients.vjp", wrong_dx(lambda p: layer_norm_dx(p) / p.root), "gradients"),
    Mistake("layer_norm.dgain_of_x", "has x for x^ in dgain", "layer_norm_gradients.gain_gradient", wrong_dgain(lambda p: over_rows(p.dy * p.x)), "gradients"),
    Mistake("layer_norm.dgain_of_centred", "has x - mean x for x^ in dgain", "layer_norm_gradients.gain_gradient", wrong_dgain(lambda p: over_rows(p.dy * p.x_hat * p.root)), "gradients"),
    Mistake("layer_norm.dgain_of_g", "has gain dy for dy in dgain", "layer_norm_gradients.gain_gradient", wrong_dgain(lambda p: over_rows(p.g * p.x_hat)), "gradients"),
    Mistake("layer_norm.dbias_of_g", "has gain dy for dy in dbias", "layer_norm_gradients.bias_gradient", wrong_dbias(lambda p: over_rows(p.g)), "gradients"),
    Mistake("layer_norm.parameters_averaged", "takes means over the rows for the sums in dgain and dbias", "layer_norm_gradients.gain_gradient", _gradients(layer_norm_dx, lambda p: dgain(p) / _rows_of(p.x), lambda p: dbias(p) / _rows_of(p.x)), "gradients"),
    Mistake("layer_norm.parameters_averaged_over_first_axis", "divides dgain and dbias by the size of the first axis", "layer_norm_gradients.gain_gradient", _gradients(layer_norm_dx, lambda p: dgain(p) / _batch(p.x), lambda p: dbias(p) / _batch(p.x)), "gradients"),
    Mistake("layer_norm.parameters_of_last_row", "keeps the last row of dgain and dbias instead of the sum", "layer_norm_gradients.gain_gradient", _gradients(layer_norm_dx, lambda p: _last_row(p.dy * p.x_hat), lambda p: _last_row(p.dy)), "gradients"),
    Mistake("layer_norm.dgain_for_dbias", "returns dbias for dgain and dgain for dbias", "layer_norm_gradients.gain_gradient", _gradients(layer_norm_dx, dbias, dgain), "gradients"),
    Instability("layer_norm.one_pass_variance", "takes mean x^2 - (mean x)^2 for the variance, which cancels", "layer_norm.shift_invariance", affine(one_pass), dtypes=("float64", "float32")),
    Instability("layer_norm.narrow_sums", "keeps its sums in 16 bits, where long ones stand still", "layer_norm.mean_is_zero", affine(narrow_sums), dtypes=("bfloat16", "float16"), narrow_sums=True),
    Instability("layer_norm.gradient_narrow_sums", "adds up dgain and dbias over the rows in 16 bits", "layer_norm_gradients.gain_gradient", _narrow_row_sums, "gradients", ("bfloat16", "float16"), narrow_sums=True),
    Instability("layer_norm.squares_overflow", "squares in float16, where 256^2 is infinite", "layer_norm.variance", affine(narrow_squares), dtypes=("float16",)),
    Instability("layer_norm.eps_underflows", "has eps in float16, where 1e-5 is below the least normal number and is flushed to zero", "layer_norm.variance", affine(flushed_eps), dtypes=("float16",)),
)  # fmt: skip


def _scaled(theta: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    return right(x, eps) * theta * gain + bias


def _with_eps(theta: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    return right(x, theta) * gain + bias


def _added_to_gain(theta: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    return right(x, eps) * (gain + theta) + bias


def _gradients_with_eps(theta: Any, dy: Any, x: Any, gain: Any, bias: Any, *, eps: Any) -> Any:
    p = layer_norm_parts(dy, x, gain, bias, theta)
    return layer_norm_dx(p), dgain(p), dbias(p)


FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", _with_eps, (1e-14, 1.0)),
    Fit("scale of x^", "1", "layer_norm.variance", _scaled, (1e-3, 1e3)),
    Fit("what is added to gain", "0", "layer_norm_jacobian.jacobian_with_gain", _added_to_gain, (-5.0, 5.0), False),
    Fit("eps", "the option's value", "layer_norm_gradients.vjp", _gradients_with_eps, (1e-14, 1.0), True, "gradients"),
)

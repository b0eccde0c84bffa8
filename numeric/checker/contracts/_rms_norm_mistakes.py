"""What goes wrong in RMS normalisation: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Fit, Formula, Instability, Mistake, Variant
from ._norm_emulations import flushed_eps_without_mean, narrow_square, narrow_sum
from ._norm_formulas import (
    Part,
    Parts,
    centred,
    dgain,
    mean,
    other_axes,
    over_rows,
    rms_norm_dx,
    rms_norm_parts,
    rooted,
    variance,
)


def _scaled(normalise: Callable[[Any, Any], Any]) -> Formula:
    """gain * normalise(x, eps)."""

    def formula(x: Any, gain: Any, *, eps: Any) -> Any:
        return normalise(x, eps) * gain

    return formula


def _around(combine: Callable[[Any, Any], Any]) -> Formula:
    """combine(x^, gain), with the right x^."""

    def formula(x: Any, gain: Any, *, eps: Any) -> Any:
        return combine(_right(x, eps), gain)

    return formula


def _right(x: Any, eps: Any) -> Any:
    return x / rooted(mean(x * x), eps)


def _axes(which: str) -> Callable[[Any, Any], Any]:
    def normalise(x: Any, eps: Any) -> Any:
        return x / rooted(mean(x * x, other_axes(x, which)), eps)

    return normalise


def _by_one_less(x: Any, eps: Any) -> Any:
    d = x.shape[-1]
    return x / rooted(mean(x * x) * d / (d - 1), eps) if d > 1 else 0 * x  # floats divide by infinity there


def _eps_as_floor(x: Any, eps: Any) -> Any:
    m = mean(x * x)
    return x / np.sqrt(np.where(m > eps, m, 0 * m + eps))


def _count_of_second_axis(x: Any, eps: Any) -> Any:
    return x / rooted(mean(x * x) * x.shape[-1] / x.shape[min(1, x.ndim - 1)], eps)


def _gain_first(x: Any, gain: Any, *, eps: Any) -> Any:
    return _right(x * gain, eps)


def _gradients(*of: Part) -> Formula:
    def formula(dy: Any, x: Any, gain: Any, *, eps: Any) -> Any:
        p = rms_norm_parts(dy, x, gain, eps)
        return tuple(each(p) for each in of)

    return formula


def _wrong_dx(dx: Part) -> Formula:
    return _gradients(dx, dgain)


def _wrong_dgain(part: Part) -> Formula:
    return _gradients(rms_norm_dx, part)


def _d(p: Parts) -> int:
    return int(p.x.shape[-1])


def _gain_outside(p: Parts) -> Any:
    return p.gain * (p.dy - p.x_hat * mean(p.dy * p.x_hat)) / p.root


def _output_for_x_hat(p: Parts) -> Any:
    y = p.x_hat * p.gain
    return p.after(y * mean(p.g * y))


def _square_for_cube(p: Parts) -> Any:
    return p.g / p.root - p.x * mean(p.g * p.x) / (p.root * p.root)


def _sum_over(count: Callable[[Any], int]) -> Part:
    """The sum over the last axis, divided by this in place of d."""

    def dx(p: Parts) -> Any:
        return p.after(p.x_hat * p.overlap * (_d(p) / count(p.x)))

    return dx


def _behind_first_axis(x: Any) -> int:
    return int(np.prod(x.shape[1:]))


def _averaged(p: Parts) -> Any:
    return dgain(p) / max(int(np.prod(p.x.shape[:-1])), 1)


def _last_row(p: Parts) -> Any:
    return (p.dy * p.x_hat).reshape(-1, _d(p))[-1]


MISTAKES = (
    Variant("rms_norm.one_plus_gain", "multiplies by 1 + gain", "rms_norm_gradients.gain_gradient", _around(lambda x_hat, gain: x_hat * (gain + 1)), converter="Pass it gain - 1"),
    Mistake("rms_norm.one_added_twice", "multiplies by 2 + gain: 1 is added twice", "rms_norm_gradients.gain_gradient", _around(lambda x_hat, gain: x_hat * (gain + 2))),
    Mistake("rms_norm.mean_subtracted", "subtracts the mean, as layer normalisation", "rms_norm.layer_norm_of_centred", _scaled(lambda x, eps: centred(x) / rooted(variance(x), eps))),
    Mistake("rms_norm.variance_for_mean_square", "divides by the standard deviation, without subtracting the mean", "rms_norm.value", _scaled(lambda x, eps: x / rooted(variance(x), eps))),
    Mistake("rms_norm.mean_square_of_mean", "subtracts the mean, and then divides by the root mean square of x itself", "rms_norm.value", _scaled(lambda x, eps: centred(x) / rooted(mean(x * x), eps))),
    Mistake("rms_norm.eps_outside_root", "adds eps to the root, not under it", "rms_norm.value", _scaled(lambda x, eps: x / (np.sqrt(mean(x * x)) + eps))),
    Mistake("rms_norm.no_eps", "adds no eps", "rms_norm.value", _scaled(lambda x, eps: x / np.sqrt(mean(x * x)))),
    Mistake("rms_norm.eps_in_sum", "adds eps to the sum of squares, before it is divided by d", "rms_norm.value", _scaled(lambda x, eps: x / rooted(mean(x * x), eps / x.shape[-1]))),
    Mistake("rms_norm.eps_as_floor", "takes the larger of mean x^2 and eps for their sum", "rms_norm.value", _scaled(_eps_as_floor)),
    Mistake("rms_norm.no_root", "divides by the mean square, not by its root", "rms_norm.value", _scaled(lambda x, eps: x / (mean(x * x) + eps))),
    Mistake("rms_norm.multiplied_by_root", "multiplies by the root instead of dividing", "rms_norm.value", _scaled(lambda x, eps: x * rooted(mean(x * x), eps))),
    Mistake("rms_norm.sum_for_mean", "divides by the root of the sum of squares, not of their mean", "rms_norm.value", _scaled(lambda x, eps: x / rooted(mean(x * x) * x.shape[-1], eps))),
    Mistake("rms_norm.mean_of_d_less_one", "divides the sum of squares by d - 1", "rms_norm.value", _scaled(_by_one_less)),
    Mistake("rms_norm.mean_of_magnitudes", "divides by the mean of |x|, not by the root of that of x^2", "rms_norm.value", _scaled(lambda x, eps: x / (mean(np.abs(x)) + eps))),
    Mistake("rms_norm.first_axis", "takes the mean over the first axis", "rms_norm_gradients.jacobian", _scaled(_axes("first"))),
    Mistake("rms_norm.previous_axis", "takes the mean over the last axis but one", "rms_norm_gradients.jacobian", _scaled(_axes("previous"))),
    Mistake("rms_norm.whole_array", "takes the mean over the whole array", "rms_norm_gradients.jacobian", _scaled(_axes("whole"))),
    Mistake("rms_norm.all_but_first_axis", "takes the mean over all axes but the first", "rms_norm_gradients.jacobian", _scaled(_axes("all but the first"))),
    Mistake("rms_norm.count_of_second_axis", "divides its sum by x.shape[1], which is d only where there are two axes", "rms_norm.value", _scaled(_count_of_second_axis)),
    Mistake("rms_norm.no_gain", "does not multiply by gain", "rms_norm_gradients.gain_gradient", _around(lambda x_hat, gain: x_hat + 0 * gain)),
    Mistake("rms_norm.gain_first", "multiplies by gain before it normalises", "rms_norm_gradients.gain_gradient", _gain_first),
    Mistake("rms_norm.gain_added", "adds gain instead of multiplying by it", "rms_norm_gradients.gain_gradient", _around(lambda x_hat, gain: x_hat + gain)),
    Mistake("rms_norm.gradient_without_gain", "takes dy for g = gain dy", "rms_norm_gradients.vjp", _wrong_dx(lambda p: rms_norm_dx(p._replace(gain=1))), "gradients"),
    Mistake("rms_norm.gradient_gain_outside", "multiplies by gain after the share along x^ is taken off, not before", "rms_norm_gradients.euler_identity", _wrong_dx(_gain_outside), "gradients"),
    Mistake("rms_norm.gradient_without_x_hat", "leaves out the share along x^: the root is taken for a constant", "rms_norm_gradients.euler_identity", _wrong_dx(lambda p: p.after(0)), "gradients"),
    Mistake("rms_norm.gradient_adds_x_hat", "adds the share along x^ instead of subtracting it", "rms_norm_gradients.euler_identity", _wrong_dx(lambda p: p.after(-p.x_hat * p.overlap)), "gradients"),
    Mistake("rms_norm.gradient_sum_along_x_hat", "takes the sum of g x^ for its mean", "rms_norm_gradients.euler_identity", _wrong_dx(lambda p: p.after(p.x_hat * p.overlap * _d(p))), "gradients"),
    Mistake("rms_norm.gradient_less_mean", "subtracts the mean of g too, as layer normalisation", "rms_norm_gradients.vjp", _wrong_dx(lambda p: p.after(mean(p.g) + p.x_hat * p.overlap)), "gradients"),
    Mistake("rms_norm.gradient_without_root", "does not divide by r", "rms_norm_gradients.vjp", _wrong_dx(lambda p: p.g - p.x_hat * p.overlap), "gradients"),
    Mistake("rms_norm.gradient_root_squared", "divides by r squared, which is m + eps", "rms_norm_gradients.vjp", _wrong_dx(lambda p: rms_norm_dx(p) / p.root), "gradients"),
    Mistake("rms_norm.gradient_square_for_cube", "divides x mean(g x) by r^2, not by r^3", "rms_norm_gradients.vjp", _wrong_dx(_square_for_cube), "gradients"),
    Mistake("rms_norm.gradient_of_output", "has y where x^ belongs, which is the same only for gain 1", "rms_norm_gradients.vjp", _wrong_dx(_output_for_x_hat), "gradients"),
    Mistake("rms_norm.gradient_count_of_second_axis", "divides its sum by x.shape[1], which is d only where there are two axes", "rms_norm_gradients.vjp", _wrong_dx(_sum_over(lambda x: x.shape[min(1, x.ndim - 1)])), "gradients"),
    Mistake("rms_norm.gradient_count_behind_first_axis", "divides its sum by the size of x[0], which is d only where there are two axes", "rms_norm_gradients.vjp", _wrong_dx(_sum_over(_behind_first_axis)), "gradients"),
    Mistake("rms_norm.dgain_of_x", "has x for x^ in dgain", "rms_norm_gradients.gain_gradient", _wrong_dgain(lambda p: over_rows(p.dy * p.x)), "gradients"),
    Mistake("rms_norm.dgain_of_g", "has gain dy for dy in dgain", "rms_norm_gradients.gain_gradient", _wrong_dgain(lambda p: over_rows(p.g * p.x_hat)), "gradients"),
    Mistake("rms_norm.dgain_averaged", "takes the mean over the rows for the sum in dgain", "rms_norm_gradients.gain_gradient", _wrong_dgain(_averaged), "gradients"),
    Mistake("rms_norm.dgain_of_last_row", "keeps the last row of dgain instead of the sum", "rms_norm_gradients.gain_gradient", _wrong_dgain(_last_row), "gradients"),
    Instability("rms_norm.squares_overflow", "squares in float16, where 256^2 is infinite", "rms_norm.scale_law", _scaled(narrow_square), dtypes=("float16",)),
    Instability("rms_norm.narrow_sums", "keeps its sum in 16 bits, where a long one stands still", "rms_norm.value", _scaled(narrow_sum), dtypes=("bfloat16", "float16"), narrow_sums=True),
    Instability("rms_norm.eps_underflows", "has eps in float16, where 1e-5 is below the least normal number and is flushed to zero", "rms_norm.value", _scaled(flushed_eps_without_mean), dtypes=("float16",)),
)  # fmt: skip


def _with_eps(theta: Any, x: Any, gain: Any, *, eps: Any) -> Any:
    return _right(x, theta) * gain


def _with_scale(theta: Any, x: Any, gain: Any, *, eps: Any) -> Any:
    return _right(x, eps) * theta * gain


def _added_to_gain(theta: Any, x: Any, gain: Any, *, eps: Any) -> Any:
    return _right(x, eps) * (gain + theta)


def _gradients_with_eps(theta: Any, dy: Any, x: Any, gain: Any, *, eps: Any) -> Any:
    p = rms_norm_parts(dy, x, gain, theta)
    return rms_norm_dx(p), dgain(p)


FITS = (
    Fit("eps", "the option's value", "rms_norm.value", _with_eps, (1e-14, 1.0)),
    Fit("scale of x^", "1", "rms_norm.value", _with_scale, (1e-3, 1e3)),
    Fit("what is added to gain", "0", "rms_norm_gradients.gain_gradient", _added_to_gain, (-5.0, 5.0), False),
    Fit("eps", "the option's value", "rms_norm_gradients.vjp", _gradients_with_eps, (1e-14, 1.0), True, "gradients"),
)

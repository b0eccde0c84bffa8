"""The orders in which a correct implementation may normalise rows, and take the gradients, as bounds.

    variance    the mean of (x - m)^2, where an error of m, the same all along the row, counts by its square, as the deviations
                sum to zero; Welford's update or merged pairs, which err by n u sqrt(v (v + m^2)) at first order (T. F. Chan,
                G. H. Golub, R. J. LeVeque, Am. Stat. 37, 1983); mean x^2 - m^2, in one pass, where that loses at most three
                bits: m^2 <= 8 (v + eps)
    x^          (x - m) / r;  (x - m) (1 / r);  x (1 / r) - m (1 / r), as in fused kernels
    y           x^ gain + bias;  (x - m) (gain / r) + bias;  x (gain / r) + (bias - m gain / r)
    dx          g less its shares, in any order, then over r; n g - sum g - x^ sum g x^ over n r; g / r less its share along
                x - m, and then less its mean, which is autograd's; a g + b x + c with numbers b and c for a row, in the wide
                format, as in PyTorch's kernels; the Jacobian as a matrix
    dgain       sums over all rows at once, or over one axis after another, each stored

Arguments may be rounded themselves, as inside a block. The reciprocal root may be one instruction, which errs by up to 2 ulps
(rsqrtf in the CUDA C++ Programming Guide, "Mathematical functions").
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..rounding import Rounded, any_of

BITS_LOST = 8.0  # 1 + m^2 / v up to 9: three bits
FIRST_ORDER = 2.0**-4  # relative errors below it are bounded by their first order and twice its square
RECIPROCAL_ROOT = 4.0  # in units u


class Rows(NamedTuple):
    """Rows and what they are normalised with; `mean` is None where none is subtracted."""

    x: Rounded
    mean: Rounded | None  # (..., 1)
    centred: Rounded
    root: Rounded  # (..., 1)
    inverse: Rounded  # (..., 1)
    x_hat: Rounded


def mean(x: Rounded) -> Rounded:
    return x.sum(-1).over(x.value.shape[-1])


def centred_rows(x: Rounded, eps: float) -> Rows:
    """For layer normalisation."""
    m = mean(x)
    two_passes = _two_passes(x, m)
    one_pass = mean(x * x) - m * m
    close = m.value**2 <= BITS_LOST * (two_passes.value + eps)
    one_pass.worst = np.where(close, one_pass.worst, np.inf)
    return _rows(x, m, x - m, any_of([two_passes, _updated(x, m, two_passes), one_pass]), eps)


def _two_passes(x: Rounded, m: Rounded) -> Rounded:
    """With t the true deviations, D the error of m and rho what else each deviation errs by, mean (t + D + rho)^2 is
    v + D^2 + mean (2 (t + D) rho + rho^2), since mean t = 0.
    """
    own = x - Rounded(m.value, np.zeros_like(m.value), np.zeros_like(m.value), x.precision)
    reached = Rounded(np.abs(own.value) + m.worst, own.worst, own.square, x.precision)
    squares = mean(reached * reached).loosened(m.worst**2)
    return Rounded((own.value**2).mean(-1, keepdims=True), squares.worst, squares.square, x.precision)


def _updated(x: Rounded, m: Rounded, v: Rounded) -> Rounded:
    """Welford's update, in the wide format; no bound where the first order is not enough to tell."""
    n, wide = x.value.shape[-1], x.precision.wide
    condition = np.sqrt(1 + m.value**2 / v.value)
    relative = (n + 2) * wide.unit * np.where(np.isfinite(condition), condition, np.inf)
    relative = np.where(relative < FIRST_ORDER, relative * (1 + 2 * relative), np.inf)
    given = ((2 * np.abs(x.value - m.value) + x.worst) * x.worst).mean(-1, keepdims=True)
    worst = np.where(np.isfinite(relative), relative, 0.0) * v.value + np.where(np.isfinite(relative), given, np.inf)
    return Rounded(v.value, worst, worst**2, x.precision).cast(x.precision.stored)


def plain_rows(x: Rounded, eps: float) -> Rows:
    """For RMS normalisation."""
    return _rows(x, None, x, mean(x * x), eps)


def _rows(x: Rounded, m: Rounded | None, centred: Rounded, spread: Rounded, eps: float) -> Rows:
    root = (spread + Rounded.given(eps, x.precision)).sqrt()
    inverse = root.reciprocal()
    inverse = inverse.loosened(RECIPROCAL_ROOT * x.precision.stored.unit * inverse.value)
    ways = [centred / root, centred * inverse]
    if m is not None:
        ways.append(_apart(x, m, inverse))
    return Rows(x, m, centred, root, inverse, any_of(ways))


def output_bound(rows: Rows, gain: Rounded, bias: Rounded | None) -> Rounded:
    scale = rows.inverse * gain
    scaled = [rows.x_hat * gain, rows.centred * scale]
    if rows.mean is not None:
        scaled.append(_apart(rows.x, rows.mean, scale))
    if bias is None:
        return any_of(scaled)
    ways = [each + bias for each in scaled]
    if rows.mean is not None:
        # bias - m gain / r is rounded before x gain / r is added
        ways[-1] = ways[-1].loosened(bias.precision.stored.unit * (_size(bias) + _size(rows.mean) * _size(scale)))
    return any_of(ways)


def gradient_bounds(rows: Rows, dy: Rounded, gain: Rounded) -> tuple[Rounded, Rounded, Rounded]:
    """For x, gain and bias."""
    return inputs_gradient(rows, dy * gain), over_rows(dy * rows.x_hat), over_rows(dy)


def over_rows(terms: Rounded) -> Rounded:
    """The sum over all axes but the last."""
    shape = terms.value.shape
    flat = terms.rearranged(lambda part: part.reshape(-1, shape[-1])).sum(0).rearranged(lambda part: part[0])
    one_by_one = terms
    for _ in shape[:-1]:
        one_by_one = one_by_one.sum(0).rearranged(lambda part: part[0])
    last_first = terms
    for axis in reversed(range(len(shape) - 1)):
        last_first = last_first.sum(axis).rearranged(partial(np.squeeze, axis=axis))
    return any_of([flat, one_by_one, last_first])


def inputs_gradient(rows: Rows, g: Rounded) -> Rounded:
    """Of x, from g = gain dy."""
    x_hat, inverse, n = rows.x_hat, rows.inverse, g.value.shape[-1]
    centred, unit = rows.mean is not None, g.precision.stored.unit
    overlap = mean(g * x_hat)
    terms = g.magnitude() + x_hat.magnitude() * mean((g * x_hat).magnitude())
    if centred:
        terms = terms + mean(g.magnitude())
    left = g - mean(g) - x_hat * overlap if centred else g - x_hat * overlap
    left = left.loosened(2 * unit * _size(terms))  # the shares may be taken off in another order
    # autograd rounds three times more on its way through the root
    through_root = (g - x_hat * overlap).loosened(3 * unit * _size(terms))
    sums = g * Rounded.given(n, g.precision)
    sums = sums - g.sum(-1) if centred else sums
    ways = [
        left / rows.root,
        left * inverse,
        (sums - x_hat * (g * x_hat).sum(-1)) * inverse.over(n),
        (through_root - mean(through_root) if centred else through_root) * inverse,
        (left * inverse).loosened(n * g.precision.wide.unit * _size(terms * inverse)),
    ]
    return any_of([*ways, _by_coefficients(rows, g)] if centred else ways)


def _by_coefficients(rows: Rows, g: Rounded) -> Rounded:
    """a g + b x + c, where b and c are the same numbers all along a row; in the wide format, then stored."""
    wide, n = g.precision.widened(), g.value.shape[-1]
    x, g_wide, inverse = rows.x.within(wide), g.within(wide), rows.inverse.within(wide)
    m, total, scaled = mean(x), g_wide.sum(-1), g_wide * inverse
    b = (((g_wide * x).sum(-1) - total * m) * inverse * inverse * inverse).over(n)
    share = (total * inverse).over(n)
    way = scaled - _apart(x, m, b) - share
    rounded_apart = wide.stored.unit * (_size(scaled) + _size(share) + 2 * _size(m) * _size(b))
    return way.loosened(rounded_apart).within(g.precision)


def _apart(x: Rounded, m: Rounded, factor: Rounded) -> Rounded:
    """x f - m f: the factor errs the same in both, so its error counts for x - m only."""
    difference = Rounded(x.value - m.value, x.worst + m.worst, x.square + m.square, x.precision)
    form = x.precision.stored
    size = (_size(x) + _size(m)) * _size(factor)
    return (difference * factor).loosened(form.unit * size + 2 * np.minimum(form.tiny, size))


def _size(x: Rounded) -> np.ndarray:
    """What no computed number exceeds."""
    return np.abs(x.value) + 2 * x.worst

"""Layers with one mistake planted in them, each with a theorem that sees it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from numeric.arithmetic import BALL, is_balls, to_balls
from numeric.layers import log_softmax, positional_encoding, rotary, softmax


class Mutant(NamedTuple):
    name: str
    layer: Any
    function: str  # of the layer, which `wrong` stands in for
    wrong: Callable[..., Any]
    seen_by: str  # a theorem

    def plant(self, monkeypatch):
        monkeypatch.setattr(self.layer, self.function, self.wrong)


def total(x, cache):
    return x.sum(cache.axis, keepdims=True)


def largest(x, cache):
    return x.max(cache.axis, keepdims=True)


# What the mutants call is kept here, so that planting one does not change another.
softmax_forward, softmax_backward, softmax_jacobian = softmax.forward, softmax.backward, softmax.jacobian
log_forward, log_backward, log_jvp, log_jacobian = (
    log_softmax.forward,
    log_softmax.backward,
    log_softmax.jvp,
    log_softmax.jacobian,
)
encode, rotation, frequencies = (
    positional_encoding.encode,
    positional_encoding.rotation,
    positional_encoding.frequencies,
)
angles, turn, rotary_forward = positional_encoding.angles, rotary._turn, rotary.forward


def changed_output(change):
    """softmax.forward whose output, and the one in the cache, is changed."""

    def forward(z, axis=-1, temperature=1.0):
        s, cache = softmax_forward(z, axis, temperature)
        return change(s), cache._replace(s=change(s))

    return forward


def changed_logits(forward, change):
    return lambda z, axis=-1, temperature=1.0: forward(change(z, temperature), axis, temperature)


def without_temperature(z, axis=-1, temperature=1.0):
    return softmax_forward(z, axis)


def in_float32(s):
    return s if is_balls(s) else s.astype(np.float32).astype(np.float64)


def rounded_balls(s):
    return np.array([arb(float(x), 1e-16) for x in s], dtype=object) if is_balls(s) else s


def binary_logarithm(z, axis=-1, temperature=1.0):
    y, cache = log_forward(z, axis, temperature)
    return y / (arb(2).log() if is_balls(z) else np.log(2)), cache


def nothing_subtracted(z, axis=-1, temperature=1.0):
    return z / (to_balls(temperature) if is_balls(z) else temperature), log_forward(z, axis, temperature)[1]


def exponent_by_column(positions, d_model, base=10000.0, dtype=None):
    """w = base^(-c/d) in column c, so that a cosine does not share its sine's frequency."""
    columns = np.arange(d_model)
    exponents = (to_balls(columns) if is_balls(positions) else columns) / d_model
    theta = positions[:, None] * base**-exponents
    code = np.empty_like(theta)
    code[:, 0::2], code[:, 1::2] = np.sin(theta[:, 0::2]), np.cos(theta[:, 1::2])
    return code


def reordered(order):
    return lambda positions, d_model, base=10000.0, dtype=None: encode(positions, d_model, base, dtype)[
        :, order(d_model)
    ]


def halves_first(d_model):
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])


def shifted_frequencies(d_model, base=10000.0, dtype=np.float64):
    """base^(-2(i+1)/d): counted from one."""
    exact = np.dtype(dtype) == BALL
    return frequencies(d_model, base, dtype) * base ** (-arb(2) / d_model if exact else -2 / d_model)


def turned_in_halves(x, cos, sin):
    """Pairs (i, i + d/2) instead of neighbours."""
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def raises(*arguments, **options):
    raise RuntimeError("planted")


MUTANTS = [
    Mutant("softmax: logits doubled", softmax, "forward", changed_logits(softmax_forward, lambda z, t: 2 * z), "softmax.relative_form"),
    Mutant("softmax: temperature ignored", softmax, "forward", without_temperature, "softmax.relative_form"),
    Mutant("softmax: multiplied by the temperature", softmax, "forward", changed_logits(softmax_forward, lambda z, t: z * t * t), "softmax.shift_invariance"),
    Mutant("softmax: not normalised, by 1e-15", softmax, "forward", changed_output(lambda s: s * (1 + 1e-15)), "softmax.sums_to_one"),
    Mutant("softmax: reversed", softmax, "forward", changed_output(lambda s: s[::-1]), "softmax.permutation_equivariance"),
    Mutant("softmax: float64 rounded to float32", softmax, "forward", changed_output(in_float32), "softmax.positive"),
    Mutant("softmax: balls rounded to float64", softmax, "forward", changed_output(rounded_balls), "softmax.at_most_one"),
    Mutant("softmax: NaN", softmax, "forward", changed_output(lambda s: s * float("nan")), "softmax.pair_sum"),
    Mutant("softmax: forward raises", softmax, "forward", raises, "softmax.zero_scale_is_uniform"),
    Mutant("softmax: backward without its sum", softmax, "backward", lambda g, c: c.s * g / c.temperature, "softmax_jacobian.rows_sum_to_zero"),
    Mutant("softmax: backward with max for sum", softmax, "backward", lambda g, c: c.s * (g - largest(c.s * g, c)) / c.temperature, "softmax_jacobian.vjp"),
    Mutant("softmax: backward adds its sum", softmax, "backward", lambda g, c: c.s * (g + total(c.s * g, c)) / c.temperature, "softmax_jacobian.gradient_is_jacobian_times_cotangent"),
    Mutant("softmax: backward forgets the temperature", softmax, "backward", lambda g, c: softmax_backward(g, c) * c.temperature, "softmax_jacobian.jacobian"),
    Mutant("softmax: jvp of the other sign", softmax, "jvp", lambda v, c: -softmax_backward(v, c), "softmax_jacobian.jvp"),
    Mutant("softmax: jvp without the weights", softmax, "jvp", lambda v, c: (v - total(c.s * v, c)) / c.temperature, "softmax_saturation.initial_slope"),
    Mutant("softmax: jacobian without its diagonal", softmax, "jacobian", lambda c: -c.s[:, None] * c.s / c.temperature, "softmax_jacobian.trace"),
    Mutant("softmax: jacobian forgets the temperature", softmax, "jacobian", lambda c: softmax_jacobian(c) * c.temperature, "softmax_bounds.absolute_row_sum"),
    Mutant("log_softmax: base 2", log_softmax, "forward", binary_logarithm, "softmax_derivatives.log_softmax_is_log_of_softmax"),
    Mutant("log_softmax: nothing subtracted", log_softmax, "forward", nothing_subtracted, "softmax_derivatives.entropy_of_softmax"),
    Mutant("log_softmax: jvp transposed", log_softmax, "jvp", log_backward, "softmax_derivatives.logsumexp_along_a_curve"),
    Mutant("log_softmax: backward transposed", log_softmax, "backward", log_jvp, "softmax_derivatives.log_softmax_jacobian"),
    Mutant("log_softmax: backward with max for sum", log_softmax, "backward", lambda g, c: (g - c.s * largest(g, c)) / c.temperature, "softmax_derivatives.log_softmax_jacobian"),
    Mutant("log_softmax: jacobian transposed", log_softmax, "jacobian", lambda c: log_jacobian(c).T, "softmax_derivatives.gradient_of_logsumexp"),
    Mutant("encode: exponent c/d in column c", positional_encoding, "encode", exponent_by_column, "positional_encoding.odd_columns_are_cosines"),
    Mutant("encode: cosines first", positional_encoding, "encode", reordered(lambda d: np.arange(d) ^ 1), "positional_encoding.even_columns_are_sines"),
    Mutant("encode: all sines first", positional_encoding, "encode", reordered(halves_first), "positional_encoding.shift_is_rotation"),
    Mutant("rotation: of the other sign", positional_encoding, "rotation", lambda k, *more: rotation(-k, *more), "positional_encoding.block_shifts_pair"),
    Mutant("rotation: no rotation", positional_encoding, "rotation", lambda k, *more: 1.5 * rotation(k, *more), "position_rotations.determinant_is_one"),
    Mutant("frequencies: counted from one", positional_encoding, "frequencies", shifted_frequencies, "positional_encoding.shortest_wavelength"),
    Mutant("frequencies: exponent i/d", positional_encoding, "frequencies", lambda d, b, t=np.float64: frequencies(d, b, t) ** 0.5, "positional_encoding.longest_wavelength"),
    Mutant("angles: too fast", positional_encoding, "angles", lambda *arguments: 1.125 * angles(*arguments), "relative_position.quarter_turns_repeat"),
    Mutant("rotary: turned back", rotary, "forward", lambda x, p, base: rotary_forward(x, -p, base), "rotary.rotary_is_inverse_shift"),
    Mutant("rotary: backward turns forward", rotary, "backward", lambda y, c: turn(y, c.cos, c.sin), "rotary.rotation_moves_across"),
    Mutant("rotary: in halves", rotary, "_turn", turned_in_halves, "rotary.score_depends_on_relative_position"),
    Mutant("rotary: lengthened", rotary, "_turn", lambda *arguments: 1.5 * turn(*arguments), "rotary.isometry"),
]  # fmt: skip

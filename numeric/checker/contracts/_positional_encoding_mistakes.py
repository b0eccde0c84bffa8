"""What goes wrong in sinusoidal positional encoding: formulas, each with what it breaks. They compute in balls."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from flint import arb

from ...arithmetic import to_balls
from ..mistake import Fit, Instability, Mistake, Variant

Exponents = Callable[[np.ndarray, int], Any]  # from the pairs 0, 1, ... and d to the exponents of 1 / base

SINES = "positional_encoding.even_columns_are_sines"
COSINES = "positional_encoding.odd_columns_are_cosines"
SHIFT = "positional_encoding.shift_is_rotation"


def right_exponents(pairs: np.ndarray, d: int) -> Any:
    return 2 * pairs / d


def angles(positions: Any, d: int, base: Any, exponents: Exponents = right_exponents) -> Any:
    """(n, d/2) balls; the base, and the positions, may be balls."""
    pairs = to_balls(np.arange(d // 2))
    return to_balls(positions)[:, None] * _as_ball(base) ** -exponents(pairs, d)


def _as_ball(number: Any) -> Any:
    return to_balls(number)[()]


def by_turns(even: Any, odd: Any) -> Any:
    return np.stack([even, odd], -1).reshape(len(even), -1)


def in_halves(first: Any, second: Any) -> Any:
    return np.concatenate([first, second], -1)


def encoded(theta: Any, columns: Callable[[Any, Any], Any] = by_turns) -> Any:
    return columns(np.sin(theta), np.cos(theta))


def _with(exponents: Exponents, columns: Callable[[Any, Any], Any] = by_turns) -> Any:
    def formula(length: int, d_model: int, *, base: float) -> Any:
        return encoded(angles(np.arange(length), d_model, base, exponents), columns)

    return formula


def _laid_out(columns: Callable[[Any, Any], Any]) -> Any:
    return _with(right_exponents, columns)


def _at(positions: Callable[[int], Any]) -> Any:
    def formula(length: int, d_model: int, *, base: float) -> Any:
        return encoded(angles(positions(length), d_model, base))

    return formula


def _of_base(change: Callable[[Any], Any]) -> Any:
    def formula(length: int, d_model: int, *, base: float) -> Any:
        return encoded(angles(np.arange(length), d_model, change(_as_ball(base))))

    return formula


def _one_exponent_a_column(step: int) -> Any:
    def formula(length: int, d_model: int, *, base: float) -> Any:
        column = np.arange(d_model)
        exponents = to_balls(step * column) / d_model
        theta = to_balls(np.arange(length))[:, None] * _as_ball(base) ** -exponents
        return np.where(column % 2 == 0, np.sin(theta), np.cos(theta))

    return formula


def _last_frequency_reached(pairs: np.ndarray, d: int) -> Any:
    return pairs / max(d // 2 - 1, 1)


# Right formulas in too coarse a format


def _in_format(dtype: Any, what: str) -> Any:
    def emulated(length: int, d_model: int, *, base: float = 10000.0) -> Any:
        positions = np.arange(length).astype(dtype)
        frequencies = float(base) ** (-np.arange(0, d_model, 2) / d_model)
        if what == "positions":
            theta = positions.astype(np.float64)[:, None] * frequencies
        else:
            theta = (positions[:, None] * frequencies.astype(dtype)).astype(np.float64)
        return encoded(theta)

    return emulated


MISTAKES = (
    Variant("positional_encoding.concatenated", "has all sines in the first half of the columns and all cosines in the second", "positional_encoding.half_split_is_a_permutation", _laid_out(in_halves), converter="Its columns i and i + d/2 are the columns 2i and 2i + 1 asked for: take code[:, np.arange(d).reshape(2, -1).T.ravel()]"),
    Variant("positional_encoding.cosine_first", "has the cosine at column 2i and the sine at 2i + 1", SINES, _laid_out(lambda sin, cos: by_turns(cos, sin)), converter="Exchange the columns of each pair: code.reshape(n, -1, 2)[..., ::-1].reshape(n, -1)"),
    Variant("positional_encoding.concatenated_cosine_first", "has all cosines in the first half of the columns and all sines in the second", "positional_encoding.half_split_is_a_permutation", _laid_out(lambda sin, cos: in_halves(cos, sin)), converter="Its columns i + d/2 and i are the columns 2i and 2i + 1 asked for: take code[:, np.roll(np.arange(d), -d // 2).reshape(2, -1).T.ravel()]"),
    Variant("positional_encoding.from_one", "counts positions from 1", "positional_encoding.shift_from_index_one", _at(lambda n: 1 + np.arange(n)), converter="Its row t is PE(t + 1): subtract 1 from its positions, or prepend the row PE(0) = (0, 1, 0, 1, ...) and drop the last"),
    Variant("positional_encoding.from_two", "counts positions from 2, as t + padding_idx + 1 does with padding_idx = 1", SHIFT, _at(lambda n: 2 + np.arange(n)), converter="Its row t is PE(t + 2): subtract 2 from its positions"),
    Variant("positional_encoding.last_frequency_is_1_over_base", "has the exponents i / (d/2 - 1), so that the last frequency is 1 / base, as Tensor2Tensor and fairseq do, but by turns", "positional_encoding.longest_wavelength", _with(_last_frequency_reached), converter="Give it the base base^(1 - 2/d)"),
    Variant("positional_encoding.tensor2tensor", "is that of Tensor2Tensor and fairseq: exponents i / (d/2 - 1), all sines before all cosines", "positional_encoding.longest_wavelength", _with(_last_frequency_reached, in_halves), converter="Give it the base base^(1 - 2/d), and take code[:, np.arange(d).reshape(2, -1).T.ravel()]"),
    Mistake("positional_encoding.exponent_by_column", "has the exponent 2c/d at column c, where 2 floor(c/2) / d is right", COSINES, _one_exponent_a_column(2), twins=("positional_encoding.even_index_doubled_cosine_one_on",)),
    Mistake("positional_encoding.even_index_doubled_cosine_one_on", "takes the even index i for i/2: exponents 2i/d at the sine and 2(i + 1)/d at the cosine", COSINES, _one_exponent_a_column(2), twins=("positional_encoding.exponent_by_column",)),
    Mistake("positional_encoding.cosine_one_column_on", "has the exponent c/d at every column c, which is right at the sines only", COSINES, _one_exponent_a_column(1)),
    Mistake("positional_encoding.exponent_without_two", "has the exponent i/d, where 2i/d is right", SHIFT, _with(lambda i, d: i / d)),
    Mistake("positional_encoding.even_index_doubled", "has the exponent 4i/d: the index runs over even numbers and is doubled once more", SHIFT, _with(lambda i, d: 4 * i / d)),
    Mistake("positional_encoding.pairs_from_one", "counts the pairs of columns from 1: exponent 2(i + 1)/d", "positional_encoding.shortest_wavelength", _with(lambda i, d: 2 * (i + 1) / d)),
    Mistake("positional_encoding.frequencies_grow", "multiplies by base^(2i/d) instead of dividing by it", SHIFT, _with(lambda i, d: -2 * i / d)),
    Mistake("positional_encoding.one_frequency", "has the frequency 1 in every pair", SHIFT, _with(lambda i, d: 0 * i)),
    Mistake("positional_encoding.base_ignored", "takes 10000 for the base, whatever base says", "positional_encoding.wavelengths_are_geometric", _of_base(lambda base: 0 * base + 10000)),
    Mistake("positional_encoding.decimal_logarithm", "takes exp(-2i/d log10 base), with the logarithm to base ten", "positional_encoding.wavelengths_are_geometric", _of_base(lambda base: (base.log() / arb(10).log()).exp())),
    Mistake("positional_encoding.frequencies_are_not_powers", "divides by base * 2i/d (by 1 in the first pair) instead of by base^(2i/d)", "positional_encoding.wavelengths_are_geometric", lambda length, d_model, *, base: encoded(to_balls(np.arange(length))[:, None] / np.concatenate([to_balls([1]), _as_ball(base) * to_balls(np.arange(2, d_model, 2)) / d_model]))),
    Mistake("positional_encoding.sines_only", "has the sine in both columns of a pair", COSINES, _laid_out(lambda sin, cos: by_turns(sin, sin))),
    Mistake("positional_encoding.cosines_only", "has the cosine in both columns of a pair", SINES, _laid_out(lambda sin, cos: by_turns(cos, cos))),
    Mistake("positional_encoding.negative_positions", "has the sine with the other sign: PE(-t)", SINES, _at(lambda n: -np.arange(n))),
    Mistake("positional_encoding.reversed", "counts positions from the end", SHIFT, _at(lambda n: np.arange(n)[::-1])),
    Mistake("positional_encoding.length_for_position", "gives every row PE(n), with n the length, so that no row knows its position", SHIFT, _at(lambda n: np.full(n, n))),
    Mistake("positional_encoding.last_position_everywhere", "gives every row that of the last position", SHIFT, _at(lambda n: np.full(n, n - 1))),
    Mistake("positional_encoding.positions_over_length", "divides positions by the length", SHIFT, _at(lambda n: to_balls(np.arange(n)) / n)),
    Mistake("positional_encoding.turns", "takes sine and cosine of 2 pi times the angle", SHIFT, _at(lambda n: to_balls(np.arange(n)) * (2 * arb.pi()))),
    Mistake("positional_encoding.degrees", "takes the angle for degrees", SHIFT, _at(lambda n: to_balls(np.arange(n)) * (arb.pi() / 180))),
    Instability("positional_encoding.angles_in_float16", "keeps positions, frequencies and angles in float16, whose error grows with the position", SHIFT, _in_format(np.float16, "angles")),
    Instability("positional_encoding.angles_in_bfloat16", "keeps positions, frequencies and angles in bfloat16, whose error grows with the position", SHIFT, _in_format(ml_dtypes.bfloat16, "angles")),
    Instability("positional_encoding.positions_in_bfloat16", "keeps positions in bfloat16, where 257 is 256: rows of neighbouring positions are equal (position aliasing)", SHIFT, _in_format(ml_dtypes.bfloat16, "positions")),
    Instability("positional_encoding.positions_in_float16", "keeps positions in float16, where 2049 is 2048: rows of neighbouring positions are equal (position aliasing)", SHIFT, _in_format(np.float16, "positions")),
)  # fmt: skip


def _with_base(theta: Any, length: int, d_model: int, *, base: float) -> Any:
    return encoded(angles(np.arange(length), d_model, theta))


def _with_offset(theta: Any, length: int, d_model: int, *, base: float) -> Any:
    return encoded(angles(to_balls(np.arange(length)) + theta, d_model, base))


FITS = (
    Fit("base", "the option's value", "positional_encoding.wavelengths_are_geometric", _with_base, (2.0, 1e7)),
    Fit("an offset of the positions", "0", "positional_encoding.shift_is_rotation", _with_offset, (-16, 16), logarithmic=False),
)  # fmt: skip

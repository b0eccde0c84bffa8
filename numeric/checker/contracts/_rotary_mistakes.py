"""What goes wrong in rotary position embedding: formulas, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ...arithmetic import convert, is_balls, to_balls, to_floats
from ..mistake import Fit, Instability, Mistake, Variant
from ._positional_encoding_mistakes import Exponents, angles, encoded, right_exponents

ISOMETRY = "rotary.isometry"
RELATIVE = "rotary.score_depends_on_relative_position"

Turn = Callable[[Any, Any, Any], Any]  # of x by cosines and sines (n, d/2)


def cosines(x: Any, theta: Any) -> tuple[Any, Any]:
    """cos and sin in the arithmetic of x, of angles that are balls."""
    cos, sin = np.cos(theta), np.sin(theta)
    return (cos, sin) if is_balls(x) else (convert(to_floats(cos), x.dtype), convert(to_floats(sin), x.dtype))


def neighbours(x: Any, cos: Any, sin: Any) -> Any:
    even, odd = x[..., 0::2], x[..., 1::2]
    return joined(even * cos - odd * sin, even * sin + odd * cos)


def joined(even: Any, odd: Any) -> Any:
    return np.stack([even, odd], -1).reshape(*even.shape[:-1], -1)


def halves(x: Any, cos: Any, sin: Any) -> Any:
    first, second = np.split(x, 2, -1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], -1)


def _turned(turn: Turn, exponents: Exponents = right_exponents, of: Callable[[Any], Any] = lambda p: p) -> Any:
    def formula(x: Any, positions: Any, *, base: float) -> Any:
        return turn(x, *cosines(x, angles(of(positions), x.shape[-1], base, exponents)))

    return formula


def _by_column(repeated: Callable[[Any], Any], swapped: Callable[[Any], Any]) -> Any:
    """x cos + swapped(x) sin, as it is written where cosines are stored for every column."""

    def turn(x: Any, cos: Any, sin: Any) -> Any:
        return x * repeated(cos) + swapped(x) * repeated(sin)

    return _turned(turn)


def _side_by_side(cos: Any) -> Any:
    return np.concatenate([cos, cos], -1)


def _each_twice(cos: Any) -> Any:
    return np.repeat(cos, 2, -1)


def _swap_neighbours(x: Any) -> Any:
    return joined(-x[..., 1::2], x[..., 0::2])


def _swap_halves(x: Any) -> Any:
    first, second = np.split(x, 2, -1)
    return np.concatenate([-second, first], -1)


def _both_plus(x: Any, cos: Any, sin: Any) -> Any:
    even, odd = x[..., 0::2], x[..., 1::2]
    return joined(even * cos + odd * sin, even * sin + odd * cos)


def _reflected(x: Any, cos: Any, sin: Any) -> Any:
    even, odd = x[..., 0::2], x[..., 1::2]
    return joined(even * cos + odd * sin, even * sin - odd * cos)


def _changed_in_place(x: Any, cos: Any, sin: Any) -> Any:
    """The odd entry is computed from the even one that has been overwritten."""
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = even * cos - odd * sin
    return joined(turned, turned * sin + odd * cos)


def _without_sines(x: Any, cos: Any, sin: Any) -> Any:
    return x * _each_twice(cos)


def _first_half_only(x: Any, cos: Any, sin: Any) -> Any:
    some = x.shape[-1] // 4
    turned = neighbours(x[..., : 2 * some], cos[..., :some], sin[..., :some])
    return np.concatenate([turned, x[..., 2 * some :]], -1)


def _added(x: Any, positions: Any, *, base: float) -> Any:
    code = encoded(angles(positions, x.shape[-1], base))
    return x + (code if is_balls(x) else convert(to_floats(code), x.dtype))


def _base_ignored(x: Any, positions: Any, *, base: float) -> Any:
    return neighbours(x, *cosines(x, angles(positions, x.shape[-1], 10000)))


def _backward(turn: Turn) -> Any:
    def formula(dy: Any, x: Any, positions: Any, *, base: float) -> Any:
        return turn(dy, *cosines(dy, angles(positions, x.shape[-1], base)))

    return formula


def _passed_through(dy: Any, x: Any, positions: Any, *, base: float) -> Any:
    return dy + 0 * x


def _in_format(dtype: Any, what: str) -> Any:
    def emulated(x: Any, positions: Any, *, base: float = 10000.0) -> Any:
        kept = positions.astype(dtype)
        frequencies = float(base) ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
        if what == "positions":
            theta = kept.astype(np.float64)[:, None] * frequencies
        else:
            theta = (kept[:, None] * frequencies.astype(dtype)).astype(np.float64)
        return neighbours(x, np.cos(theta).astype(x.dtype), np.sin(theta).astype(x.dtype))

    return emulated


MISTAKES = (
    Variant("rotary.half_split", "pairs column i with i + d/2 (GPT-NeoX, Llama in Hugging Face), not 2i with 2i + 1", ISOMETRY, _turned(halves), converter="Reorder the columns of x before it and undo that after it, or once those of the projections: its columns i and i + d/2 are 2i and 2i + 1"),
    Variant("rotary.transposed", "turns the other way, by the transposed rotation R(-t)", "rotary.rotary_is_inverse_shift", _turned(neighbours, of=np.negative), converter="Give it the positions with the other sign, or exchange the columns of every pair before and after it"),
    Variant("rotary.half_split_transposed", "pairs column i with i + d/2, and turns the other way, by R(-t)", "rotary.rotary_is_inverse_shift", _turned(halves, of=np.negative), converter="Give it the positions with the other sign, and reorder columns: its i and i + d/2 are 2i and 2i + 1"),
    Variant("rotary.from_one", "turns by the position plus 1, which scores of queries with keys do not see", RELATIVE, _turned(neighbours, of=lambda p: p + 1), converter="Subtract 1 from its positions"),
    Mistake("rotary.mixed_layouts", "pairs column i with i + d/2, but has the frequencies of pairs 2i and 2i + 1", ISOMETRY, _by_column(_each_twice, _swap_halves)),
    Mistake("rotary.frequencies_side_by_side", "pairs columns 2i and 2i + 1, but has the frequencies of pairs i and i + d/2", ISOMETRY, _by_column(_side_by_side, _swap_neighbours)),
    Mistake("rotary.swapped_without_minus", "has plus at both sines: the pair is not turned", ISOMETRY, _turned(_both_plus)),
    Mistake("rotary.reflected", "reflects each pair instead of turning it: [c s; s -c]", RELATIVE, _turned(_reflected)),
    Mistake("rotary.changed_in_place", "computes the odd entry from the even one that was overwritten", ISOMETRY, _turned(_changed_in_place)),
    Mistake("rotary.without_sines", "leaves out the sines: x cos", ISOMETRY, _turned(_without_sines)),
    Mistake("rotary.not_swapped", "multiplies the sines by x itself, not by the other of the pair: x cos + x sin", ISOMETRY, _by_column(_each_twice, lambda x: x)),
    Mistake("rotary.first_half_only", "turns only the first half of the pairs", RELATIVE, _turned(_first_half_only)),
    Mistake("rotary.added", "adds the sinusoidal encoding instead of turning", ISOMETRY, _added),
    Mistake("rotary.positions_by_row", "takes 0, 1, 2, ... for the positions, whatever they are", RELATIVE, _turned(neighbours, of=lambda p: np.arange(len(p)))),
    Mistake("rotary.position_of_first_row", "turns every row by the position of the first", RELATIVE, _turned(neighbours, of=lambda p: 0 * p + p[:1])),
    Mistake("rotary.exponent_without_two", "has the exponent i/d, where 2i/d is right", RELATIVE, _turned(neighbours, lambda i, d: i / d)),
    Mistake("rotary.even_index_doubled", "has the exponent 4i/d: the index runs over even numbers and is doubled once more", RELATIVE, _turned(neighbours, lambda i, d: 4 * i / d)),
    Mistake("rotary.pairs_from_one", "counts the pairs from 1: exponent 2(i + 1)/d", RELATIVE, _turned(neighbours, lambda i, d: 2 * (i + 1) / d)),
    Mistake("rotary.last_frequency_is_1_over_base", "has the exponents i / (d/2 - 1)", RELATIVE, _turned(neighbours, lambda i, d: i / max(d // 2 - 1, 1))),
    Mistake("rotary.frequencies_grow", "multiplies by base^(2i/d) instead of dividing by it", RELATIVE, _turned(neighbours, lambda i, d: -2 * i / d)),
    Mistake("rotary.one_frequency", "turns every pair by the same angle", RELATIVE, _turned(neighbours, lambda i, d: 0 * i)),
    Mistake("rotary.base_ignored", "takes 10000 for the base, whatever base says", RELATIVE, _base_ignored),
    Mistake("rotary.gradient_turns_on", "turns dy forwards again, where the transposed rotation turns it back", "rotary.rotation_moves_across", _backward(neighbours), "gradients"),
    Mistake("rotary.gradient_is_cotangent", "passes dy on unchanged", "rotary.rotation_moves_across", _passed_through, "gradients"),
    Mistake("rotary.gradient_without_sines", "takes cosines and sines for a factor: dy cos", "rotary.rotation_moves_across", _backward(_without_sines), "gradients"),
    Mistake("rotary.gradient_of_half_split", "turns back pairs of column i with i + d/2", "rotary.rotation_moves_across", _backward(lambda dy, cos, sin: halves(dy, cos, -sin)), "gradients"),
    Instability("rotary.angles_in_float16", "keeps positions, frequencies and angles in float16, whose error grows with the position", RELATIVE, _in_format(np.float16, "angles")),
    Instability("rotary.angles_in_bfloat16", "keeps positions, frequencies and angles in bfloat16, whose error grows with the position", RELATIVE, _in_format(ml_dtypes.bfloat16, "angles")),
    Instability("rotary.positions_in_bfloat16", "keeps positions in bfloat16, where 257 is 256: neighbouring positions are turned alike (position aliasing)", RELATIVE, _in_format(ml_dtypes.bfloat16, "positions")),
    Instability("rotary.positions_in_float16", "keeps positions in float16, where 2049 is 2048: neighbouring positions are turned alike (position aliasing)", RELATIVE, _in_format(np.float16, "positions")),
)  # fmt: skip


def _with_base(theta: Any, x: Any, positions: Any, *, base: float) -> Any:
    return neighbours(x, *cosines(x, angles(positions, x.shape[-1], theta)))


def _with_offset(theta: Any, x: Any, positions: Any, *, base: float) -> Any:
    return neighbours(x, *cosines(x, angles(to_balls(positions) + theta, x.shape[-1], base)))


FITS = (
    Fit("base", "the option's value", RELATIVE, _with_base, (2.0, 1e7)),
    Fit("an offset of the positions", "0", RELATIVE, _with_offset, (-16, 16), logarithmic=False),
)

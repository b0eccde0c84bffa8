"""positional_encoding: (length, d_model) -> (length, d_model), sines at even and cosines at odd columns, positions from 0.

The bound admits every way of `_angles`; sine and cosine are taken in the wide format and rounded once to the dtype.
"""

import numpy as np

from ...arithmetic import BALL, to_floats
from ...layers import positional_encoding
from ..contract import Bench, Contract, Input, Options, Probe, Property, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of, interleaved
from ._angles import BASE, angle_bounds
from ._positional_encoding_mistakes import FITS, MISTAKES

OWN = 4 * 2.0**-53  # two products and a sum of numbers up to 1, in float64


def shift_is_rotation(bench: Bench, rng: np.random.Generator) -> Residual:
    length, d, k = 23, 6, 3
    code, allowed = bench.output(length, d)
    turn = to_floats(positional_encoding.rotation(k, d, bench.options["base"], dtype=BALL))
    residual = code[k:] - code[:-k] @ turn.T
    return residual, allowed[k:] + allowed[:-k] @ np.abs(turn).T + OWN


def pairs_have_norm_one(bench: Bench, rng: np.random.Generator) -> Residual:
    code, allowed = bench.output(19, 10)
    square = code[:, 0::2] ** 2 + code[:, 1::2] ** 2
    single = 2 * np.abs(code) * allowed + allowed**2
    return square - 1, single[:, 0::2] + single[:, 1::2] + OWN


def length_is_immaterial(bench: Bench, rng: np.random.Generator) -> Residual:
    short, allowed_short = bench.output(5, 6)
    long, allowed = (part[:5] for part in bench.output(17, 6))
    return long - short, allowed + allowed_short


class PositionalEncoding(Contract):
    name = "positional_encoding"
    summary = "sin(p base^(-2i/d)) at column 2i, cos of the same at column 2i + 1, for positions p = 0, 1, ..."
    inputs = (Input("length", "int", floating=False), Input("d_model", "int", floating=False))
    output = "(length, d_model), interleaved"
    options = (BASE,)
    mistakes = MISTAKES
    fits = FITS

    def layer(self, length: int, d_model: int, *, base: float) -> tuple[np.ndarray, None]:
        return positional_encoding.encode(np.arange(length), d_model, base, dtype=BALL), None

    def bound(self, precision: Precision, length: int, d_model: int, *, base: float) -> Rounded:
        angles = any_of(angle_bounds(precision, np.arange(length), d_model, base))
        return interleaved(angles.sin(), angles.cos()).returned()

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        length, pairs = int(rng.integers(5, 40)), int(rng.integers(2, 20))
        length += length == 2 * pairs  # the two sizes must differ
        shapes = [(length, 2 * pairs), (7, 10), (50, 64)]
        return [Probe(f"generic ({n}, {d})", (n, d)) for n, d in dict.fromkeys(shapes)]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        shapes = {"length 1": (1, 8), "one pair": (9, 2), "past 256": (300, 4), "long": (5000, 8), "wide": (3, 512)}
        return [Probe(f"{name} {shape}", shape) for name, shape in shapes.items()]

    properties = (
        Property(
            "shift is a rotation",
            "positional_encoding.shift_is_rotation",
            "PE(t + k) = T^(k) PE(t) fails",
            shift_is_rotation,
        ),
        Property(
            "pairs have norm 1",
            "position_similarity.norm_squared",
            "sin^2 + cos^2 = 1 fails in the pairs of columns (2i, 2i + 1)",
            pairs_have_norm_one,
        ),
        Property(
            "length is immaterial",
            "positional_encoding.shift_is_rotation",
            "the code of a position changes with the length",
            length_is_immaterial,
        ),
    )


CONTRACT = PositionalEncoding()

"""Angles position * base^(-2i/d), as bounds; for positional_encoding and rotary.

The frequency may come from exp(-2i (ln base / d)), from base^(-2i/d), or from 1 / base^(2i/d), and the angle also from
position / base^(2i/d). With a = 2i/d ln base, and c u the error of a function, the relative errors are

    exp     c (1 + |a|) + 2 |a|          ln base errs by c u, dividing by d and multiplying by 2i by u each
    power   c + |a|, and 1 for a reciprocal        2i/d errs by u

each with u for the product: an angle's absolute error grows with the angle, and is what sine and cosine pass on.
All of it happens in the wide format, so that a 16-bit implementation that keeps angles in 16 bits is caught.
"""

import numpy as np

from ..contract import Option
from ..formats import Precision
from ..rounding import Rounded

BASE = Option("base", 10000.0, (10000.0, 500.0), "wavelengths run from 2 pi to 2 pi base^(1 - 2/d)")


def angle_bounds(precision: Precision, positions: np.ndarray, d: int, base: float) -> list[Rounded]:
    """(n, d/2) arrays, one for each way; in the wide format."""
    wide = precision.widened()
    index = Rounded.exact(np.arange(0, d, 2), wide)
    width = Rounded.exact(d, wide)
    given = Rounded.given(base, wide)
    share = index / width
    power = given**share
    frequencies = [(-(index * (given.log() / width))).exp(), given ** (-share), power.reciprocal()]
    position = Rounded.exact(positions[:, None], wide)
    return [position * frequency for frequency in frequencies] + [position / power]

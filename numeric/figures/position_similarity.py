"""The dot product of two encodings against the offset of their positions: marks from three positions, all on one curve.

The marks are dot products; the curve is what they are proved to be, the sum of cos(w_m k), from the odd columns of PE(k).
"""

import numpy as np

from ..arithmetic import matmul, to_balls, to_floats
from ..layers import positional_encoding
from .axes import Scale, axes
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

D_MODEL, FURTHEST = 64, 50
STARTS = ((0, "circle", "one"), (100, "square", "two"), (1000, "triangle", "ink"))
EVERY = 12  # of the offsets has a mark from one position, and others from the others


def similarities(start: int, offsets: np.ndarray) -> np.ndarray:
    """<PE(p), PE(p + k)> for p = start and each offset k, in balls."""
    here = positional_encoding.encode(to_balls([start]), D_MODEL, dtype=object)
    there = positional_encoding.encode(to_balls(start + offsets), D_MODEL, dtype=object)
    return matmul(here, there.T)[0]


def sums_of_cosines(offsets: np.ndarray) -> np.ndarray:
    """The sum over the pairs of cos(w_m k) for each offset k, in balls."""
    return positional_encoding.encode(to_balls(offsets), D_MODEL, dtype=object)[:, 1::2].sum(-1)


def offsets_of(place: int) -> np.ndarray:
    """Those that have a mark from the position at this place among STARTS."""
    return np.arange(-FURTHEST + 2 + place * EVERY // len(STARTS), FURTHEST + 1, EVERY)


def draw(words: Words, seed: int) -> Drawing:
    drawing = Drawing(264)
    x, y = Scale(-FURTHEST, FURTHEST, 30, 350), Scale(0, D_MODEL // 2, 222, 72)
    upward = [(float(value), f"{value}") for value in (0, 8, 16, 24, D_MODEL // 2)]
    along = [(float(value), f"{value}".replace("-", "−")) for value in range(-FURTHEST, FURTHEST + 1, 25)]
    axes(drawing, x, y, along, upward, (words("axis.offset"), words("position_similarity.upward")))
    offsets = np.arange(-2 * FURTHEST, 2 * FURTHEST + 1) / 2
    values = to_floats(sums_of_cosines(offsets))
    drawing.curve(zip(map(x.at, offsets), map(y.at, values), strict=True), "faint")
    for place, (start, shape, kind) in enumerate(STARTS):
        offsets = offsets_of(place)
        for offset, value in zip(offsets, to_floats(similarities(start, offsets)), strict=True):
            drawing.mark(shape, (x.at(offset), y.at(value)), f"{kind} full")
        middle = 10 + 96 * place
        drawing.mark(shape, (middle, 36), f"{kind} full")
        drawing.label(middle + 8, 40, words("position_similarity.start", p=start))
    largest, far = f"{values.max():.0f}", f"{values[-1]:.0f}"
    drawing.numbers.update(width=f"{D_MODEL}", furthest=f"{FURTHEST}", largest=largest, far=far)
    return drawing


FIGURE = Figure(
    "position_similarity",
    (
        "position_similarity.similarity_depends_on_offset",
        "position_similarity.similarity_is_even",
        "position_similarity.norm_squared",
    ),
    draw,
)

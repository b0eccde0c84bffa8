"""The encoding of a hundred positions as a map, and the pairs of its columns as hands of clocks that a shift turns.

What T^(k) makes of PE(t) is drawn as the end of a sector, and PE(t + k) itself as a dot: by theorem they are one point.
"""

import math
from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import matmul, to_balls, to_floats
from ..layers import positional_encoding
from .axes import Scale
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

D_MODEL, POSITIONS = 16, 100
AT, OFFSET = 60, 3  # t and k
PAIRS = (0, 1, 2, 3)  # that are drawn as clocks


class Turn(NamedTuple):
    """One pair of columns, each (sin, cos): at t, at t + k, and what T^(k) makes of it at t; the angle in radians."""

    pair: int
    before: np.ndarray
    after: np.ndarray
    turned: np.ndarray
    angle: arb


def encodings() -> np.ndarray:
    """PE of the positions, (POSITIONS, D_MODEL), in balls."""
    return positional_encoding.encode(np.arange(POSITIONS), D_MODEL, dtype=object)


def turns() -> list[Turn]:
    """The pairs that are drawn, in balls."""
    before, after = positional_encoding.encode(np.array([AT, AT + OFFSET]), D_MODEL, dtype=object)
    turned = matmul(positional_encoding.rotation(OFFSET, D_MODEL, dtype=object), before[:, None])[:, 0]
    angles = positional_encoding.angles(to_balls([OFFSET]), D_MODEL, dtype=object)[0]
    columns = [slice(2 * m, 2 * m + 2) for m in PAIRS]
    return [Turn(m, before[c], after[c], turned[c], angles[m]) for m, c in zip(PAIRS, columns, strict=True)]


def draw(words: Words, seed: int) -> Drawing:
    drawing, found = Drawing(336), turns()
    _map(drawing, words)
    for place, turn in enumerate(found):
        _clock(drawing, words, turn, 48 + 88 * place)
    angles = ", ".join(_degrees(turn.angle) for turn in found)
    drawing.numbers.update(positions=f"{POSITIONS}", width=f"{D_MODEL}", t=f"{AT}", k=f"{OFFSET}", angles=angles)
    return drawing


def _map(drawing: Drawing, words: Words) -> None:
    left, top, width, height = 34.0, 46.0, 3.2, 8.0
    bottom = top + height * D_MODEL
    drawing.cells((left, top), (width, height), to_floats(encodings()).T, 1.0)
    for m in range(D_MODEL // 2):
        drawing.label(left - 5, top + height * (2 * m + 1) + 4, f"{m}", "soft", "end", "small")
    x = Scale(0, POSITIONS, left, left + width * POSITIONS)
    for position in range(0, POSITIONS, 20):
        drawing.label(x.at(position + 0.5), bottom + 14, f"{position}", "soft", "middle", "small")
    for position, anchor, name in ((AT, "end", "*t*"), (AT + OFFSET, "start", "*t* + *k*")):
        place = x.at(position + 0.5)
        drawing.line((place, top - 8), (place, top - 1), "ink")
        drawing.label(place + (5 if anchor == "start" else -5), top - 4, name, anchor=anchor, size="small")
    drawing.label(4, top - 10, words("axis.pair"))
    drawing.label(left, bottom + 31, words("axis.position"))
    drawing.scale_of_cells(x.end, bottom + 27, ("−1", "1"))


def _clock(drawing: Drawing, words: Words, turn: Turn, middle: float) -> None:
    centre, radius = (middle, 275.0), 32.0
    before, after, turned = (_point(each) for each in (turn.before, turn.after, turn.turned))
    drawing.label(middle, 234, words("positional_encoding.pair", m=turn.pair), anchor="middle", size="small")
    drawing.circle(centre, radius, "grid hollow")
    drawing.sector(centre, radius, (before, turned), float(turn.angle) > math.pi, "one full wash")
    for end, kind in ((before, "faint"), (turned, "one")):
        drawing.line(centre, _on_circle(centre, radius, end), kind)
    drawing.circle(_on_circle(centre, radius, before), 3, "faint full")
    drawing.circle(_on_circle(centre, radius, after), 3.5, "one full")
    drawing.label(middle, 327, _degrees(turn.angle), anchor="middle")


def _degrees(angle: arb) -> str:
    degrees = math.degrees(float(angle))
    return f"{degrees:.0f}°" if degrees >= 10 else f"{degrees:.1f}°"


def _point(pair: np.ndarray) -> tuple[float, float]:
    sine, cosine = to_floats(pair).tolist()
    return sine, cosine


def _on_circle(centre: tuple[float, float], radius: float, point: tuple[float, float]) -> tuple[float, float]:
    return centre[0] + radius * point[0], centre[1] - radius * point[1]


FIGURE = Figure(
    "positional_encoding",
    (
        "positional_encoding.even_columns_are_sines",
        "positional_encoding.odd_columns_are_cosines",
        "positional_encoding.block_shifts_pair",
        "positional_encoding.shift_is_rotation",
    ),
    draw,
)

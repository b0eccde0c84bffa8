"""A drawing: lines, marks, maps of cells and labels, as SVG elements.

It is WIDTH units wide, about as many as a phone has pixels, so that letters are read there at the size that they are given
here. Numbers are written to a tenth of a unit: what is drawn is the same wherever it is computed.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from .markup import tspans, width_of
from .style import SIZES

WIDTH = 360
LEVELS = 16  # of strength in a map of cells, on each side of 0

Point = tuple[float, float]


class Box(NamedTuple):
    """What a label covers, about."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


class Drawing:
    """Elements in the order in which they are painted, and the numbers that its messages speak of."""

    def __init__(self, height: float) -> None:
        self.height = height
        self.parts: list[str] = []
        self.labels: list[Box] = []
        self.numbers: dict[str, str] = {}

    def label(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", size: str = "label") -> None:
        """A line of text (markup.py) with its baseline at y."""
        letters = SIZES[size]
        width = width_of(text, letters)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        self.labels.append(Box(text, left, y - 0.75 * letters, left + width, y + 0.2 * letters))
        kinds = " ".join(each for each in ("" if size == "label" else size, kind) if each)
        placed = f'x="{_n(x)}" y="{_n(y)}"' + ("" if anchor == "start" else f' text-anchor="{anchor}"')
        self.parts.append(f"<text{_class(kinds)} {placed}>{tspans(text)}</text>")

    def line(self, start: Point, end: Point, kind: str) -> None:
        self.curve([start, end], kind)

    def curve(self, points: Iterable[Point], kind: str) -> None:
        """Straight from each point to the next."""
        places = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self.parts.append(f'<path{_class(kind)} d="M{places}"/>')

    def circle(self, centre: Point, radius: float, kind: str, told: str = "") -> None:
        placed = f'cx="{_n(centre[0])}" cy="{_n(centre[1])}" r="{_n(radius)}"'
        self._shape("circle", placed, kind, told)

    def rectangle(self, corner: Point, width: float, height: float, kind: str, told: str = "") -> None:
        placed = f'x="{_n(corner[0])}" y="{_n(corner[1])}" width="{_n(width)}" height="{_n(height)}"'
        self._shape("rect", placed, kind, told)

    def mark(self, shape: str, centre: Point, kind: str, told: str = "") -> None:
        """A circle, square or triangle of one size, or a frame around such a mark.

        `told` is what is said of it where a mouse rests on it.
        """
        x, y = centre
        if shape == "circle":
            self.circle(centre, 2.8, kind, told)
        elif shape == "square":
            self.rectangle((x - 2.5, y - 2.5), 5, 5, kind, told)
        elif shape == "frame":
            self.rectangle((x - 4.5, y - 4.5), 9, 9, kind, told)
        else:
            self._shape("path", f'd="M{_n(x - 3.2)} {_n(y + 2.6)}h6.4l-3.2-5.6z"', kind, told)

    def sector(self, centre: Point, radius: float, ends: tuple[Point, Point], large: bool, kind: str) -> None:
        """Clockwise from one end to the other, which are points of the circle of radius 1, the second axis up."""
        (x0, y0), (x1, y1) = ((centre[0] + radius * x, centre[1] - radius * y) for x, y in ends)
        arc = f"A{_n(radius)} {_n(radius)} 0 {int(large)} 1 {_n(x1)} {_n(y1)}"
        self.parts.append(f'<path{_class(kind)} d="M{_n(centre[0])} {_n(centre[1])}L{_n(x0)} {_n(y0)}{arc}Z"/>')

    def cells(self, corner: Point, size: Point, values: np.ndarray, largest: float) -> None:
        """A cell for each entry, stronger the larger it is: `two` above 0, `one` below it, nothing near it."""
        levels = np.rint(np.clip(values / largest, -1, 1) * LEVELS).astype(int)
        place = f"translate({_n(corner[0])} {_n(corner[1] + size[1] / 2)}) scale({size[0]:g} {size[1]:g})"
        self.parts.append(f'<g class="cells" transform="{place}">')
        for level in sorted(set(levels.ravel().tolist()) - {0}):
            runs = "".join(f"M{start} {row}h{length}" for row, start, length in _runs(levels == level))
            strength = f"{abs(level) / LEVELS:.2g}"
            kind = "cells two" if level > 0 else "cells one"
            self.parts.append(f'<path class="{kind}" stroke-opacity="{strength}" d="{runs}"/>')
        self.parts.append("</g>")

    def scale_of_cells(self, right: float, middle: float, ends: Sequence[str]) -> None:
        """What the strengths of `cells` stand for: a bar that ends at `right`, with a text at each of its ends."""
        width, height, count = 3.2, 10.0, 2 * LEVELS + 1
        right -= width_of(ends[1], SIZES["small"]) + 4
        left = right - width * count
        self.cells((left, middle - height / 2), (width, height), np.linspace(-1, 1, count)[None], 1.0)
        self.label(left - 4, middle + 4, ends[0], "soft", "end", "small")
        self.label(right + 4, middle + 4, ends[1], "soft", size="small")

    def _shape(self, tag: str, placed: str, kind: str, told: str) -> None:
        within = f"><title>{escape(told, quote=False)}</title></{tag}>" if told else "/>"
        self.parts.append(f"<{tag}{_class(kind)} {placed}{within}")


def _runs(cells: np.ndarray) -> Iterable[tuple[int, int, int]]:
    """The true entries of a matrix as row, first column and length of each run."""
    for row, line in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], line, [False])).astype(int)))
        for start, end in edges.reshape(-1, 2).tolist():
            yield row, start, end - start


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _n(number: float) -> str:
    """To a tenth, without what is not needed."""
    text = f"{number:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text

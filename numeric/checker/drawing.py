"""Pictures of a run as SVG, in units of the allowance on a logarithmic scale: the line at 1 parts right from wrong."""

import math
from collections.abc import Iterator
from html import escape

import numpy as np

from .picture import Picture

WIDTH = 360  # of every drawing, in its own units; a page scales it
LEFT, RIGHT = 34, 326  # where the scale begins and ends
MOST_TICKS = 7


class Scale:
    """Places of ratios from 10^low to 10^high; 0 stands at the left edge, infinity at the right one."""

    def __init__(self, ratios: list[float]) -> None:
        finite = [math.log10(each) for each in ratios if 0 < each < math.inf]
        self.low = min(-2, math.floor(min(finite, default=-2)))
        self.high = max(1, math.ceil(max(finite, default=1)))
        self.low = max(self.low, -6)

    def place(self, ratio: float) -> float:
        if ratio == 0:
            return LEFT - 24
        if math.isinf(ratio):
            return RIGHT + 24
        return self.at(max(self.low, math.log10(ratio)))

    def at(self, decade: float) -> float:
        return LEFT + (RIGHT - LEFT) * (decade - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[int]:
        step = max(1, math.ceil((self.high - self.low) / MOST_TICKS))
        return [k for k in range(self.low, self.high + 1) if k % step == 0]


def errors_by_probe(picture: Picture) -> str:
    """A mark for each probe at its largest error: a dot where it is within the allowance, a square where it is not."""
    scale, rows = Scale(list(picture.ratios.values())), list(picture.ratios.items())
    step = 6 if len(rows) < 80 else 480 / len(rows)
    bottom = 24 + step * len(rows)
    parts = [*_axis(scale, 20, bottom)]
    for edge, sign in ((0.0, "0"), (math.inf, "∞")):
        if edge in picture.ratios.values():
            parts.append(f'<text x="{scale.place(edge):.1f}" y="{bottom + 13:.1f}" text-anchor="middle">{sign}</text>')
    for number, (probe, ratio) in enumerate(rows):
        parts.append(_mark(scale.place(ratio), 24 + step * (number + 0.5), ratio, f"{probe}: {told(ratio)}"))
    return _svg(bottom + 18, parts, "the largest error of each probe, in allowances")


def errors_by_entry(picture: Picture) -> str:
    """How many entries of the worst probe lie in each decade."""
    counts = {(0.0, "0"): picture.equal} if picture.equal else {}
    if picture.decades:
        low, high = max(min(picture.decades), -6), max(picture.decades)
        merged = dict.fromkeys(range(low, high + 1), 0)
        for k, count in picture.decades.items():
            merged[max(k, low)] += count
        below = "under " if min(picture.decades) < low else ""
        for k, count in merged.items():
            name = f"{below}{_power(k + 1)}" if below and k == low else f"{_power(k)} to {_power(k + 1)}"
            counts[(10.0**k, name)] = count
    if picture.infinite:
        counts[(math.inf, "NaN, infinite")] = picture.infinite
    counts = _without_gaps(counts)
    largest = max(counts.values(), default=1)
    parts = []
    for row, ((least, name), count) in enumerate(counts.items()):
        y, width = 14 * row, 180 * count / largest
        kind = "bad" if least >= 1 else "good"
        parts.append(f'<text x="104" y="{y + 10}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect class="{kind}" x="110" y="{y + 2}" width="{width:.1f}" height="10"/>')
        parts.append(f'<text x="{114 + width:.1f}" y="{y + 10}">{count:,}</text>')
    return _svg(14 * len(counts) + 4, parts, "entries of the worst probe by their error, in allowances")


def _without_gaps(counts: dict[tuple[float, str], int]) -> dict[tuple[float, str], int]:
    """Long runs of empty decades are left out."""
    if len(counts) <= 16:
        return counts
    return {key: count for key, count in counts.items() if count}


def map_of_entries(picture: Picture) -> str | None:
    """Where in the worst probe the errors are; None for a scalar."""
    blocks = picture.blocks
    if blocks is None:
        return None
    rows, columns = blocks.shape
    size = min(24.0, (WIDTH - 4) / columns)
    finite = blocks[np.isfinite(blocks)]
    furthest = max(2.0, float(np.log10(max(finite.max(initial=0.0), 1.0))))
    parts = []
    for (i, j), ratio in np.ndenumerate(blocks):
        kind, strength = _shade(float(ratio), furthest)
        place = f'x="{2 + j * size:.1f}" y="{2 + i * size:.1f}" width="{size:.1f}" height="{size:.1f}"'
        parts.append(f'<rect class="cell {kind}" {place} fill-opacity="{strength:.2f}"/>')
    return _svg(rows * size + 4, parts, "the errors of the worst probe where they are, in allowances")


def _shade(ratio: float, furthest: float) -> tuple[str, float]:
    """Its side of 1, and how strong: from 1 to `furthest` decades on the wrong side, two decades on the right one."""
    if ratio > 1:
        return "bad", 1.0 if math.isinf(ratio) else 0.25 + 0.75 * min(1.0, math.log10(ratio) / furthest) ** 2
    return "good", 0.08 if ratio == 0 else 0.6 + 0.24 * max(math.log10(ratio), -2.0)


def told(ratio: float) -> str:
    return "no error" if ratio == 0 else "not a number, or infinite" if math.isinf(ratio) else f"{ratio:.3g} allowances"


def _axis(scale: Scale, top: float, bottom: float) -> Iterator[str]:
    for k in scale.ticks:
        x = scale.at(k)
        yield f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom:.1f}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 13:.1f}" text-anchor="middle">{_power(k)}</text>'
    one = scale.at(0)
    yield f'<line class="limit" x1="{one:.1f}" y1="{top}" x2="{one:.1f}" y2="{bottom:.1f}"/>'
    yield f'<text x="{one:.1f}" y="12" text-anchor="middle">1 = allowance</text>'


def _mark(x: float, y: float, ratio: float, title: str) -> str:
    name = f"<title>{escape(title)}</title>"
    if ratio > 1:
        return f'<rect class="bad" x="{x - 2.5:.1f}" y="{y - 2.5:.1f}" width="5" height="5">{name}</rect>'
    return f'<circle class="good" cx="{x:.1f}" cy="{y:.1f}" r="2.5">{name}</circle>'


def _power(k: int) -> str:
    if -2 <= k <= 3:
        return f"{10.0**k:g}"
    return "10" + str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _svg(height: float, parts: list[str], label: str) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">'
    return head + "".join(parts) + "</svg>"

"""What rests on what, family by family, as a drawing that is made here and needs no script."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from ..library import Library, family_of
from .layering import Edge, Layout, layered

ROW, LINE, GAP, LETTER = 43.0, 15.0, 46.0, 6.9
PADDING, LONG = 9.0, 130.0
_ARROW = (
    '<defs><marker id="site-arrow" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="6" markerHeight="6" '
    'orient="auto"><path d="M0 0.5 5.5 3 0 5.5z"/></marker></defs>'
)


class Graph(NamedTuple):
    """The drawing; the families that each rests on, with the number of citations; those that no edge touches."""

    drawing: Markup
    rests_on: Mapping[str, Mapping[str, int]]
    alone: tuple[str, ...]


def graph(library: Library, titles: Mapping[str, str]) -> Graph:
    """The graph of the families; `titles` are their names on the drawing."""
    counts: dict[Edge, int] = {}
    for cited, citing in library.citations:
        edge = family_of(cited), family_of(citing)
        if edge[0] != edge[1] and cited in library.theorems:
            counts[edge] = counts.get(edge, 0) + 1
    layout = layered(list(library.families), counts)
    rests_on: dict[str, dict[str, int]] = {}
    for (cited, citing), count in counts.items():
        rests_on.setdefault(citing, {})[cited] = count
    return Graph(Markup(_svg(layout, titles)), rests_on, layout.alone)


def _svg(layout: Layout, titles: Mapping[str, str]) -> str:
    widths: dict[int, float] = {}
    for name, (column, _) in layout.places.items():
        widths[column] = max(widths.get(column, 0.0), _width(titles[name]))
    lefts = {c: PADDING + sum(widths[b] + GAP for b in range(c)) for c in widths}
    heights = [row for _, row in layout.places.values()] + [row for way in layout.ways.values() for _, row in way]
    right = max((lefts[c] + widths[c] for c in lefts), default=0.0) + PADDING
    bottom = ROW * (max(heights, default=0.0) + 1) + PADDING
    edges = [_edge(edge, way, lefts, widths, titles) for edge, way in layout.ways.items()]
    nodes = [_node(name, titles[name], lefts[column], row) for name, (column, row) in layout.places.items()]
    return (
        f'<svg class="graph" viewBox="0 0 {right:.0f} {bottom:.0f}" width="{right:.0f}" height="{bottom:.0f}">'
        f"{_ARROW}<g>{''.join(edges)}</g><g>{''.join(nodes)}</g></svg>"
    )


def _lines(title: str) -> list[str]:
    """A title on one line, or on two after its colon or its first words, if it is long."""
    head, colon, tail = title.partition(": ")
    if colon:
        return [f"{head}:", tail]
    words = title.split(" ")
    cuts = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    return list(min(cuts, key=lambda cut: max(map(_length, cut)))) if cuts and _length(title) > LONG else [title]


def _length(text: str) -> float:
    """About as wide as the letters are; those of East Asia are nearly twice as wide."""
    return sum(LETTER * (1.8 if unicodedata.east_asian_width(c) in "WF" else 1) for c in text)


def _width(title: str) -> float:
    return max(map(_length, _lines(title))) + 2 * PADDING


def _node(name: str, title: str, left: float, row: float) -> str:
    lines = _lines(title)
    height = LINE * len(lines) + 8
    top = _middle(row) - height / 2
    box = f'<rect x="{left:.1f}" y="{top:.1f}" width="{_width(title):.1f}" height="{height:.0f}" rx="4"/>'
    texts = [
        f'<text x="{left + PADDING:.1f}" y="{top + 15.5 + LINE * k:.1f}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    return f'<a href="{name}.html" data-node="{name}" aria-label="{escape(title)}">{box}{"".join(texts)}</a>'


def _middle(row: float) -> float:
    return PADDING + ROW * (row + 0.5)


def _edge(
    edge: Edge,
    way: tuple[tuple[int, float], ...],
    lefts: Mapping[int, float],
    widths: Mapping[int, float],
    titles: Mapping[str, str],
) -> str:
    """From the right side of a box, straight through each column that it passes, to the left side of another."""
    x, y = lefts[way[0][0]] + _width(titles[edge[0]]), _middle(way[0][1])
    path = f"M{x:.1f} {y:.1f}"
    x = lefts[way[0][0]] + widths[way[0][0]]
    path += f"H{x:.1f}"
    for column, row in way[1:]:
        target, height = lefts[column], _middle(row)
        bend = (target - x) / 2
        path += f"C{x + bend:.1f} {y:.1f} {target - bend:.1f} {height:.1f} {target:.1f} {height:.1f}"
        x, y = target, height
        if column != way[-1][0]:
            x += widths[column]
            path += f"H{x:.1f}"
    return f'<path data-from="{edge[0]}" data-to="{edge[1]}" marker-end="url(#site-arrow)" d="{path}"/>'

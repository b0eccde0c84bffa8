"""Places for the nodes of a graph without cycles: columns from left to right, in an order with few crossings.

What is implied by a longer way is left out. An edge that passes columns gets a place of its own in each, so that it
goes between the nodes there and through none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Edge = tuple[str, str]  # from what is used to what uses it
Spot = str | tuple[str, str, int]  # a node, or an edge as it passes a column

SWEEPS = 24
NODE, PASSAGE = 1.0, 0.45  # heights, in rows


class Layout(NamedTuple):
    """Columns and heights, in rows, of the nodes with edges; the ways of the edges; the nodes without any."""

    places: Mapping[str, tuple[int, float]]
    ways: Mapping[Edge, tuple[tuple[int, float], ...]]
    alone: tuple[str, ...]


def without_implied(edges: Iterable[Edge]) -> list[Edge]:
    """The edges that no longer way implies."""
    known = sorted(set(edges))
    after = _followers(known)

    @functools.cache
    def reached(node: str) -> frozenset[str]:
        return frozenset().union(*({b} | reached(b) for b in after.get(node, ())))

    return [(a, b) for a, b in known if not any(b in reached(c) for c in after[a] if c != b)]


def layered(nodes: Sequence[str], edges: Iterable[Edge]) -> Layout:
    """Places for these nodes; the edges have no cycle."""
    kept = without_implied(edges)
    touched = {node for edge in kept for node in edge}
    columns = _columns([n for n in nodes if n in touched], kept)
    chains = {edge: _chain(edge, columns) for edge in kept}
    rows = _rows([n for n in nodes if n in touched], columns, chains)
    neighbours = _neighbours(chains)
    for sweep in range(SWEEPS):
        _sort(rows, neighbours, forward=sweep % 2 == 0)
    heights = _heights(rows, neighbours)
    return Layout(
        places={n: (columns[n], heights[n]) for n in columns},
        ways={edge: tuple((columns[edge[0]] + k, heights[s]) for k, s in enumerate(c)) for edge, c in chains.items()},
        alone=tuple(n for n in nodes if n not in touched),
    )


def _followers(edges: Iterable[Edge]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for a, b in edges:
        found.setdefault(a, []).append(b)
    return found


def _columns(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """As far left as what a node uses allows; a node that uses nothing stands just before what uses it."""
    before = _followers((b, a) for a, b in edges)
    after = _followers(edges)

    @functools.cache
    def depth(node: str) -> int:
        return max((depth(a) + 1 for a in before.get(node, ())), default=0)

    return {n: depth(n) if n in before else min(depth(b) for b in after[n]) - 1 for n in nodes}


def _chain(edge: Edge, columns: Mapping[str, int]) -> list[Spot]:
    a, b = edge
    return [a, *((a, b, k) for k in range(columns[a] + 1, columns[b])), b]


def _rows(nodes: Sequence[str], columns: Mapping[str, int], chains: Mapping[Edge, list[Spot]]) -> list[list[Spot]]:
    rows: list[list[Spot]] = [[] for _ in range(max(columns.values(), default=-1) + 1)]
    for node in nodes:
        rows[columns[node]].append(node)
    for chain in chains.values():
        for k, spot in enumerate(chain[1:-1], columns[str(chain[0])] + 1):
            rows[k].append(spot)
    return rows


def _neighbours(chains: Mapping[Edge, list[Spot]]) -> dict[Spot, tuple[list[Spot], list[Spot]]]:
    """Those on the left of each spot, and those on its right."""
    found: dict[Spot, tuple[list[Spot], list[Spot]]] = {}
    for chain in chains.values():
        for a, b in pairwise(chain):
            found.setdefault(a, ([], []))[1].append(b)
            found.setdefault(b, ([], []))[0].append(a)
    return found


def _sort(rows: list[list[Spot]], neighbours: Mapping[Spot, tuple[list[Spot], list[Spot]]], forward: bool) -> None:
    """One sweep: each column in the order of the mean places of its neighbours in the column before."""
    order = range(len(rows)) if forward else range(len(rows) - 1, -1, -1)
    for k in order:
        where = {spot: i / max(len(row), 1) for row in rows for i, spot in enumerate(row)}
        side = 0 if forward else 1
        rows[k].sort(key=lambda spot: _mean([where[s] for s in neighbours[spot][side]], where[spot]))


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _heights(rows: list[list[Spot]], neighbours: Mapping[Spot, tuple[list[Spot], list[Spot]]]) -> dict[Spot, float]:
    """Close to the neighbours on both sides, without overlaps, in the order of the columns."""
    heights: dict[Spot, float] = {}
    for row in rows:
        heights |= _packed(row, lambda spot: 0.0)
    for _ in range(SWEEPS):
        for row in rows:
            wanted = {s: _mean([heights[n] for side in neighbours[s] for n in side], heights[s]) for s in row}
            heights |= _packed(row, wanted.__getitem__)
    lowest = min(heights.values(), default=0.0)
    return {spot: height - lowest for spot, height in heights.items()}


def _packed(row: Sequence[Spot], wanted: Callable[[Spot], float]) -> dict[Spot, float]:
    """As close to what is wanted as the distances allow: runs that would overlap are moved together, to their mean."""
    runs: list[tuple[list[Spot], float]] = []  # a run and where its first spot stands
    for spot in row:
        run, start = [spot], wanted(spot)
        while runs and runs[-1][1] + _length(runs[-1][0], run[0]) > start:
            run = runs.pop()[0] + run
            start = _mean([wanted(s) - _length(run[:k], s) for k, s in enumerate(run)], 0.0)
        runs.append((run, start))
    return {s: start + _length(run[:k], s) for run, start in runs for k, s in enumerate(run)}


def _length(run: Sequence[Spot], following: Spot) -> float:
    """From the first spot of a run to one that follows it."""
    return sum((_height(a) + _height(b)) / 2 for a, b in pairwise([*run, following]))


def _height(spot: Spot) -> float:
    return NODE if isinstance(spot, str) else PASSAGE

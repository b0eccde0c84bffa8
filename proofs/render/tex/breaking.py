"""Breaks a row of a formula into lines: the cheapest way in which every line fits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .pieces import INDENT, NEVER, Narrowing, Piece, Size, Taken
from .shapes import Row, gap, text_of, widths_of

_LINE = 60.0  # what one more line costs
_RAGGED = 50.0  # what a line costs that is nearly empty
_SHORT = 0.25  # of a line; a last one that is shorter costs as much
_TOO_WIDE = 1e6
_BRACKETS = ("big", "big", "Big", "bigg", "Bigg")


class Line(NamedTuple):
    text: str
    rank: int  # how far it is indented
    width: float


def lines_of(row: Row, width: float, size: Size, narrow: Narrowing, indent: float = INDENT) -> tuple[Line, ...]:
    """A row as lines that are at most so wide, in points, in one of TeX's sizes; one line where it fits.

    `indent` is that of a rank; with 0, all lines have the rank 0.
    """
    whole = getattr(widths_of(row), size)
    if whole <= width:
        return (Line(text_of(row), 0, whole),)
    found = list(Taken(width, size, narrow, indent).apart(row))
    ends = _ends(found, size)
    spans = list(pairwise([*_cheapest(found, ends, width, indent), len(found)]))
    split = _split_pairs(found, spans)
    used = sorted({found[a].rank for a, _ in spans[1:]})
    ranks = [0, *((1 + used.index(found[a].rank)) * (indent > 0) for a, _ in spans[1:])]
    return tuple(
        Line(_text(found[a:b], split), rank, indent * rank + _reach(found, ends, a, b))
        for (a, b), rank in zip(spans, ranks, strict=True)
    )


def _cheapest(found: Sequence[Piece], ends: Sequence[float], width: float, indent: float) -> list[int]:
    """The first piece of each line, by the least total cost."""
    best: list[tuple[float, int]] = [
        (0.0, 0)
    ]  # for the pieces before k: what they cost, and where their last line starts
    for k in range(1, len(found) + 1):
        options: list[tuple[float, int]] = []
        for start in range(k - 1, -1, -1):
            piece = found[start]
            room = width - (indent * piece.rank if start else 0)
            needed = _reach(found, ends, start, k)
            if needed > room and options:
                break
            if start == 0 or piece.cost != NEVER:
                cost = best[start][0] + (piece.cost if start else 0) + _line_cost(needed, room, k == len(found))
                options.append((cost, start))
        best.append(min(options, default=(float("inf"), 0)))
    starts = [len(found)]
    while starts[0]:
        starts.insert(0, best[starts[0]][1])
    return starts[:-1]


def _line_cost(needed: float, room: float, is_last: bool) -> float:
    if needed > room:
        return _TOO_WIDE + needed
    filled = needed / room
    if is_last:
        return _LINE + (_RAGGED * (1 - filled / _SHORT) if filled < _SHORT else 0)
    return _LINE + _RAGGED * (1 - filled) ** 2


def _ends(found: Sequence[Piece], size: Size) -> list[float]:
    """How far each piece reaches where all stand on one line."""
    reached, ends = 0.0, []
    before = None
    for piece in found:
        reached += piece.width + (getattr(gap(before.kind, piece.kind), size) if before else 0)
        ends.append(reached)
        before = piece
    return ends


def _reach(found: Sequence[Piece], ends: Sequence[float], start: int, stop: int) -> float:
    """How wide the pieces from one place to another are on one line."""
    return ends[stop - 1] - ends[start] + found[start].width


def _split_pairs(found: Sequence[Piece], spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    r"""Brackets that \left and \right cannot be: those with a partner on another line, or around something narrowed."""
    line_of: dict[int, int] = {}
    split: set[int] = set()
    around: list[int] = []
    for number, (a, b) in enumerate(spans):
        for piece in found[a:b]:
            if piece.tall:
                split.update(around)
            if piece.pair is None:
                continue
            if piece.kind == "open":
                line_of[piece.pair] = number
                around.append(piece.pair)
            elif line_of[around.pop()] != number:
                split.add(piece.pair)
    return frozenset(split)


def _text(found: Sequence[Piece], split: frozenset[int]) -> str:
    text = ""
    for piece in found:
        text += " " if text and piece.spaced else ""
        text += of_fixed_size(piece) if piece.pair in split else piece.text
    return text


def of_fixed_size(piece: Piece) -> str:
    """A bracket that grows as one of the size that it would grow to; any other piece as it is."""
    if piece.grows is None:
        return piece.text
    bare = piece.text.replace(r"\!", "").replace(r"\left", "").replace(r"\right", "")
    return f"\\{_BRACKETS[piece.grows]}{'l' if piece.kind == 'open' else 'r'}{bare}"

r"""A row as pieces that stay whole, with what it costs to start a line at each of them.

Wide brackets are taken apart, so that a line may end inside them. A piece that is too wide for any line is narrowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from .shapes import Fence, Part, Row, Scripted, bracket, gap, height, kinds_in

NEVER = float("inf")
INDENT = 10.0  # points a rank, which is one \quad
Size = Literal["display", "text", "script"]

_MOST_RANKS = 6
_SCRIPTS = 0.6  # of a line, which they may take at most
_WIDE = 0.25  # brackets that take more of a line than this may be broken inside
_DEEPER = 45.0  # what one more pair of brackets around a place costs
_RELATION, _QUANTIFIED, _TERM, _COMMA, _ARROW, _SUM, _FACTOR = 5, 10, 20, 30, 75, 70, 85
_OPENED, _NUMBER, _SUMMED, _CALLED = 110, 190, 250, 400
GENTLE, RELUCTANT = _OPENED, _SUMMED  # below the one, running text may break; below the other, where it has to
_CHAINS = ("=", "<", r"\le", r"\ge", r"\ne", r"\Rightarrow", r"\to")
_DERIVATIVE = re.compile(r"\\frac\{\\mathrm\{d\}\}\{\\mathrm\{d\} ")


class Piece(NamedTuple):
    """`cost` is that of a line that starts here, and `rank` how far such a line is indented."""

    text: str
    spaced: bool
    kind: str
    width: float
    cost: float
    rank: int
    alone: float  # the cost without that of the brackets around, to compare with GENTLE and RELUCTANT
    tall: bool = False  # whether it was narrowed: brackets that grow around it would grow below it as well
    pair: int | None = None  # of a bracket: its number, which its partner has too
    grows: int | None = None  # of a bracket that grows: how tall it has to be


Narrowing = Callable[[Part, float], tuple[str, float]]  # a part in a width, and how wide it is then


class Taken:
    """Takes rows apart for lines that are at most so wide, in points, in one of TeX's sizes."""

    def __init__(self, width: float, size: Size, narrow: Narrowing, indent: float = INDENT):
        self._width = width
        self._size = size
        self._narrow = narrow
        self._indent = indent
        self._pairs = 0
        self._run = 0.0  # how wide the pieces are since the last place where a line may well start

    def apart(self, row: Row, depth: int = 0, after: float = 0.0) -> Iterator[Piece]:
        """The pieces of a row; `after` is how wide the brackets are that close behind it."""
        before: Part | None = None
        kinds = kinds_in(row)
        chained = any(p.text in _CHAINS for p in row)
        places = _places(row)
        for k, (part, kind) in enumerate(zip(row, kinds, strict=True)):
            cost, rank = (_OPENED, 1) if depth else (NEVER, 0)
            if before:
                cost, rank = _start(before, part, kind, kinds[k - 1])
                self._run += getattr(gap(kinds[k - 1], kind), self._size)
            if k in places or (depth and cost == _RELATION):
                cost = NEVER
            rank = min(rank + depth + (chained and rank > 0 and kind != "rel"), _MOST_RANKS)
            alone, cost = cost, cost + depth * _DEEPER
            self._run = 0 if cost < _SUMMED else self._run
            piece = Piece(part.text, part.spaced, kind, 0, cost, rank, alone)
            yield from self._pieces(part, piece, depth, after if k == len(row) - 1 else 0.0)
            before = part

    def _pieces(self, part: Part, piece: Piece, depth: int, after: float) -> Iterator[Piece]:
        width = getattr(part.widths, self._size)
        if isinstance(part.shape, Fence) and width > self._width * _WIDE:
            yield from self._fence(part, part.shape, piece, depth, after)
            return
        room = self._width - self._indent * piece.rank - self._run - after
        text = part.text
        if width > room and part.shape is not None:
            text, width = self._narrow(part, room)
        self._run += width
        yield piece._replace(text=text, width=width, tall=text != part.text)

    def _fence(self, part: Part, fence: Fence, piece: Piece, depth: int, after: float) -> Iterator[Piece]:
        self._pairs += 1
        side = getattr(bracket(fence.inside, fence.grows), self._size)
        grows = height(fence.inside) if fence.grows else None
        piece = piece._replace(pair=self._pairs, grows=grows)
        self._run += side
        yield piece._replace(text=fence.opening, kind="open", width=side)
        scripts, scripts_width = hanging(part, self._width, self._size, self._narrow)
        closing_side = side + scripts_width
        yield from self.apart(fence.inside, depth + 1, after + closing_side)
        self._run += closing_side
        closing = fence.closing + scripts
        yield piece._replace(text=closing, spaced=False, kind="close", width=closing_side, cost=NEVER, alone=NEVER)


def hanging(part: Part, width: float, size: Size, narrow: Narrowing) -> tuple[str, float]:
    """What hangs on a part in a line of this width, and how wide it is: in lines where it takes much of the width."""
    own, most = getattr(part.script_widths, size), width * _SCRIPTS
    if part.script is None or own <= most:
        return part.scripts, own
    return narrow(part._replace(shape=Scripted("", part.script)), most)


def _places(row: Row) -> set[int]:
    r"""Where the bound variables of a function stand, with their ranges: u < T in u < T \mapsto 1."""
    found: set[int] = set()
    for k, part in enumerate(row):
        if part.text == r"\mapsto":
            start = k
            while start and row[start - 1].text != ",":
                start -= 1
            found.update(range(start + 1, k + 1))
    return found


def _start(before: Part, part: Part, kind: str, kind_before: str) -> tuple[float, int]:
    """What a line costs that starts at a part, and its rank: 1 for a relation or a term, 2 for a factor."""
    if kind == "rel":
        return (_RELATION, 1) if part.text in _CHAINS and kind_before != "rel" else (NEVER, 1)
    if before.text == r"\mapsto":
        return _ARROW, 1
    if before.text == r"\colon":
        return _QUANTIFIED, 1
    if before.text == ",":
        return _COMMA, 1
    if kind == "bin":
        return (_TERM, 1) if part.text in "+-" else (_FACTOR, 2) if part.text == r"\cdot" else (NEVER, 1)
    return _between_factors(before, part, kind_before)


def _between_factors(before: Part, part: Part, kind_before: str) -> tuple[float, int]:
    if before.text.startswith(r"\sum") or _DERIVATIVE.match(before.text):
        return _SUMMED, 2
    if kind_before == "op" and part.kind in ("fence", "pulled"):
        return _CALLED, 2
    if not part.spaced or kind_before not in ("ord", "fence", "pulled", "inner") or before.text in (r"\forall", "-"):
        return NEVER, 2
    if before.text.isdigit() or before.text.startswith(r"\tfrac"):
        return _NUMBER, 2
    return (_SUM if part.text.startswith(r"\sum") else _FACTOR), 2

r"""A formula as parts with widths, so that it can be broken into lines: a row of signs, fractions, brackets, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .widths import NOTHING, Widths, fixed, outside_scripts, sized

_THIN, _MEDIUM, _THICK = outside_scripts(1.7), outside_scripts(2.8), outside_scripts(2.8)
_THIN_EVERYWHERE = sized(1.7)
_BRACKET = (3.9, 4.6, 6.0, 7.4, 8.8)  # the width of a bracket by its height
_STARTS, _ENDS = {"fence": "open", "pulled": "open"}, {"fence": "close", "pulled": "inner"}


class Fence(NamedTuple):
    r"""Brackets; those that grow start with \left."""

    opening: str
    inside: Row
    closing: str

    @property
    def grows(self) -> bool:
        return "\\left" in self.opening


class Fraction(NamedTuple):
    macro: str
    above: Row
    below: Row


class Root(NamedTuple):
    inside: Row


class Script(NamedTuple):
    """The only exponent or subscript that hangs on something, with its sign."""

    sign: str
    row: Row


class Scripted(NamedTuple):
    """Something small with a wide exponent or subscript."""

    base: str
    script: Script


class Table(NamedTuple):
    begin: str
    rows: tuple[tuple[Row, ...], ...]
    end: str


Shape = Fence | Fraction | Root | Scripted | Table


class Part(NamedTuple):
    r"""A sign or a compound with its scripts.

    `kind` is TeX's: ord, op, bin, rel, punct, inner; fence for brackets, pulled for those after \!. `height` is 0 for a
    letter, 2 for a small fraction, 3 for a sum, at most 4. `shape` is what is inside, where lines may be broken.
    """

    kind: str
    text: str
    spaced: bool  # whether a space stands before it in the text
    widths: Widths
    height: int = 0
    shape: Shape | None = None
    scripts: str = ""
    script_widths: Widths = NOTHING
    script: Script | None = None


Row = tuple[Part, ...]


def height(row: Iterable[Part]) -> int:
    return max((p.height for p in row), default=0)


def text_of(row: Row) -> str:
    return "".join(" " * (part.spaced and k > 0) + part.text for k, part in enumerate(row))


def widths_of(row: Sequence[Part]) -> Widths:
    """How wide a row is, with the space that TeX puts between its parts."""
    display = text = script = smallest = 0.0
    before = None
    for part, kind in zip(row, kinds_in(row), strict=True):
        for wide in (part.widths, NOTHING if before is None else gap(before, kind)):
            display, text, script, smallest = display + wide[0], text + wide[1], script + wide[2], smallest + wide[3]
        before = kind
    return Widths(display, text, script, smallest)


def kinds_in(row: Iterable[Part]) -> list[str]:
    """The kind of each part where it stands: a minus with nothing before it is no difference."""
    found: list[str] = []
    for part in row:
        unary = part.kind == "bin" and (not found or found[-1] in ("bin", "op", "rel", "punct"))
        found.append("ord" if unary else part.kind)
    return found


def gap(first: str, second: str) -> Widths:
    """The space between two parts, from the table on page 170 of The TeXbook."""
    before, after = _ENDS.get(first, first), _STARTS.get(second, second)
    if after == "punct":
        return _THIN if before == "inner" else NOTHING
    if before == "open" or after == "close":
        return NOTHING
    if "rel" in (before, after):
        return NOTHING if before == after else _THICK
    if "bin" in (before, after):
        return _MEDIUM
    if before == "punct":
        return _THIN
    if "op" in (before, after):
        return NOTHING if after == "open" else _THIN_EVERYWHERE
    return _THIN if "inner" in (before, after) else NOTHING


def bracket(inside: Iterable[Part], grows: bool) -> Widths:
    """How wide one of the brackets around a row is."""
    return fixed(_BRACKET[height(inside)]) if grows else sized(_BRACKET[0])

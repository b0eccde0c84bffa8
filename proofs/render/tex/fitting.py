r"""Formulas in a given width. Where no line can be broken, something in it is: above a bar, in a cell, in a script.

lines         \begin{aligned}[t] & a \\ & \quad + b \end{aligned}
fraction      \frac{\begin{aligned} ... \end{aligned}}{c}, and a root likewise
script        x^{\begin{subarray}{l} a \\ + b \end{subarray}}, and a subscript likewise
table         smaller, \mbox{\small\arraycolsep=2pt $ ... $}; or with cells in lines, by gathered; or both
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

from .breaking import Line, lines_of
from .parsing import around_cells, parsed
from .pieces import hanging
from .shapes import Fraction, Part, Root, Row, Script, Scripted, Table, text_of, widths_of

_BAR, _ROOT = 2.4, 10.0
_STACKED = 1.7  # a thin space, which amsmath puts before lines below each other
# Of how much narrower type makes a formula; in \tiny, scripts are as large as the letters.
_SMALLER = ((r"\small", 0.92), (r"\footnotesize", 0.83), (r"\scriptsize", 0.81), (r"\tiny", 0.78))
_SAME_IN_EVERY_SIZE, _IN_FRACTIONS = (
    1.05,
    1.12,
)  # as the signs of sums and tall brackets are; their limits hardly shrink
_NARROW_COLUMNS = 4.0  # between two columns, with \arraycolsep=2pt

Cells = list[list[tuple[str, float]]]


@functools.lru_cache(maxsize=4096)
def lines(formula: str, width: float) -> tuple[Line, ...]:
    """A formula as lines that are at most so wide, in points, in a display; one line where it fits.

    Raises RenderError for a formula that the LaTeX printer does not write.
    """
    return _lines(parsed(formula), width)


def stacked(found: Sequence[Line], placed: str = "[t]") -> str:
    """Lines as one formula: a line as it is, several below each other."""
    if len(found) == 1:
        return found[0].text
    rows = r" \\ ".join(f"& {indented(line)}" for line in found)
    return rf"\begin{{aligned}}{placed} {rows} \end{{aligned}}"


def indented(line: Line) -> str:
    return r"\qquad" * (line.rank // 2) + r"\quad" * (line.rank % 2) + " " * (line.rank > 0) + line.text


def _lines(row: Row, width: float) -> tuple[Line, ...]:
    return lines_of(row, width, "display", narrowed)


def narrowed(part: Part, width: float) -> tuple[str, float]:
    """A part in the width, if it can be, and how wide it is then."""
    if isinstance(part.shape, Scripted):
        return _scripted(*part.shape, width)
    scripts, scripts_width = hanging(part, width, "display", narrowed)
    room = width - scripts_width
    match part.shape:
        case Fraction(macro, above, below):
            sides = [_side(side, room - _BAR) for side in (above, below)]
            text = macro + "".join(f"{{{side}}}" for side, _ in sides)
            wide = _BAR + max(width for _, width in sides)
        case Root(inside):
            found = _lines(inside, room - _ROOT)
            text, wide = rf"\sqrt{{{stacked(found, '')}}}", _ROOT + _widest(found)
        case Table():
            text, wide = _table(part.shape, room)
        case _:
            return part.text, part.widths.display
    return text + scripts, wide + scripts_width


def _widest(found: Sequence[Line]) -> float:
    return max(line.width for line in found)


def _side(row: Row, room: float) -> tuple[str, float]:
    """A row in text style, as above a bar or in a cell; in display style, where a sum is narrower, if it needs that."""
    whole = widths_of(row).text
    if whole <= room:
        return text_of(row), whole
    found = _lines(row, room - _STACKED)
    text = rf"\displaystyle {found[0].text}" if len(found) == 1 else stacked(found, "")
    return text, _STACKED + _widest(found)


def _scripted(base: str, script: Script, width: float) -> tuple[str, float]:
    base_width = widths_of(parsed(base)).display
    found = _script_lines(script.row, width - base_width)
    rows = r" \\ ".join(map(indented, found))
    return rf"{base}{script.sign}{{\begin{{subarray}}{{l}} {rows} \end{{subarray}}}}", base_width + _widest(found)


def _script_lines(row: Row, width: float) -> Sequence[Line]:
    """An exponent, or indices: of these as many on a line as there is room for, if there is room for each."""
    commas = [k + 1 for k, part in enumerate(row) if part.text == ","]
    entries = [row[start:end] for start, end in pairwise([0, *commas, len(row)])]
    if any(widths_of(entry).script > width for entry in entries):
        return lines_of(row, width, "script", narrowed)
    found: list[Row] = []
    for entry in entries:
        if found and widths_of((*found[-1], *entry)).script <= width:
            found[-1] = (*found[-1], *entry)
        else:
            found.append(entry)
    return [Line(text_of(line), 0, widths_of(line).script) for line in found]


def _table(table: Table, width: float) -> tuple[str, float]:
    """In smaller type; where that does not do, with cells in lines; then both."""
    whole: Cells = [[(text_of(cell), widths_of(cell).text) for cell in row] for row in table.rows]
    room, tight = width - around_cells(table), width - _tightly_around(table)
    tries: list[tuple[Cells, str, float]] = [(whole, macro, by) for macro, by in (("", 1.0), *_SMALLER[:3])]
    tries += [(_broken(table, room), "", 1.0), *((_broken(table, tight / by), macro, by) for macro, by in _SMALLER)]
    for cells, macro, by in tries:
        wide = by * sum(max(width for _, width in column) for column in zip(*cells, strict=True))
        wide += _tightly_around(table) if macro else around_cells(table)
        text = _written(table, cells)
        if macro and r"\sum" in text:
            wide *= _IN_FRACTIONS if cells is whole and r"\frac" in text else _SAME_IN_EVERY_SIZE
        if wide <= width:
            break
    return (rf"\mbox{{{macro}\arraycolsep=2pt ${text}$}}" if macro else text), wide


def _tightly_around(table: Table) -> float:
    """The same with narrow columns; those of cases have a space of their own."""
    narrower = 0 if "cases" in table.begin else 10 - _NARROW_COLUMNS
    return around_cells(table) - narrower * (len(table.rows[0]) - 1)


def _broken(table: Table, room: float) -> Cells:
    """The cells in lines, so that all columns together are so wide, if that can be."""
    natural = [max(widths_of(cell).text for cell in column) for column in zip(*table.rows, strict=True)]
    shares = _shares(natural, room)
    return [[_cell(cell, share) for cell, share in zip(row, shares, strict=True)] for row in table.rows]


def _shares(natural: Sequence[float], room: float) -> list[float]:
    """The room of each column: what it needs, if that is less than an equal share of what the narrower ones leave."""
    shares = list(natural)
    left, waiting = room, sorted(range(len(natural)), key=natural.__getitem__)
    while waiting:
        column = waiting.pop(0)
        shares[column] = min(natural[column], left / (len(waiting) + 1))
        left -= shares[column]
    return shares


def _written(table: Table, cells: Cells) -> str:
    rows = r" \\ ".join(" & ".join(text for text, _ in row) for row in cells)
    return f"{table.begin} {rows} {table.end}"


def _cell(row: Row, room: float) -> tuple[str, float]:
    whole = widths_of(row).text
    if whole <= room:
        return text_of(row), whole
    found = lines_of(row, room - _STACKED, "display", narrowed, 0)
    rows = r" \\ ".join(line.text for line in found)
    return rf"\begin{{gathered}} {rows} \end{{gathered}}", _STACKED + _widest(found)

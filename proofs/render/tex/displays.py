r"""Displays: equations, lists of formulas, definitions. Labels are eq:<theorem> and hyp:<theorem>:<k>."""

from __future__ import annotations

from collections.abc import Sequence

from ..parts import Formula, Part
from .fitting import indented, lines, stacked
from .layouts import NUMBER, SIGN, Layout
from .parsing import parsed
from .prose import Voice
from .shapes import Row, text_of, widths_of

_LEFT_SIDE = 0.45  # of a line, for a name that is defined
_TALL = 4  # lines of a formula that stay together on a page


def rows_of(formula: str, width: float) -> list[str]:
    """A formula as rows of a display: one, or one a line where there are many, so that a page may end between them."""
    found = lines(formula, width)
    height = sum(1 + line.text.count(r"\\") for line in found)
    return [stacked(found)] if height <= _TALL or len(found) == 1 else [indented(line) for line in found]


def equation(formula: str, label: str, layout: Layout) -> list[str]:
    """A formula with a number; where it is wide, TeX puts the number below it."""
    rows = rows_of(formula, layout.text)
    if len(rows) == 1:
        whole = stacked(lines(formula, layout.text), "")
        return [rf"\begin{{equation}}\label{{{label}}}", f"  {whole}", r"\end{equation}"]
    return _display("align", [f"& {row}" for row in _marked(rows, rf"\label{{{label}}}")])


def numbered(formulas: Sequence[str], label: str, layout: Layout) -> list[str]:
    """Formulas below each other, each with a number and a label."""
    rows: list[str] = []
    for k, formula in enumerate(formulas, 1):
        rows += _marked(rows_of(formula, layout.text - NUMBER), rf"\label{{{label}:{k}}}")
    return _display("align", [f"& {row}" for row in rows])


def bare(formula: str, layout: Layout) -> list[str]:
    return _display("align*", [f"& {row}" for row in rows_of(formula, layout.text)])


def _marked(rows: Sequence[str], label: str) -> list[str]:
    """Rows of which the last one has the number."""
    return [*(rf"{row} \notag" for row in rows[:-1]), f"{rows[-1]} {label}"]


def _display(name: str, rows: Sequence[str]) -> list[str]:
    return [rf"\begin{{{name}}}", *(rf"  {row} \\" for row in rows[:-1]), f"  {rows[-1]}", rf"\end{{{name}}}"]


def definitions(found: Sequence[Sequence[Part]], voice: Voice) -> list[str]:
    """Definitions below each other, at their equals signs where these leave room enough; conditions stand below."""
    sides = [_sides(line) for line in found]
    width = _beside_names(sides, voice.layout)
    rows: list[str] = []
    for (name, body), (equation_, *rest) in zip(sides, found, strict=True):
        if width is not None:
            rows.append(rf"{text_of(name)} & = {stacked(lines(text_of(body), width))}")
        else:
            rows += [f"& {row}" for row in rows_of(equation_.text, voice.layout.text)]
        if rest:
            room = voice.layout.text if width is None else width
            condition = voice.running(rest, room).lstrip(", ")
            rows.append(rf"& \parbox[t]{{{room:.0f}pt}}{{\raggedright {condition}}}")
    return _display("align*", rows)


def _beside_names(sides: Sequence[tuple[Row, Row]], layout: Layout) -> float | None:
    """How wide what follows an equals sign may be; None where the names that are defined are too wide for that."""
    left = max((widths_of(name).display for name, _ in sides), default=0.0)
    width = layout.text - left - SIGN
    if left > layout.text * _LEFT_SIDE:
        return None
    beside = [lines(text_of(body), width) for _, body in sides]
    whole = [lines(f"{text_of(name)} = {text_of(body)}", layout.text) for name, body in sides]
    fits = max((line.width for found in beside for line in found), default=0.0) <= width
    return width if fits and sum(map(len, beside)) <= sum(map(len, whole)) + 1 else None


def _sides(line: Sequence[Part]) -> tuple[Row, Row]:
    """The name that a line defines, and what it stands for."""
    assert isinstance(line[0], Formula)
    row = parsed(line[0].text)
    equals = next(k for k, part in enumerate(row) if part.text == "=")
    return row[:equals], row[equals + 1 :]

r"""The steps of a proof, each with its number, its reason, and the label eq:<theorem>:<k>.

wide      = term    reason   (1)      the reason beside the step; below it where the step takes the whole line, and then as
                                      wide as that where a formula in it is wide
column    reason             (1)      the reason above the step
          = term
"""

from __future__ import annotations

from ..parts import Formula
from ..theorem import Line, Page
from .displays import rows_of
from .fitting import lines
from .layouts import NUMBER, SIGN
from .prose import Voice

_FORMULA, _GAP, _WIDEST_REASON = 180.0, 10.0, 150.0


def steps(found: Page, voice: Voice) -> list[str]:
    """The display of a proof from its left side on."""
    assert found.start is not None
    rows = _beside(found, found.start, voice) if voice.layout.beside else _above(found, found.start, voice)
    return [r"\begin{flalign}", *(rf"  {row} \\" for row in rows[:-1]), f"  {rows[-1]}", r"\end{flalign}"]


def _label(found: Page, number: int) -> str:
    return rf"\label{{eq:{found.name}:{number}}}"


def _above(found: Page, start: str, voice: Voice) -> list[str]:
    room = voice.layout.text - SIGN
    rows = [rf"& {row} && \notag" for row in rows_of(start, room)]
    for k, line in enumerate(found.lines, 1):
        rows.append(rf"& {_reason(line, room - NUMBER, voice)} && {_label(found, k)}")
        first, *later = rows_of(line.term, room)
        rows += [rf"{line.relation} {{}} & {first} && \notag", *(rf"& {row} && \notag" for row in later)]
    return rows


def _beside(found: Page, start: str, voice: Voice) -> list[str]:
    room = voice.layout.text - SIGN - NUMBER
    natural = [_natural(formula) for formula in (start, *(line.term for line in found.lines))]
    column = max((width for width in natural if width <= _FORMULA), default=0.0)
    reason = min(room - _GAP - column, _WIDEST_REASON)
    rows = [rf"& {row} && \notag" for row in _overhanging(start, column, room)]
    for k, line in enumerate(found.lines, 1):
        first, *later = _overhanging(line.term, column, room)
        begun, said = f"{line.relation} {{}} & {first}", _reason(line, reason, voice)
        if _natural(line.term) <= column:
            rows.append(f"{begun} && {said} {_label(found, k)}")
        else:
            rows += [
                f"{begun} && {_label(found, k)}",
                *(rf"& {row} && \notag" for row in later),
                rf"& && {said} \notag" if not _is_wide(line, reason) else _across(line, room, voice),
            ]
    return rows


def _is_wide(line: Line, width: float) -> bool:
    """Whether a reason has a formula that is wider than this."""
    return any(isinstance(part, Formula) and _natural(part.text) > width for part in line.reason)


def _across(line: Line, width: float, voice: Voice) -> str:
    """A reason that takes no room in the column of the steps."""
    return rf"& \rlap{{{_reason(line, width, voice)}}} && \notag"


def _natural(formula: str) -> float:
    return lines(formula, float("inf"))[0].width


def _overhanging(formula: str, column: float, room: float) -> list[str]:
    """The rows of a formula, which takes no room in its column where it is wider."""
    if _natural(formula) <= column:
        return [formula]
    return [rf"\rlap{{$\displaystyle {row}$}}" for row in rows_of(formula, room)]


def _reason(line: Line, width: float, voice: Voice) -> str:
    said = voice.running(line.reason, width)
    return rf"\parbox[t]{{{width:.0f}pt}}{{\raggedright\small {said}}}"

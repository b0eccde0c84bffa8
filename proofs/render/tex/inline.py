"""Formulas in running text. TeX breaks them after signs; long ones also after commas and between factors."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .breaking import of_fixed_size
from .fitting import narrowed
from .parsing import parsed
from .pieces import GENTLE, RELUCTANT, Piece, Taken
from .shapes import widths_of

_LONG = 60.0


@functools.lru_cache(maxsize=4096)
def inline(formula: str, width: float) -> str:
    """A formula in running text of a width, in points; raises RenderError for one that the printer does not write."""
    row = parsed(formula)
    if widths_of(row).text <= _LONG:
        return rf"\({formula}\)"
    found = list(Taken(width, "text", narrowed).apart(row))
    runs = [0.0]
    for piece in found:
        runs[-1:] = [runs[-1], piece.width] if piece.alone < GENTLE else [runs[-1] + piece.width]
    return rf"\({_text(found, GENTLE if max(runs) <= width else RELUCTANT)}\)"


def _text(found: Sequence[Piece], limit: float) -> str:
    """With places where TeX may break, at the pieces that cost less."""
    text = ""
    for k, piece in enumerate(found):
        may_break = k > 0 and piece.kind not in ("rel", "bin") and piece.alone < limit
        text += r"\allowbreak " if may_break else " " * (k > 0 and piece.spaced)
        text += of_fixed_size(piece)
    return text

r"""Formulas in running text. TeX breaks them after signs; where they are long, also after commas and between factors."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .breaking import of_fixed_size
from .fitting import narrowed
from .parsing import parsed
from .pieces import NEVER, Piece, Taken
from .shapes import widths_of

_LONG = 60.0


@functools.lru_cache(maxsize=4096)
def inline(formula: str, width: float) -> str:
    """A formula in running text of a width, in points. Raises RenderError for one that the LaTeX printer does not write."""
    row = parsed(formula)
    if widths_of(row).text <= _LONG:
        return rf"\({formula}\)"
    found = list(Taken(width, "text", narrowed).apart(row))
    runs = [0.0]
    for piece in found:
        runs[-1:] = [runs[-1], piece.width] if piece.gentle else [runs[-1] + piece.width]
    return rf"\({_text(found, gently=max(runs) <= width)}\)"


def _text(found: Sequence[Piece], gently: bool) -> str:
    """With places where TeX may break: at the gentle pieces, or at all that may start a line."""
    text = ""
    for k, piece in enumerate(found):
        may_break = k > 0 and piece.kind not in ("rel", "bin") and (piece.gentle or (not gently and piece.cost != NEVER))
        text += r"\allowbreak " if may_break else " " * (k > 0 and piece.spaced)
        text += of_fixed_size(piece)
    return text

"""From where indices are counted: a choice of the reader, which no proof depends on."""

from __future__ import annotations

from typing import NamedTuple

from .latex import Latex, LatexFromOne
from .typst import Typst, TypstFromOne
from .unicode import Unicode, UnicodeFromOne


class Numbering(NamedTuple):
    """Its name, and the printers that write so."""

    name: str
    latex: type[Latex]
    typst: type[Typst]
    unicode: type[Unicode]


ZERO_BASED = Numbering("zero-based", Latex, Typst, Unicode)
ONE_BASED = Numbering("one-based", LatexFromOne, TypstFromOne, UnicodeFromOne)
NUMBERINGS = {numbering.name: numbering for numbering in (ZERO_BASED, ONE_BASED)}

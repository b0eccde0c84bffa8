r"""Words for running text. Signs in them are set with \ensuremath: \( ... \) is always a formula that was proved."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..catalogues import Catalogue
from ..catalogues.templates import Said
from ..latex import MACROS
from ..lettering import lettered
from ..names import RenderError
from ..parts import Formula, Part
from .inline import inline
from .layouts import Layout

_RELATIONS = {"<": "<", ">": ">", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "→": r"\to"}
_SIGNS = {**_RELATIONS, "|": "|", "²": "^2", "−": "-", **MACROS}
_ESCAPED = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "_": r"\_",
    "“": "``", "”": "''", "‘": "`", "’": "'",
    **{c: f"\\{c}" for c in "&%#${}"}, **{c: rf"\ensuremath{{{sign}}}" for c, sign in _SIGNS.items()},
}  # fmt: skip
_LONG_NAME = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:[._][A-Za-z0-9]+){2,})")


def words(text: str) -> str:
    """Prose for text mode; a long name may be broken. Raises RenderError for a character that there is no LaTeX for."""
    pieces = _LONG_NAME.split(text)
    return "".join(_broken(piece) if k % 2 else "".join(map(_letter, piece)) for k, piece in enumerate(pieces))


def _broken(name: str) -> str:
    """A name that may be broken after dots and underscores."""
    return "".join(map(_letter, name)).replace(".", r".\allowbreak{}").replace(r"\_", r"\_\allowbreak{}")


def _letter(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if not character.isascii() and not "가" <= character <= "힣":
        raise RenderError(f"no LaTeX for {character!r} in running text; add it in proofs/render/tex/prose.py")
    return character


def sentence(text: str) -> str:
    """A sentence for text mode, on one line, with the indices and exponents that it means; raises RenderError as `words`."""
    return lettered(" ".join(text.split()), words, r"\textsubscript{{{}}}", r"\textsuperscript{{{}}}")


class Voice(NamedTuple):
    """How a fragment is laid out, in which language, and the names of the theorems that it cites."""

    layout: Layout
    catalogue: Catalogue
    cited: Collection[str] = ()

    def running(self, parts: Sequence[Part], width: float | None = None) -> str:
        """A line of prose with formulas that can be broken in a width, in points, or in a line of text."""
        return "".join(self._part(part, self.layout.text if width is None else width) for part in parts)

    def said(self, key: str, **values: Said) -> str:
        """A message of the catalogue as running text."""
        return self.running(self.catalogue.said(f"fragment.{key}", **values))

    def _part(self, part: Part, width: float) -> str:
        if isinstance(part, Formula):
            return inline(part.text, width)
        return self.named(part.text) if part.text in self.cited else words(part.text)

    def naming(self, sentence: str) -> str:
        """A sentence with the names of theorems in it."""
        names = "|".join(map(re.escape, sorted(self.cited, reverse=True)))
        pieces = re.split(f"({names})", sentence) if names else [sentence]
        return "".join(self.named(piece) if piece in self.cited else words(piece) for piece in pieces)

    def named(self, theorem: str) -> str:
        r"""A theorem in running text: its number where the document has it too, else its name.

        TeX decides, since a \ref to a label that is not there is an error of the document.
        """
        label = f"thm:{theorem}"
        number = rf"{words(self.catalogue.text('fragment.theorem'))}~\ref{{{label}}}"
        return rf"\ifcsname r@{label}\endcsname {number}\else \texttt{{{_broken(theorem)}}}\fi{{}}"

"""From Typst source to PDF, by the package typst: with the fonts that it brings and those beside this file, and no others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...kernel import Theorem
from ..catalogues import ENGLISH, Catalogue
from ..names import RenderError
from ..numbering import ZERO_BASED, Numbering
from .book import Progress, Source, source
from .drawings import EMPTY, read_gallery
from .hangul import NAME, require_covered, unpack
from .opening import Counts

_IN_DRAWINGS = f'"New Computer Modern","{NAME}"'


def write_pdf(
    theorems: Iterable[Theorem],
    out: Path,
    catalogue: Catalogue = ENGLISH,
    figures: Path | None = None,
    progress: Progress = lambda done, of: None,
    numbering: Numbering = ZERO_BASED,
) -> Counts:
    """Writes a PDF of the theorems, with the figures of a folder; tells how much there is in it.

    Raises GateError for a formula that differs from what was proved; RenderError for what a printer, the catalogue, the fonts
    or Typst lack, for figures that cannot be read, and where the package typst is missing; OSError.
    """
    typst = _typst()
    gallery = read_gallery(figures, catalogue.language, _IN_DRAWINGS) if figures else EMPTY
    found = source(theorems, catalogue, gallery, progress, numbering)
    require_covered(found.text)
    with tempfile.TemporaryDirectory() as folder:
        out.write_bytes(_compiled(typst, found, Path(folder)))
    return found.counts


def _compiled(typst: Any, found: Source, folder: Path) -> bytes:
    main = folder / "document.typ"
    main.write_text(found.text, encoding="utf-8")
    for drawing in found.drawings:
        (folder / drawing.file).write_text(drawing.svg, encoding="utf-8")
    unpack(folder)
    try:
        pdf, warnings = typst.compile_with_warnings(
            main, root=folder, font_paths=[folder], ignore_system_fonts=True, format="pdf", pdf_tags=False
        )
    except typst.TypstError as problem:
        raise RenderError(f"Typst refuses the document: {problem}") from problem
    if warnings:
        raise RenderError(f"Typst warns of the document: {'; '.join(map(str, warnings))}")
    assert isinstance(pdf, bytes)
    return pdf


def _typst() -> Any:
    try:
        import typst
    except ModuleNotFoundError:
        raise RenderError(
            "a PDF needs the package typst; found none; install it with: pip install 'transformer-proofs[pdf]'"
        ) from None
    return typst

"""The site: static pages that work from file://, without a connection and without scripts.

site.build(theorems, out, [ENGLISH, in_language("ko")]) writes

    index.html            every theorem, with a search
    <family>.html         the theorems of a family, #<theorem> and #<theorem>-<step>
    claims.html, graph.html, and with figures figures.html and mistakes.html
    assets/               one style sheet with the font of formulas in it, one script, and the font's licence
    ko/...                the same in each further language

Formulas are MathML, made from the LaTeX that was compared with the proof. The packages of the extra `html` are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...kernel import Theorem
from ..catalogues import ENGLISH, Catalogue
from ..numbering import ZERO_BASED, Numbering
from .packages import MissingPackageError, needed
from .summary import Progress, Summary

__all__ = ["MissingPackageError", "Progress", "Summary", "build"]


def build(
    theorems: Iterable[Theorem],
    out: Path,
    catalogues: Sequence[Catalogue] = (ENGLISH,),
    figures: Path | None = None,
    progress: Progress | None = None,
    numbering: Numbering = ZERO_BASED,
) -> Summary:
    """Writes the site of these theorems into the folder `out`, over an older one; the first language is at its top.

    `figures` is a folder that `python -m numeric figures` wrote, with one subfolder a language or for all of them.
    `progress` is told how many of how many theorems are set. An interrupted build leaves the older site as it was.

    Raises MissingPackageError; GateError for a formula that differs from what was proved; RenderError for one that
    cannot be set, and for figures that cannot be read; FileExistsError where `out` is a file, or a folder that holds
    something else than a site; OSError where nothing can be written.
    """
    for module in ("jinja2", "math_core"):
        needed(module)
    from .building import built

    return built(theorems, out, catalogues, figures, progress, numbering)

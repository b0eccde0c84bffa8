"""The comment at the top of a fragment: what tells it apart from an older one, or from one in another notation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ..catalogues import Catalogue
from ..claim_pages import ClaimPage
from ..gate import Gated
from ..notation_guide import choices
from ..numbering import Numbering
from .prose import Voice

_DISTRIBUTION = "transformer-proofs"
HANGUL = (
    "the document needs a Hangul font: \\usepackage{kotex}, or XeLaTeX or LuaLaTeX with one; plain pdflatex has none"
)


def header(gated: Gated, voice: Voice, numbering: Numbering, cites: Sequence[str]) -> list[str]:
    found, steps = gated.page, len(gated.page.lines)
    labels = [f"thm:{found.name}", f"eq:{found.name}"]
    labels += [_numbered(f"hyp:{found.name}", len(found.hypotheses))] if found.hypotheses else []
    labels += [_numbered(f"eq:{found.name}", steps)] if steps else []
    lines = [
        f"{found.name}",
        f"{made_by()}, layout {voice.layout.name}, language {voice.catalogue.language}, notation {numbering.name}",
        f"{gated.formulas} formulas, each parsed back from this text and equal to what was proved",
        *(f"notation: {told}" for _, told in choices(voice.catalogue, numbering)),
        r"needs amsmath, amssymb, amsthm and \newtheorem{theorem}{Theorem}: see preamble.tex",
        f"labels: {', '.join(labels)}",
    ]
    lines += [f"cites {', '.join(cites)}, of references.bib"] if cites else []
    lines += [HANGUL] if voice.catalogue.language == "ko" else []
    return _comment(lines)


def header_of_claim(page: ClaimPage, catalogue: Catalogue) -> list[str]:
    lines = [
        f"{page.id}, a claim of the source documents",
        f"{made_by()}, language {catalogue.language}",
        "words only: what was proved is in the theorems that decide it",
        r"needs amsmath, amsthm and \newtheorem{claim}{Claim}: see preamble.tex",
        f"labels: claim:{page.id}",
    ]
    return _comment([*lines, HANGUL] if catalogue.language == "ko" else lines)


def _comment(lines: Sequence[str]) -> list[str]:
    return [row for line in lines for row in textwrap.wrap(line, 110, initial_indent="% ", subsequent_indent="%   ")]


def _numbered(label: str, count: int) -> str:
    return f"{label}:1" + (f" to {count}" if count > 1 else "")


def made_by() -> str:
    """The name and version of what writes fragments."""
    try:
        return f"{_DISTRIBUTION} {version(_DISTRIBUTION)}"
    except PackageNotFoundError:
        return f"{_DISTRIBUTION} (not installed)"

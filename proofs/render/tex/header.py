"""The comment at the top of a fragment: what tells it apart from an older one, or from one in another notation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ..gate import Gated
from .prose import Voice

_DISTRIBUTION = "transformer-proofs"
NOTATION = (
    "indices start at 0, so that i < n is one of 0, ..., n - 1; tokens are rows, so that a layer maps X to X W; "
    "columns 2 m and 2 m + 1 of a positional encoding are interleaved, where the definitions do not say otherwise; "
    "other letters as declared"
)
HANGUL = (
    "the document needs a Hangul font: \\usepackage{kotex}, or XeLaTeX or LuaLaTeX with one; plain pdflatex has none"
)


def header(gated: Gated, voice: Voice, cites: Sequence[str]) -> list[str]:
    found, steps = gated.page, len(gated.page.lines)
    labels = [f"thm:{found.name}", f"eq:{found.name}"]
    labels += [_numbered(f"hyp:{found.name}", len(found.hypotheses))] if found.hypotheses else []
    labels += [_numbered(f"eq:{found.name}", steps)] if steps else []
    lines = [
        f"{found.name}",
        f"{_DISTRIBUTION} {_version()}, layout {voice.layout.name}, language {voice.catalogue.language}",
        f"{gated.formulas} formulas, each parsed back from this text and equal to what was proved",
        f"notation: {NOTATION}",
        r"needs amsmath, amssymb, amsthm and \newtheorem{theorem}{Theorem}: see preamble.tex",
        f"labels: {', '.join(labels)}",
    ]
    lines += [f"cites {', '.join(cites)}, of references.bib"] if cites else []
    lines += [HANGUL] if voice.catalogue.language == "ko" else []
    return [row for line in lines for row in textwrap.wrap(line, 110, initial_indent="% ", subsequent_indent="%   ")]


def _numbered(label: str, count: int) -> str:
    return f"{label}:1" + (f" to {count}" if count > 1 else "")


def _version() -> str:
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "(not installed)"

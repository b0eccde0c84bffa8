"""What stands beside the fragments: what a document needs to load, the references, and a document of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..catalogues import Catalogue
from ..references import bibtex
from .fragment import Fragment
from .layouts import Layout
from .prose import words

PREAMBLE, REFERENCES, WHOLE = "preamble.tex", "references.bib", "all.tex"


def companions(
    fragments: Sequence[Fragment], claims: Sequence[Fragment], layout: Layout, catalogue: Catalogue
) -> Mapping[str, str]:
    """The text of each file by its name; references.bib where a fragment cites something."""
    cites = {key for each in fragments for key in each.cites}
    found = {PREAMBLE: _preamble(catalogue), WHOLE: _whole(fragments, claims, layout, catalogue, bool(cites))}
    return found | ({REFERENCES: bibtex(cites)} if cites else {})


def _preamble(catalogue: Catalogue) -> str:
    lines = [
        "% What a document has to load for the fragments beside this file, unless it does so already.",
        r"\usepackage{amsmath,amssymb,amsthm}",
        *environments(catalogue),
    ]
    if catalogue.language == "ko":
        lines.insert(1, r"\usepackage{kotex} % Hangul; with XeLaTeX or LuaLaTeX any Hangul font does")
    return "\n".join([*lines, ""])


def environments(catalogue: Catalogue) -> list[str]:
    """What declares the environments of fragments."""
    theorem, claim = words(catalogue.text("fragment.theorem")), words(catalogue.text("claims.claim"))
    return [rf"\newtheorem{{theorem}}{{{theorem}}}", rf"\newtheorem{{claim}}{{{claim}}}"]


def _whole(
    fragments: Sequence[Fragment], claims: Sequence[Fragment], layout: Layout, catalogue: Catalogue, cites: bool
) -> str:
    columns = "" if layout.beside else "[twocolumn]"
    lines = [
        "% All fragments beside this file as one document: latexmk -pdf all.tex",
        rf"\documentclass{columns}{{article}}",
        rf"\input{{{PREAMBLE.removesuffix('.tex')}}}",
        r"\begin{document}",
    ]
    family = None
    for each in fragments:
        if each.name.partition(".")[0] != family:
            family = each.name.partition(".")[0]
            lines.append(rf"\section{{{words(catalogue.text(f'titles.{family}'))}}}")
        lines.append(input_of(each))
    if claims:
        lines += [rf"\section{{{words(catalogue.text('claims.title'))}}}", *map(input_of, claims)]
    if cites:
        lines += [r"\bibliographystyle{plain}", rf"\bibliography{{{REFERENCES.removesuffix('.bib')}}}"]
    return "\n".join([*lines, r"\end{document}", ""])


def input_of(fragment: Fragment) -> str:
    return rf"\input{{{fragment.place.removesuffix('.tex')}}}"

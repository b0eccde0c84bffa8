r"""All fragments as one document: title, contents, how a theorem is read, the families in chapters, claims, references.

It \inputs the fragments, and needs no more than they do; with hyperref, of texlive-latex-base, it has links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...kernel import Theorem
from ..catalogues import Catalogue
from ..chapters import chapters
from ..families import about
from ..notation_guide import READING, choices, read, signs
from ..numbering import ZERO_BASED, Numbering
from ..references import bibtex
from .companions import REFERENCES, environments, input_of
from .fragment import Fragment
from .header import made_by
from .prose import sentence, words

MAIN = "theorems.tex"
_LINKS = r"\usepackage[hidelinks,bookmarksnumbered,bookmarksdepth=3]{hyperref}"
_NO_LINKS = r"\newcommand{\phantomsection}{}\newcommand{\pdfbookmark}[3][]{}\newcommand{\hypersetup}[1]{}"


def book_files(
    theorems: Sequence[Theorem],
    fragments: Sequence[Fragment],
    claims: Sequence[Fragment],
    catalogue: Catalogue,
    numbering: Numbering = ZERO_BASED,
) -> Mapping[str, str]:
    """The text of each file by its name: the document MAIN, what it \\inputs, and its references; raises as `book`."""
    found = {each.place: each.text for each in (*fragments, *claims)}
    found[REFERENCES] = bibtex({key for each in fragments for key in each.cites})
    return found | {MAIN: book(theorems, fragments, claims, catalogue, numbering)}


def book(
    theorems: Sequence[Theorem],
    fragments: Sequence[Fragment],
    claims: Sequence[Fragment],
    catalogue: Catalogue,
    numbering: Numbering = ZERO_BASED,
) -> str:
    """The document of the fragments of these theorems, and of claims. Raises RenderError where there are no words."""
    written = _Written(catalogue, numbering)
    families: dict[str, list[Fragment]] = {}
    for each in fragments:
        families.setdefault(each.name.partition(".")[0], []).append(each)
    lines = [*written.preamble(), r"\begin{document}", *written.title(_counts(theorems, fragments, families))]
    lines += [*written.guide(), *written.chapters(families), *written.claims(claims)]
    if any(each.cites for each in fragments):
        lines.append(r"\clearpage\phantomsection\addcontentsline{toc}{section}{\refname}")
        lines.append(rf"\bibliographystyle{{plain}}\bibliography{{{REFERENCES.removesuffix('.bib')}}}")
    return "\n".join([*lines, r"\end{document}", ""])


def _counts(
    theorems: Sequence[Theorem], fragments: Sequence[Fragment], families: Mapping[str, Sequence[Fragment]]
) -> Mapping[str, int]:
    return {
        "theorems": sum(not t.is_axiom for t in theorems),
        "families": len(families),
        "steps": sum(len(t.steps) for t in theorems),
        "refusals": sum(len(t.near_misses) for t in theorems),
        "formulas": sum(f.formulas for f in fragments),
    }


class _Written:
    def __init__(self, catalogue: Catalogue, numbering: Numbering):
        self.catalogue, self.numbering = catalogue, numbering

    def _said(self, key: str, **values: str) -> str:
        return sentence(self.catalogue.text(key, **values))

    def preamble(self) -> Iterator[str]:
        yield r"\pdfinfoomitdate=1 \pdftrailerid{}"  # so that two runs give the same bytes
        yield r"\documentclass[a4paper]{article}"
        yield r"\usepackage{amsmath,amssymb,amsthm}"
        yield rf"\IfFileExists{{hyperref.sty}}{{{_LINKS}}}{{{_NO_LINKS}}}"
        yield from environments(self.catalogue)
        yield r"\numberwithin{theorem}{section}"
        yield rf"\hypersetup{{pdftitle={{{self._said('site.name')}}}}}"
        yield r"\makeatletter\renewcommand*\l@section{\@dottedtocline{1}{1.5em}{2.3em}}\makeatother"
        yield r"\pagestyle{headings}"

    def title(self, counts: Mapping[str, int]) -> Iterator[str]:
        yield rf"\title{{{self._said('site.name')}\\[1ex] \large {self._said('site.tagline')}}}"
        yield rf"\author{{}}\date{{{made_by()}}}\maketitle\thispagestyle{{empty}}"
        yield rf"\noindent {self._said('site.introduction')}"
        yield r"\begin{itemize}"
        yield from (rf"\item {self._said(f'site.count_{what}', count=f'{n:,}')}" for what, n in counts.items())
        yield r"\end{itemize}"
        yield r"\clearpage{\small\tableofcontents}"

    def guide(self) -> Iterator[str]:
        reading = self._said("document.reading")
        yield rf"\clearpage\phantomsection\addcontentsline{{toc}}{{section}}{{{reading}}}"
        yield rf"\section*{{{reading}}}\markboth{{}}{{}}"
        yield from _listed((words(heading), told) for heading, told in (read(self.catalogue, key) for key in READING))
        yield rf"\section*{{{self._said('notation.title')}}}"
        yield from _listed((words(heading), told) for heading, told in choices(self.catalogue, self.numbering))
        signed = ((rf"\(\displaystyle {f}\)", name) for name, f in signs(self.numbering.latex))
        yield from _listed((formula, self.catalogue.text(f"document.sign_{name}")) for formula, name in signed)

    def chapters(self, families: Mapping[str, Sequence[Fragment]]) -> Iterator[str]:
        for key, names in chapters(families):
            yield rf"\clearpage\part{{{self._said(f'site.chapter_{key}')}}}"
            for family in names:
                yield from self._family(family, families[family])

    def _family(self, family: str, fragments: Sequence[Fragment]) -> Iterator[str]:
        told = about(family, self.catalogue)
        yield rf"\section{{{words(told.title)}}}"
        yield rf"\sloppy {sentence(told.introduction)}"
        for key, text in (("scope", told.scope), ("hypothesis", told.hypothesis)):
            if text is not None:
                yield rf"\paragraph{{{self._said(f'site.{key}')}}} {sentence(text)}"
        yield r"\par\fussy"
        yield from (_entry(each, 2) for each in fragments)

    def claims(self, claims: Sequence[Fragment]) -> Iterator[str]:
        if claims:
            yield rf"\clearpage\part{{{self._said('site.claims')}}}"
            yield rf"\noindent {self._said('claims.lead')}"
            yield from (_entry(each, 1) for each in claims)


def _listed(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Headings, in LaTeX, each with a sentence."""
    yield r"\begin{description}\sloppy"
    yield from (rf"\item[{{{heading}}}] {sentence(told)}" for heading, told in entries)
    yield r"\end{description}"


def _entry(fragment: Fragment, level: int) -> str:
    """A fragment with a bookmark: a theorem below its family, a claim below its part."""
    title = words(fragment.name.rpartition(".")[2].replace("_", " "))
    return rf"\pdfbookmark[{level}]{{{title}}}{{{fragment.place}}}{input_of(fragment)}"

r"""A theorem as LaTeX to \input, which needs amsmath, amssymb and amsthm, and an environment `theorem`.

thm:<name>    the theorem            eq:<name>      its conclusion
hyp:<name>:k  its hypothesis k       eq:<name>:k    step k of its proof
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...kernel import Theorem
from ..catalogues import ENGLISH, Catalogue
from ..declared import besides
from ..families import sections, source_of
from ..gate import gated_page
from ..library import resting_on
from ..numbering import ZERO_BASED, Numbering
from ..parts import Formula, Part, Words
from ..references import Reference, citations, cited_by
from ..theorem import Page, Refusal
from . import displays
from .header import header
from .layouts import LAYOUTS, Layout
from .prose import Voice, sentence, words
from .reading_back import require_same
from .steps import steps


class Fragment(NamedTuple):
    """`place` is its file, `formulas` how many were compared with the proof, `cites` the keys of its references."""

    name: str
    place: str
    text: str
    formulas: int
    cites: tuple[str, ...]


def fragment(
    theorem: Theorem,
    layout: Layout = LAYOUTS["wide"],
    catalogue: Catalogue = ENGLISH,
    numbering: Numbering = ZERO_BASED,
) -> Fragment:
    """The fragment of a theorem.

    Raises GateError where a formula is not what was proved, or the text does not read back as its page; RenderError
    where there are no words for something.
    """
    gated = gated_page(theorem, numbering.latex, catalogue)
    voice = Voice(layout, catalogue, frozenset(t.name for t in theorem.uses))
    cites = cited_by(theorem)
    written = _Written(gated.page, theorem, voice)
    body = [*written.statement(), *written.proof(), *written.remarks()]
    text = "\n".join([*header(gated, voice, numbering, cites), *body, ""])
    require_same(text, gated.page, layout)
    return Fragment(theorem.name, place(theorem.name), text, gated.formulas, cites)


def place(name: str) -> str:
    """The file of a theorem, below the folder of the fragments."""
    return name.replace(".", "/") + ".tex"


class _Written:
    def __init__(self, found: Page, theorem: Theorem, voice: Voice):
        self.found, self.theorem, self.voice = found, theorem, voice

    def statement(self) -> Iterator[str]:
        found, voice = self.found, self.voice
        title = words(found.name.rpartition(".")[2].replace("_", " "))
        yield rf"\begin{{theorem}}[{title}]\label{{thm:{found.name}}}\allowdisplaybreaks\sloppy"
        yield sentence(found.says)
        yield from self._hypothesis()
        follows = "_where" if found.definitions else "_if" if found.hypotheses else ""
        if found.symbols:
            symbols = voice.catalogue.joined("lists.semicolon", [s.parts for s in found.symbols])
            yield voice.said(f"for_all{follows}", symbols=symbols)
        if found.definitions:
            yield from [] if found.symbols else [voice.said("where")]
            yield from displays.definitions(found.definitions, voice)
        if found.hypotheses:
            yield from [voice.said("given")] if found.definitions or not found.symbols else []
            yield from displays.numbered(found.hypotheses, f"hyp:{found.name}", voice.layout)
            yield voice.said("then")
        elif found.definitions:
            yield voice.said("holds")
        yield from displays.equation(found.conclusion, f"eq:{found.name}", voice.layout)
        yield r"\end{theorem}"

    def _hypothesis(self) -> Iterator[str]:
        """The hypothesis of the family, where the sentence of the theorem names it."""
        family = self.theorem.name.partition(".")[0]
        english = sections(family).get("hypothesis")
        if english is not None and "(H)" in self.theorem.says:
            said = self.voice.catalogue.sentence(family, "hypothesis", english)
            yield self.voice.said("hypothesis", hypothesis=said)

    def proof(self) -> Iterator[str]:
        found, voice = self.found, self.voice
        if found.start is None:
            return
        yield r"\begin{proof}\allowdisplaybreaks\sloppy"
        yield voice.said("proof")
        if found.met:
            yield voice.running(_capital(besides(found.met, voice.catalogue))) + "."
        yield from steps(found, voice)
        yield self._rests_on()
        yield r"\end{proof}"

    def _rests_on(self) -> str:
        uses, voice = self.theorem.uses, self.voice
        if not uses:
            return voice.said("rests_on_none")
        names = voice.catalogue.listed([Words(t.name) for t in uses])
        more = len(resting_on(self.theorem)) - len(uses)
        if not more:
            return voice.said("rests_on", names=names)
        return voice.said("rests_on_more", names=names, count=str(more))

    def remarks(self) -> Iterator[str]:
        yield r"\begingroup\allowdisplaybreaks\sloppy"
        yield from self._false_twins()
        yield from self._source()
        yield r"\par\endgroup"

    def _false_twins(self) -> Iterator[str]:
        for k, refusal in enumerate(self.found.refusals):
            skip = r"\par\medskip\noindent" if k == 0 else r"\par\noindent"
            yield skip + (rf"\textit{{{self.voice.said('false')}}}" if k == 0 else "")
            yield from self._false_twin(refusal)

    def _false_twin(self, refusal: Refusal) -> Iterator[str]:
        voice = self.voice
        if refusal.symbols:
            yield voice.running(_capital(besides(refusal.symbols, voice.catalogue))) + "."
        if refusal.definitions:
            yield voice.said("refused_where")
            yield from displays.definitions(refusal.definitions, voice)
        given = voice.catalogue.joined("lists.and", map(Formula, refusal.hypotheses or ()))
        if refusal.hypotheses is None:
            yield voice.said("refused")
        else:
            yield voice.said("refused_if", hypotheses=given) if given else voice.said("refused_without")
        yield from displays.bare(refusal.conclusion, voice.layout)
        yield voice.naming(refusal.message) + ":"
        yield from displays.bare(refusal.residue, voice.layout)

    def _source(self) -> Iterator[str]:
        """Where it comes from: what the header of its family names; of an axiom, where it is proved."""
        family, catalogue = self.theorem.name.partition(".")[0], self.voice.catalogue
        if self.theorem.is_axiom:
            yield rf"\par\noindent {self.voice.said('cited')} {_with_keys(source_of(self.theorem, catalogue))}"
            return
        english = sections(family).get("reference", "")
        if any(isinstance(piece, Reference) for piece in citations(english)):
            said = catalogue.sentence(family, "reference", english)
            yield rf"\par\noindent\textit{{{self.voice.said('source')}}} {_with_keys(said)}"


def _with_keys(said: str) -> str:
    """A sentence that names papers, each with the key that it has in references.bib."""
    pieces = citations(said)
    return "".join(
        rf"{words(piece.cited_as[0])}~\cite{{{piece.key}}}" if isinstance(piece, Reference) else words(piece)
        for piece in pieces
    )


def _capital(parts: Sequence[Part]) -> tuple[Part, ...]:
    first, *rest = parts
    assert isinstance(first, Words)
    return Words(first.text[:1].upper() + first.text[1:]), *rest

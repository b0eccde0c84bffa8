r"""A claim of the source documents as LaTeX to \input, which needs amsmath, amsthm and an environment `claim`.

claim:<id>    the claim, with its verdict in words; theorems of the document that decide it have their numbers
"""

from __future__ import annotations

from collections.abc import Iterator

from ...claims import Claimed
from ..catalogues import ENGLISH, Catalogue
from ..claim_pages import ClaimPage, claim_page
from ..parts import Words
from .fragment import Fragment
from .header import header_of_claim
from .layouts import LAYOUTS
from .prose import Voice, sentence, words

FOLDER = "claims"


def claim_fragment(claimed: Claimed, catalogue: Catalogue = ENGLISH) -> Fragment:
    """The fragment of a claim, the same in every layout; raises RenderError for a sign that has no LaTeX."""
    page = claim_page(claimed, catalogue)
    text = "\n".join([*header_of_claim(page, catalogue), *_body(page, catalogue), ""])
    return Fragment(page.id, f"{FOLDER}/{page.id}.tex", text, 0, ())


def _body(page: ClaimPage, catalogue: Catalogue) -> Iterator[str]:
    yield rf"\begin{{claim}}[{words(f'{page.id}, {page.verdict}')}]\label{{claim:{page.id}}}\sloppy"
    yield sentence(catalogue.text("claims.says", claim=page.claim)) + "."
    yield rf"\par\normalfont{_labelled('holds', catalogue)} {sentence(page.sentence)}"
    if page.counterexample:
        yield rf"\par{_labelled('counterexample', catalogue)} {sentence(page.counterexample)}."
    voice = Voice(LAYOUTS["column"], catalogue, page.theorems)
    theorems = voice.running(catalogue.listed(map(Words, page.theorems)))
    yield rf"\par\raggedright{_labelled('decided_by', catalogue)} {theorems}."
    yield r"\end{claim}"


def _labelled(key: str, catalogue: Catalogue) -> str:
    return rf"\noindent\textit{{{words(catalogue.text(f'claims.{key}'))}.}}"

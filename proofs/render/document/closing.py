"""What stands behind the theorems: the claims of the source documents, what is cited, and an index of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...claims import Claimed
from ...kernel import Theorem
from ..catalogues import Catalogue
from ..claim_pages import claim_page
from ..library import family_of, own_name
from ..references import cited_by, references
from .markup import Setter, array, call, string

_HEADS = ("title", "lead", "claim", "verdict", "counterexample")


def claims_table(catalogue: Catalogue, setter: Setter, claims: Sequence[Claimed]) -> Iterator[str]:
    if not claims:
        return
    said = {key: string(catalogue.text(f"claims.{key}")) for key in _HEADS}
    heads = array([said["verdict"], said["claim"]])
    rows = (_claim(catalogue, setter, claimed) for claimed in claims)
    yield call("claims", said["title"], said["lead"], heads, said["counterexample"], *rows)


def _claim(catalogue: Catalogue, setter: Setter, claimed: Claimed) -> str:
    page = claim_page(claimed, catalogue)
    told = (*map(string, (page.id, page.kind, page.verdict)), setter.words(page.claim), setter.words(page.sentence))
    counterexample = setter.words(page.counterexample) if page.counterexample else "none"
    return array([*told, counterexample, array(map(setter.name, page.theorems))])


def bibliography(catalogue: Catalogue, theorems: Sequence[Theorem]) -> Iterator[str]:
    keys = {key for theorem in theorems for key in cited_by(theorem)}
    works = sorted((references()[key] for key in keys), key=lambda work: work.line)
    if works:
        listed = (array([string(work.line), string(work.url) if work.url else "none"]) for work in works)
        yield call("works", string(catalogue.text("site.reference")), *listed)


def index_of_names(catalogue: Catalogue, theorems: Sequence[Theorem]) -> Iterator[str]:
    names = sorted((t.name for t in theorems), key=lambda name: (own_name(name).lower(), name))
    listed = (array([string(own_name(name)), string(family_of(name)), string(name)]) for name in names)
    yield call("index", string(catalogue.text("document.index")), *listed)

"""What stands behind the theorems: the claims of the source documents, what is cited, and an index of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...claims import Claimed
from ...kernel import Theorem
from ..catalogues import Catalogue
from ..library import family_of, own_name
from ..references import cited_by, references
from .markup import Setter, array, call, string

_HEADS = ("claims_title", "claims_lead", "claim", "verdict", "counterexample")
_VERDICTS = {"proved": "proved", "proved as corrected": "corrected", "refuted": "refuted"}


def claims_table(catalogue: Catalogue, setter: Setter, claims: Sequence[Claimed]) -> Iterator[str]:
    if not claims:
        return
    site = {key: string(catalogue.text(f"site.{key}")) for key in _HEADS}
    heads = array([site["verdict"], site["claim"]])
    rows = (_claim(catalogue, setter, claimed) for claimed in claims)
    yield call("claims", site["claims_title"], site["claims_lead"], heads, site["counterexample"], *rows)


def _claim(catalogue: Catalogue, setter: Setter, claimed: Claimed) -> str:
    def said(part: str) -> str:
        return string(catalogue.sentence("claims", f"{claimed.id}.{part}", getattr(claimed, part)))

    verdict = string(catalogue.text(f"site.verdict_{_VERDICTS[claimed.verdict]}"))
    counterexample = said("counterexample") if claimed.counterexample else "none"
    names = array(map(setter.name, claimed.theorems))
    kind = string(_VERDICTS[claimed.verdict])
    return array([string(claimed.id), kind, verdict, said("claim"), said("sentence"), counterexample, names])


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

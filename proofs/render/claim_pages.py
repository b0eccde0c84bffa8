"""A claim of the source documents as it is told in a language, and what came of it: prose, which no proof covers."""

from __future__ import annotations

from typing import NamedTuple

from ..claims import Claimed
from .catalogues import ENGLISH, Catalogue

_KINDS = {"proved": "proved", "proved as corrected": "corrected", "refuted": "refuted", "failed": "failed"}


class ClaimPage(NamedTuple):
    """`kind` is proved, corrected or refuted, `sentence` what holds, `theorems` those that decide it."""

    id: str
    kind: str
    verdict: str
    claim: str
    sentence: str
    counterexample: str | None
    theorems: tuple[str, ...]


def claim_page(claimed: Claimed, catalogue: Catalogue = ENGLISH) -> ClaimPage:
    """A claim in the words of a catalogue; raises CatalogueError where it has none for a part."""

    def said(part: str) -> str:
        return catalogue.sentence("claims", f"{claimed.id}.{part}", getattr(claimed, part))

    return ClaimPage(
        id=claimed.id,
        kind=_KINDS[claimed.verdict],
        verdict=verdict_words(claimed.verdict, catalogue),
        claim=said("claim"),
        sentence=said("sentence"),
        counterexample=said("counterexample") if claimed.counterexample else None,
        theorems=claimed.theorems,
    )


def verdict_words(verdict: str, catalogue: Catalogue = ENGLISH) -> str:
    """A verdict of proofs/claims.py, or "failed", in the words of a catalogue."""
    return catalogue.text(f"claims.{_KINDS[verdict]}")

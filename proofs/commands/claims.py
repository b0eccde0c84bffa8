"""`claims`: what the source documents claim, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..claims import CLAIMS, Decided, decided
from ..render.catalogues import ENGLISH, Catalogue
from ..render.claim_pages import ClaimPage, claim_page, verdict_words
from .outcomes import Row

_STYLES = {"failed": "bold red", "refuted": "yellow"}


def decided_rows(catalogue: Catalogue = ENGLISH) -> list[dict[str, Any]]:
    """Every claim, its theorems proved here and now; the verdict is one of proofs/claims.py in every language."""
    return [_row(row, claim_page(row.claimed, catalogue)) for row in decided()]


def _row(decided_: Decided, page: ClaimPage) -> dict[str, Any]:
    return {
        "id": page.id, "claim": page.claim, "verdict": decided_.verdict, "sentence": page.sentence,
        "theorems": list(page.theorems), "counterexample": page.counterexample,
    }  # fmt: skip


def decided_by(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The claims whose theorems are all among those that were tried, with the verdict that follows."""
    status = {row["name"]: row["status"] for row in rows}
    found = []
    for claim in CLAIMS:
        if all(name in status for name in claim.theorems):
            failed = any(status.get(name, "proved") != "proved" for name in claim.theorems)
            found.append(
                {"id": claim.id, "verdict": "failed" if failed else claim.verdict, "theorems": list(claim.theorems)}
            )
    return found


def show_claims(rows: Sequence[dict[str, Any]], console: Console, catalogue: Catalogue = ENGLISH) -> None:
    table = Table(box=None, pad_edge=False, expand=True, header_style="bold")
    table.add_column(catalogue.text("claims.id"), no_wrap=True)
    table.add_column(catalogue.text("claims.verdict"), width=12)
    table.add_column(catalogue.text("claims.claim"), ratio=1, overflow="fold")
    for row in rows:
        said = Text(row["claim"])
        for extra, looks in (
            (row["sentence"], "italic"),
            (row["counterexample"], ""),
            (", ".join(row["theorems"]), "dim"),
        ):
            if extra:
                said.append(f"\n{extra}", looks)
        verdict = Text(verdict_words(row["verdict"], catalogue), _STYLES.get(row["verdict"], "green"))
        table.add_row(row["id"], verdict, said)
        table.add_row()
    console.print(table)
    console.print(Text(_total([row["verdict"] for row in rows], catalogue), "bold"))


def _total(verdicts: Sequence[str], catalogue: Catalogue) -> str:
    counts = [
        catalogue.text("claims.counted", count=str(verdicts.count(v)), verdict=verdict_words(v, catalogue))
        for v in dict.fromkeys(verdicts)
    ]
    return catalogue.text("claims.total", count=str(len(verdicts)), verdicts=", ".join(counts))

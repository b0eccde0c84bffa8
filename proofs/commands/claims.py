"""`claims`: what the source documents claim, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..claims import CLAIMS, decided
from .outcomes import Row

_STYLES = {"failed": "bold red", "refuted": "yellow"}


def decided_rows() -> list[dict[str, Any]]:
    """Every claim, its theorems proved here and now."""
    return [
        row.claimed._asdict() | {"verdict": row.verdict, "theorems": list(row.claimed.theorems)} for row in decided()
    ]


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


def show_claims(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(box=None, pad_edge=False, expand=True, header_style="bold")
    table.add_column("id", no_wrap=True)
    table.add_column("verdict", width=12)
    table.add_column("claim", ratio=1, overflow="fold")
    for row in rows:
        said = Text(row["claim"])
        for extra, looks in (
            (row["sentence"], "italic"),
            (row["counterexample"], ""),
            (", ".join(row["theorems"]), "dim"),
        ):
            if extra:
                said.append(f"\n{extra}", looks)
        table.add_row(row["id"], Text(row["verdict"], _STYLES.get(row["verdict"], "green")), said)
        table.add_row()
    console.print(table)
    verdicts = [row["verdict"] for row in rows]
    counts = (f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    console.print(Text(f"{len(rows)} claims: {', '.join(counts)}", "bold"))

"""`list`: what the catalogue states, before anything is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ..registry import Claim
from ..render.theorem import one_line
from .lines import cropped


def listed(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    return [{"name": c.name, "family": c.family, "says": c.says, "statement": one_line(c.statement)} for c in claims]


def show_list(claims: Sequence[Claim], console: Console) -> None:
    entries = listed(claims)
    for family in dict.fromkeys(c.family for c in claims):
        console.print(Text(family, "bold"))
        for entry in (e for e in entries if e["family"] == family):
            cropped(f"  {entry['name'].rpartition('.')[2]}", console, "green")
            cropped(f"    {entry['statement']}", console, "dim")
        console.print()
    console.print(Text(f"{len(claims)} theorems", "bold"))

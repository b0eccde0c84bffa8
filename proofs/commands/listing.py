"""`list`: what the catalogue states, before anything is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ..registry import Claim
from ..render.catalogues import ENGLISH, Catalogue
from ..render.theorem import one_line
from .lines import cropped


def listed(claims: Sequence[Claim], catalogue: Catalogue = ENGLISH) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "family": c.family,
            "says": catalogue.theorem(c.name, c.says),
            "statement": one_line(c.statement, catalogue),
        }
        for c in claims
    ]


def show_list(claims: Sequence[Claim], console: Console, catalogue: Catalogue = ENGLISH) -> None:
    entries = listed(claims, catalogue)
    for family in dict.fromkeys(c.family for c in claims):
        console.print(Text(family, "bold"))
        for entry in (e for e in entries if e["family"] == family):
            cropped(f"  {entry['name'].rpartition('.')[2]}", console, "green")
            cropped(f"    {entry['statement']}", console, "dim")
        console.print()
    number = "one" if len(claims) == 1 else "many"
    console.print(Text(catalogue.text(f"site.theorem_{number}", count=str(len(claims))), "bold"))

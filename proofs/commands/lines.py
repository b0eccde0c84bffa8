"""Lines for a terminal, never wider than it."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_BESIDE_WIDE = "\ue000"  # stands beside each character that takes two columns while a line is measured


def wrapped(text: str, console: Console, first: str, later: str | None = None, style: str = "") -> None:
    """Broken at spaces; only a word that is wider than the page is cut. `first` and `later` are indents."""
    indent = first + "  " if later is None else later
    measured = "".join(c + _BESIDE_WIDE if cell_len(c) == 2 else c for c in text)
    lines = textwrap.wrap(
        measured, console.width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
    for line in lines or [first.rstrip()]:
        console.print(Text(line.replace(_BESIDE_WIDE, ""), style), no_wrap=True)


def cropped(text: str, console: Console, style: str = "") -> None:
    """One line; what does not fit is an ellipsis."""
    line = Text(text, style)
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True)

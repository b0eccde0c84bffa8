"""Lines for a terminal, never wider than it."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text


def wrapped(text: str, console: Console, first: str, later: str | None = None, style: str = "") -> None:
    """Broken at spaces; only a word that is wider than the page is cut. `first` and `later` are indents."""
    indent = first + "  " if later is None else later
    lines = textwrap.wrap(text, console.width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
    for line in lines or [first.rstrip()]:
        console.print(Text(line, style), no_wrap=True)


def cropped(text: str, console: Console, style: str = "") -> None:
    """One line; what does not fit is an ellipsis."""
    line = Text(text, style)
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True)

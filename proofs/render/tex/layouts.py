"""The two layouts of a fragment: how wide the text is, and where the reason of a step stands."""

from __future__ import annotations

from typing import NamedTuple


class Layout(NamedTuple):
    """Widths in points. `beside` is whether reasons stand in a column beside the steps, or each above its step."""

    name: str
    text: float  # of a line of text
    beside: bool


# The text of article is 345 pt wide; two columns of it are 221 pt each on A4 and 229 pt on letter paper.
LAYOUTS = {"wide": Layout("wide", 343.0, True), "column": Layout("column", 217.0, False)}
NUMBER = 32.0  # room for the number of an equation, such as (1234), and the space before it
SIGN = 14.0  # a relation in a column of its own

"""A line of prose with formulas in it."""

from typing import NamedTuple


class Words(NamedTuple):
    text: str


class Formula(NamedTuple):
    text: str


Part = Words | Formula


def plain(parts: tuple[Part, ...]) -> str:
    """The line where words and formulas are set alike, as in a terminal."""
    return "".join(part.text for part in parts)

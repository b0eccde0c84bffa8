"""A line of prose with formulas in it."""

from typing import NamedTuple


class Words(NamedTuple):
    text: str


class Formula(NamedTuple):
    text: str


Part = Words | Formula


class Declaration(NamedTuple):
    """What a page says of one symbol, or of a group of symbols of one kind.

    `kind` is what the words say, in any language:

        size         least value <= name
        space        name is a probability space
        members      names < size, names in a domain or a space
        families     entries in a domain for places
        random       ... with a finite second moment
        curve        entry in a domain for places, differentiable in the last place, with the derivative
        map          entry < size for places
        permutation  ... one to one
    """

    kind: str
    parts: tuple[Part, ...]


def plain(parts: tuple[Part, ...]) -> str:
    """The line where words and formulas are set alike, as in a terminal."""
    return "".join(part.text for part in parts)

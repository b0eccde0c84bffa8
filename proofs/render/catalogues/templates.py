"""Messages with places for formulas: "by squeezing between {lower} and {upper}"."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import NamedTuple

from ..names import RenderError
from ..parts import Formula, Part, Words

Parts = tuple[Part, ...]
Said = Parts | Part | str


class CatalogueError(RenderError):
    """A catalogue does not say what a page needs; nothing is said in another language instead."""


class Template(NamedTuple):
    """Pieces in order: words, and the name of the place that follows them, if one does."""

    pieces: tuple[tuple[str, str | None], ...]

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.pieces if name is not None)

    def filled(self, values: Mapping[str, Said]) -> Parts:
        """The message with its places filled; raises CatalogueError for a place without a value, or a value without one."""
        if set(self.places) != set(values):
            raise CatalogueError(
                f"a message has places for {', '.join(self.places) or 'nothing'}; found {', '.join(values) or 'nothing'}"
            )
        found: Parts = ()
        for words, name in self.pieces:
            found += (Words(words),) if words else ()
            found += _parts(values[name]) if name is not None else ()
        return found


def template(text: str) -> Template:
    """A message parsed; {{ and }} stand for braces. Raises CatalogueError for anything else in braces than one plain name."""
    try:
        pieces = tuple(Formatter().parse(text))
    except ValueError as problem:
        raise CatalogueError(f"{text!r} is no message: {problem}; write {{{{ and }}}} for braces") from None
    for _, name, spec, conversion in pieces:
        if name is not None and (not name.isidentifier() or spec or conversion):
            raise CatalogueError(f"{text!r} is no message: a place is one plain name, such as {{lower}}")
    return Template(tuple((words, name) for words, name, _, _ in pieces))


def _parts(said: Said) -> Parts:
    if isinstance(said, str):
        return (Words(said),)
    return (said,) if isinstance(said, Words | Formula) else said

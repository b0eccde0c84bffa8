"""What reads a notation: texts of a form as raw trees. Plain text also needs the names that a text may speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .tree import Name

Read = Callable[[str, str], Any]  # of a text, and the form that it has


@dataclass(frozen=True)
class Knowing:
    """A front end for a notation in which only the names tell where a name ends and its subscripts start."""

    read: Callable[[str, str, frozenset[Name]], Any]
    names: frozenset[Name] = frozenset()

    def __call__(self, text: str, form: str = "statement") -> Any:
        return self.read(text, form, self.names)


def knowing(read: Read, names: Iterable[Name]) -> Read:
    """A front end that knows these names, if it needs to know any."""
    return replace(read, names=frozenset(names)) if isinstance(read, Knowing) else read

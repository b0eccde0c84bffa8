"""What a page declares: what each name on it stands for, and the number from which it counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .tree import Name


class DeclarationError(ValueError):
    """A page declares other symbols, or defines other names, than the theorem has."""


class Table(NamedTuple):
    """Names as they look, with their symbols or definitions; `first` is how the first index of a range is written."""

    entries: Mapping[Name, Any]
    first: int = 0

    def with_(self, more: Mapping[Name, Any]) -> Table:
        """Raises DeclarationError where a name would stand for two things."""
        for name, symbol in more.items():
            if self.entries.get(name, symbol) != symbol:
                raise DeclarationError(f"{name} would stand for two things: declare them under two names")
        return self._replace(entries={**self.entries, **more})

    def get(self, name: Name) -> Any:
        return self.entries.get(name)

"""Which theorems are meant: `-k "softmax and not limit"`, and names with a hint where one is wrong."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar


class UsageError(Exception):
    """A command that asks for what there is not; the message says what there is."""


class Named(Protocol):
    name: str


N = TypeVar("N", bound=Named)
Match = Callable[[str], bool]
NO_GROUPS: Mapping[str, Collection[str]] = MappingProxyType({})
_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")


def selected(items: Sequence[N], expression: str | None) -> list[N]:
    """Those whose name matches; raises UsageError where none does, or the expression is none."""
    if expression is None:
        return list(items)
    matches = _Expression(expression).match
    found = [item for item in items if matches(item.name)]
    if not found:
        raise UsageError(
            f"-k {expression!r} matches none of the {len(items)} theorems; `python -m proofs list` names them"
        )
    return found


def named(items: Sequence[N], name: str, also: Collection[str] = ()) -> N:
    """The one with this name: family.theorem, or only the theorem where one family has it.

    Raises UsageError, with a near name where one is near, perhaps one of `also`.
    """
    full = [item for item in items if item.name == name]
    short = full or [item for item in items if item.name.rpartition(".")[2] == name]
    if len(short) == 1:
        return short[0]
    if short:
        raise UsageError(f"{name!r} is in several families: say which, as {' or '.join(i.name for i in short)}")
    known = {spelled: item.name for item in items for spelled in (item.name.rpartition(".")[2], item.name)}
    known |= {other: other for other in also}
    close = dict.fromkeys(known[near] for near in difflib.get_close_matches(name, list(known), n=3, cutoff=0.6))
    hint = f"did you mean {' or '.join(close)}?" if close else "`python -m proofs list` names them"
    raise UsageError(f"no theorem is named {name!r}; {hint}")


def of_names(items: Sequence[N], names: Sequence[str], groups: Mapping[str, Collection[str]] = NO_GROUPS) -> list[N]:
    """Those with these names, all of a family that is named, and those that the name of a group stands for.

    They stay in their own order; all where none is named. Raises UsageError.
    """
    families = {item.name.rpartition(".")[0] for item in items}
    wanted = {own for name in names if name not in families for own in groups.get(name, [name])}
    found = {named(items, name, also=families | groups.keys()).name for name in wanted}
    return [item for item in items if not names or item.name in found or item.name.rpartition(".")[0] in names]


class _Expression:
    """Substrings, joined by `not`, `and`, `or` and brackets; letters match in either case, as in pytest."""

    def __init__(self, text: str):
        self._text = text
        self._tokens = [a or b for a, b in _TOKEN.findall(text)]
        self._at = 0
        self.match = self._either()
        if self._at < len(self._tokens):
            raise self._wrong(f"found {self._tokens[self._at]!r} where the expression should end")

    def _wrong(self, problem: str) -> UsageError:
        return UsageError(f"-k {self._text!r}: {problem}; needed names with and, or, not and brackets")

    def _next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _takes(self, word: str) -> bool:
        found = self._next() == word
        self._at += found
        return found

    def _either(self) -> Match:
        parts = [self._both()]
        while self._takes("or"):
            parts.append(self._both())
        return lambda name: any(part(name) for part in parts)

    def _both(self) -> Match:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return lambda name: all(part(name) for part in parts)

    def _one(self) -> Match:
        if self._takes("not"):
            part = self._one()
            return lambda name: not part(name)
        if self._takes("("):
            inner = self._either()
            if not self._takes(")"):
                raise self._wrong("a bracket is not closed")
            return inner
        word = self._next()
        if word is None or word in ("and", "or", ")"):
            raise self._wrong(
                f"found {word!r} where a name should stand" if word else "it ends where a name should stand"
            )
        self._at += 1
        return lambda name: word.lower() in name.lower()

"""Tokens of Typst, with the spaces between them: wherever it could matter to Typst, only one spacing is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..forms import Forms

_TALL = frozenset(["frac(", "sum", "mat(", "cases("])


T = TypeVar("T")


class Spacing(Forms):
    def hangs(self, sign: str) -> bool:
        """Whether this sign is next, with no space before it."""
        return self.sees(sign) and not self.peek().spaced

    def until(self, closing: str, inside: Callable[[], T]) -> T:
        """What stands before a closing bracket, which is taken."""
        found = inside()
        self.need(closing)
        return found

    def in_brackets(self, inside: Callable[[], T]) -> T:
        self.need("(")
        return self.until(")", inside)

    def need_space(self) -> None:
        if not self.peek().spaced:
            self.fail("a space")

    def squared(self, inside: Callable[[], T]) -> T:
        """What stands in square brackets, a space before them."""
        self.need_space()
        self.need("[")
        return self.until("]", inside)

    def is_tall(self, start: int) -> bool:
        """Whether anything since that token is higher than a line."""
        taken = self._tokens[start : self._next]
        return any(t.kind == "sign" and t.text in _TALL for t in taken)

"""Tokens of Typst, with the spaces between them: wherever it could matter to Typst, only one spacing is read."""

from __future__ import annotations

from collections.abc import Callable

from ..stream import Stream
from ..tree import Node

_TALL = frozenset(["frac(", "sum", "mat(", "cases("])


class Spacing(Stream):
    def hangs(self, sign: str) -> bool:
        """Whether this sign is next, with no space before it."""
        return self.sees(sign) and not self.peek().spaced

    def until(self, closing: str, inside: Callable[[], Node]) -> Node:
        """What stands before a closing bracket, which is taken."""
        if self.peek().spaced:
            self.fail("no space behind a bracket")
        found = inside()
        if self.peek().spaced:
            self.fail(repr(closing))
        self.need(closing)
        return found

    def in_brackets(self, inside: Callable[[], Node]) -> Node:
        self.touching("(")
        return self.until(")", inside)

    def touching(self, *signs: str) -> None:
        """These signs, without spaces before them."""
        for sign in signs:
            if self.peek().spaced:
                self.fail(f"no space before {sign!r}")
            self.need(sign)

    def comma(self) -> bool:
        """Whether a comma stands here, which is taken; a space follows it."""
        if not self.sees(","):
            return False
        self.separator(",")
        return True

    def separator(self, sign: str) -> None:
        self.touching(sign)
        if not self.peek().spaced:
            self.fail(f"a space behind {sign!r}")

    def between_spaces(self, sign: str) -> None:
        if not self.peek().spaced:
            self.fail(f"a space before {sign!r}")
        self.need(sign)
        if not self.peek().spaced:
            self.fail(f"a space behind {sign!r}")

    def squared(self, inside: Callable[[], Node]) -> Node:
        """What stands in square brackets, a space before them."""
        if not self.peek().spaced:
            self.fail("a space before '['")
        self.need("[")
        return self.until("]", inside)

    def is_tall(self, start: int) -> bool:
        """Whether anything since that token is higher than a line."""
        taken = self._tokens[start : self._next]
        return any(t.kind == "sign" and t.text in _TALL for t in taken)

r"""The LaTeX of brackets: \left and \right just where something inside is higher than a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..forms import Forms
from ..problems import Complaint
from ..stream import Token
from ..tree import Node

_CLOSING = {"(": ")", r"\left(": r"\right)", "[": "]", r"\left[": r"\right]", r"\left|": r"\right|"}
_TALL = frozenset([r"\frac", r"\tfrac", r"\sum", r"\lim", r"\left(", r"\left[", r"\left|"])


T = TypeVar("T")


class Brackets(Forms):
    def __init__(self, tokens: list[Token]):
        super().__init__(tokens)
        tall = [token.kind == "begin" or (token.kind == "sign" and token.text in _TALL) for token in tokens]
        self._tall_after = [0]  # how many tall tokens stand before each token
        for found in tall:
            self._tall_after.append(self._tall_after[-1] + found)

    def fenced(self, inside: Callable[[], T], always: bool = False) -> T:
        """Something in brackets, which are as high as it is; `always` high ones."""
        left = self.take()
        start = self._next
        found = inside()
        tall = always or self.is_tall(start)
        self.need(_CLOSING[left.text])
        if tall != left.text.startswith(r"\left"):
            raise Complaint(rf"needed {'' if tall else 'no '}\left and \right around this", left.at)
        return found

    def is_tall(self, start: int) -> bool:
        """Whether anything since that token is higher than a line."""
        return self._tall_after[self._next] > self._tall_after[start]

    def braced(self) -> Node:
        self.need("{")
        found = self.whole()
        self.need("}")
        return found

    def arguments(self) -> tuple[Node, ...]:
        if self.takes(r"\!") != self.sees(r"\left("):
            self.fail(r"\!\left( together")
        if not self.sees("(") and not self.sees(r"\left("):
            self.fail("'('")
        return self.fenced(self.listed)

    def calls(self) -> bool:
        return self.sees(r"\!") or (not self.peek().spaced and (self.sees("(") or self.sees(r"\left(")))

"""Tokens one after another, with the place that a complaint is about."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from .problems import Complaint

_PLAIN = ("letter", "word", "digits", "superscript", "sign")


class Token(NamedTuple):
    """A sign, or what kind of thing it is: letter, digits, end, or the font of a word."""

    kind: str
    text: str
    at: int
    spaced: bool  # whether a space stands before it

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return repr(self.text if self.kind in _PLAIN else rf"\{self.kind}{{{self.text}}}")


def require_plain(digits: str, at: int) -> None:
    """Raises Complaint for a whole number that starts with a zero."""
    if len(digits) > 1 and digits.startswith("0"):
        raise Complaint(f"{digits} is not how a number is written", at)


_BEYOND = 4  # so far may be looked past the end


class Stream:
    """Where a grammar stands in its tokens; the last token marks the end."""

    def __init__(self, tokens: list[Token]):
        self._tokens = tokens + tokens[-1:] * _BEYOND
        self._signs = [token.text if token.kind == "sign" else "" for token in self._tokens]
        self._next = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[self._next + ahead]

    @property
    def at(self) -> int:
        return self._tokens[self._next].at

    def take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind == "end":
            self.fail("more")
        self._next += 1
        return token

    def sees(self, sign: str) -> bool:
        """Whether the next token is this sign."""
        return self._signs[self._next] == sign

    def takes(self, sign: str, *more: str) -> bool:
        """Whether the next tokens are these signs; then they are taken."""
        start = self._next
        if self._signs[start] != sign or (more and self._signs[start + 1 : start + 1 + len(more)] != list(more)):
            return False
        self._next += 1 + len(more)
        return True

    def need(self, *signs: str) -> None:
        for sign in signs:
            if not self.takes(sign):
                self.fail(repr(sign))

    def sees_word(self, kind: str, word: str) -> bool:
        token = self._tokens[self._next]
        return token.kind == kind and token.text == word

    def need_word(self, kind: str, word: str) -> None:
        if not self.sees_word(kind, word):
            self.fail(repr(word) if kind == "digits" else rf"\{kind}{{{word}}}")
        self._next += 1

    def fail(self, needed: str) -> NoReturn:
        raise Complaint(f"found {self.peek()}, needed {needed}", self.at)

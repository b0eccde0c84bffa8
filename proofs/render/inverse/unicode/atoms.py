"""The plain text of what has brackets of its own."""

from __future__ import annotations

from ..problems import Complaint
from ..tree import Ascribed, Bracket, Call, Cases, Floor, Matrix, Mean, Node, Number, Place, Squared
from .names import Names
from .words import LETTER, is_word

_FUNCTIONS = frozenset("exp log sin cos tanh erf abs max".split())


class Atoms(Names):
    def base(self) -> Node:
        token = self.peek()
        if token.kind == "digits":
            return self._number()
        if token.kind == "word":
            called = self.peek(1).text == "(" and not self.peek(1).spaced
            return self._function() if called and token.text in _FUNCTIONS else self.symbol()
        at = self.at
        if self.takes("("):
            found = Bracket(at, self.until(")", self.statement))
            return Ascribed(at, found, self._size()) if self.hangs("_") else found
        if self.takes("["):
            return self._squared(at)
        if self.takes("{"):
            return self._cases(at)
        if self.takes("|"):
            return self._absolute(at)
        if self.takes("⌊"):
            return self._floor(at)
        if self.takes("𝔼_"):
            return self._mean(at)
        self.fail("a term")

    def _number(self) -> Node:
        token = self.take()
        number = Number(token.at, int(token.text))
        return Ascribed(token.at, number, self._size()) if self.hangs("_") else number

    def _size(self) -> Node:
        self.need("_")
        if not self.takes("("):
            return Number(self.at, int(self.take().text)) if self.peek().kind == "digits" else self.symbol()
        start = self.at
        found = self.until(")", self.whole)
        self.need_more_than_a_word(start, found.at)
        return found

    def need_more_than_a_word(self, start: int, at: int) -> None:
        """Raises Complaint unless what stands in the brackets that were just closed, and started there, needs them."""
        if is_word(self.text[start : self._tokens[self._next - 1].at]):
            raise Complaint("a word needs no brackets here", at)

    def _function(self) -> Node:
        token = self.take()
        start = self.at
        found = Call(token.at, token.text, self.arguments())
        if found.op == "abs" and "|" not in self.text[start : self.at]:
            raise Complaint("needed bars around what has none in it", token.at)
        return found

    def _absolute(self, at: int) -> Node:
        if self.peek().spaced:
            self.fail("no space behind a bar")
        found = Call(at, "abs", (self.whole(),))
        if "|" in self.text[at + 1 : self.at]:
            self.fail("abs(...) around what has bars in it")
        self.need("|")
        return found

    def _squared(self, at: int) -> Node:
        """An index as a number, or a table."""
        rows = [[self.whole()]]
        while not self.takes("]"):
            if self.takes(";"):
                rows.append([])
            else:
                self.need(",")
            rows[-1].append(self.whole())
        if self.hangs("_"):
            return Matrix(at, tuple(map(tuple, rows)), self.subscripts())
        if len(rows) > 1 or len(rows[0]) > 1:
            self.fail("the subscripts of a table")
        return Squared(at, rows[0][0])

    def _cases(self, at: int) -> Node:
        holds, then = self._branch()
        self.need(";")
        fails, otherwise = self._branch()
        self.need("}")
        return Cases(at, then, holds, otherwise, fails, enclosed=True)

    def _branch(self) -> tuple[Node, Node]:
        condition = self.condition()
        self.need(":")
        return condition, self.whole()

    def _floor(self, at: int) -> Node:
        position = self.tight()
        if not self.sees("/"):
            self.fail("'/'")
        self.spaced()
        step = self.tight()
        self.need("⌋")
        return Floor(at, position, step)

    def _mean(self, at: int) -> Node:
        place = self.counted()
        if place.sign not in ("", "in"):
            raise Complaint("needed a probability space", place.at)
        if not self.hangs("["):
            self.fail("'['")
        self.need("[")
        body = self.under([place.name], lambda: self.until("]", self.whole))
        return Mean(at, place.name, place.range, body)

    def counted(self) -> Place:
        """What a sum or a mean is over: l, where the range is known; (l < n)."""
        at, bracketed = self.at, self.takes("(")
        word = self.peek().text
        found = self.until(")", self.place) if bracketed else Place(at, self.bare_name())
        if bracketed == bool(LETTER.fullmatch(word) and found.range is None):
            raise Complaint("just a range, or more than a letter, stands in brackets", at)
        return found

"""The Typst of what has brackets of its own."""

from __future__ import annotations

from abc import abstractmethod

from ..problems import Complaint
from ..tree import (
    Ascribed,
    Bracket,
    Call,
    Cases,
    Floor,
    Matrix,
    Mean,
    Node,
    Number,
    Squared,
)
from .names import Names

_FUNCTIONS = {f"{op}(": op for op in ("exp", "log", "sin", "cos", "tanh", "max")}
LONG = 60  # signs of an exponent that is written with exp


class Atoms(Names):
    @abstractmethod
    def statement(self) -> Node: ...

    @abstractmethod
    def tight(self) -> Node:
        """A factor, in brackets where it needs them."""

    def base(self) -> Node:
        token = self.peek()
        if token.kind == "digits":
            return self._number()
        if token.kind == "string" and token.text == "erf" and self.peek(1).text != "'":
            self.take()
            return Call(token.at, "erf", self.arguments())
        if token.kind in ("letter", "string") or self.sees("dot(") or self.sees("italic("):
            return self.symbol()
        if token.kind == "sign" and token.text in _FUNCTIONS:
            return self._function()
        return self._in_brackets()

    def _in_brackets(self) -> Node:
        at = self.at
        if self.takes("("):
            found = Bracket(at, self.until(")", self.statement))
            return Ascribed(at, found, self._size()) if self.hangs("_") else found
        if self.takes("["):
            return Squared(at, self.until("]", self.whole))
        if self.takes("abs("):
            return Call(at, "abs", (self.until(")", self.whole),))
        if self.takes("floor("):
            return self._floor(at)
        if self.takes("mat("):
            return self._matrix(at)
        if self.takes("cases("):
            return self._cases(at)
        if self.takes("EE"):
            return self._mean(at)
        self.fail("a term")

    def _floor(self, at: int) -> Node:
        position = self.tight()
        self.need("slash")
        step = self.tight()
        self.need(")")
        return Floor(at, position, step)

    def _number(self) -> Node:
        token = self.take()
        number = Number(token.at, int(token.text))
        return Ascribed(token.at, number, self._size()) if self.hangs("_") else number

    def _size(self) -> Node:
        self.need("_")
        return self.in_brackets(self.whole)

    def _function(self) -> Node:
        """A function of the language; its bracket belongs to its name."""
        token = self.take()
        start, found = self._next, self.listed()
        is_long = self.at - self._tokens[start].at >= LONG
        if token.text == "exp(" and not (is_long or self.is_tall(start)):
            raise Complaint("the exponential of what is neither tall nor long is a power of e", token.at)
        self.need(")")
        return Call(token.at, _FUNCTIONS[token.text], found)

    def _matrix(self, at: int) -> Node:
        self.need("delim", ":")
        if self.peek().kind != "string" or self.take().text != "[":
            self.fail("[ in quotes")
        self.need(",")
        rows = [[self.whole()]]
        while not self.sees(")"):
            if self.sees(";"):
                self.need(";")
                rows.append([])
            else:
                self.need(",")
            rows[-1].append(self.whole())
        self.need(")")
        return Matrix(at, tuple(map(tuple, rows)), self.subscripts())

    def _cases(self, at: int) -> Node:
        first = self._branch()
        self.need(",")
        second = self._branch()
        self.need(")")
        return Cases(at, *first, *second)

    def _branch(self) -> tuple[Node, Node]:
        value = self.whole()
        self.need("comma", "quad", "&")
        return value, self.condition()

    def _mean(self, at: int) -> Node:
        self.need("_", "(")
        name = self.bare_name()
        self.need("in")
        space = self.symbol()
        self.need(")")
        return Mean(at, name, space, self.squared(self.whole))

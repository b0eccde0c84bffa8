r"""The LaTeX of what has brackets of its own."""

from __future__ import annotations

from abc import abstractmethod

from ..problems import Complaint
from ..tree import Ascribed, Bracket, Call, Cases, Floor, Matrix, Mean, Node, Number, Squared
from .names import Names

_FUNCTIONS = {rf"\{op}": op for op in ("exp", "log", "sin", "cos", "tanh", "max")}


class Atoms(Names):
    def base(self) -> Node:
        token = self.peek()
        if token.kind == "digits":
            return self._number()
        if token.kind == "operatorname" and token.text == "erf" and self.peek(1).text != "'":
            self.take()
            return Call(token.at, "erf", self.arguments())
        if token.kind in ("letter", "mathit", "operatorname") or self.sees(r"\dot"):
            return self.symbol()
        if token.kind == "begin":
            return self._matrix() if token.text == "bmatrix" else self._cases()
        if token.kind == "mathbf":
            return self._mean()
        if token.kind == "sign" and token.text in _FUNCTIONS:
            return self._function()
        return self._in_brackets()

    def _in_brackets(self) -> Node:
        at = self.at
        if self.sees("(") or self.sees(r"\left("):
            found = Bracket(at, self.fenced(self.statement))
            return Ascribed(at, found, self._size()) if self.sees("_") else found
        if self.sees("[") or self.sees(r"\left["):
            return Squared(at, self.fenced(self.whole))
        if self.sees(r"\left|"):
            return Call(at, "abs", (self.fenced(self.whole, always=True),))
        if self.takes(r"\lfloor"):
            position = self.tight()
            self.need("/")
            step = self.tight()
            self.need(r"\rfloor")
            return Floor(at, position, step)
        self.fail("a term")

    def _number(self) -> Node:
        token = self.take()
        number = Number(token.at, int(token.text))
        return Ascribed(token.at, number, self._size()) if self.sees("_") else number

    def _size(self) -> Node:
        self.need("_")
        return self.braced()

    def _function(self) -> Node:
        token, start = self.take(), self._next
        found = Call(token.at, _FUNCTIONS[token.text], self.arguments())
        if found.op == "exp" and not self.is_tall(start):
            raise Complaint("the exponential of what is not tall is a power of e", token.at)
        return found

    @abstractmethod
    def tight(self) -> Node:
        """A factor, in brackets where it needs them."""

    def _matrix(self) -> Node:
        at, rows = self.at, [[]]  # type: tuple[int, list[list[Node]]]
        self.need_word("begin", "bmatrix")
        rows[-1].append(self.whole())
        while not self.sees_word("ended", "bmatrix"):
            if self.takes("\\\\"):
                rows.append([])
            else:
                self.need("&")
            rows[-1].append(self.whole())
        self.need_word("ended", "bmatrix")
        return Matrix(at, tuple(map(tuple, rows)), self.subscripts())

    def _cases(self) -> Node:
        at = self.at
        self.need_word("begin", "cases")
        first = self._branch()
        self.need("\\\\")
        second = self._branch()
        self.need_word("ended", "cases")
        return Cases(at, *first, *second)

    def _branch(self) -> tuple[Node, Node]:
        value = self.whole()
        self.need(",", "&")
        return value, self.condition()

    def _mean(self) -> Node:
        at = self.at
        self.need_word("mathbf", "E")
        self.need("_", "{")
        name = self.bare_name()
        self.need(r"\in")
        space = self.symbol()
        self.need("}")
        if not self.sees(r"\left["):
            self.fail(r"'\\left['")
        return Mean(at, name, space, self.fenced(self.whole, always=True))

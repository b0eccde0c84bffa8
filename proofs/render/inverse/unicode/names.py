"""The plain text of names, with all that hangs on them, and of the places where bound variables are introduced.

A word such as z_i is a symbol of the page or a bound variable, if it has that name; else z at i, if z is a symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from ..forms import Forms
from ..problems import Complaint
from ..stream import Token, require_plain
from ..tree import Domain, Name, Node, Number, Place, Symbol
from .words import LETTER, LETTERS, name_of, word_of

T = TypeVar("T")
_DOMAINS = {"ℝ": "real", "ℝ≥0": "nonnegative", "ℝ>0": "positive", "ℤ": "integer"}


class Names(Forms):
    bounds: ClassVar = {"<": "lt", "≤": "le"}
    conditions: ClassVar = {"=": "eq", "≠": "ne", "≤": "le", "<": "lt", "≥": "ge", ">": "gt"}

    def __init__(self, text: str, tokens: list[Token], names: frozenset[Name]):
        super().__init__(tokens)
        self.text, self._names = text, names
        self.symbols = {"δ": Name("δ")} | {word_of(name): name for name in names}
        self._bound: list[Name] = []

    def hangs(self, sign: str) -> bool:
        """Whether this sign is next, with no space before it."""
        return self.sees(sign) and not self.peek().spaced

    def need_space(self) -> None:
        if not self.peek().spaced:
            self.fail("a space")

    def spaced(self) -> Token:
        """A sign between spaces, which is taken."""
        self.need_space()
        found = self.take()
        self.need_space()
        return found

    def until(self, closing: str, inside: Callable[[], T]) -> T:
        """What stands before a closing bracket, which is taken."""
        found = inside()
        self.need(closing)
        return found

    def under(self, names: Sequence[Name], inside: Callable[[], T]) -> T:
        """What stands under binders of these names."""
        self._bound += names
        found = inside()
        del self._bound[-len(names) :]
        return found

    # --- names

    def word(self) -> str:
        if self.peek().kind != "word":
            self.fail("a name")
        return self.take().text

    def bare_name(self) -> Name:
        return name_of(self.word())

    def as_name(self, node: Node) -> Name:
        if not isinstance(node, Symbol) or node != Symbol(node.at, node.name):
            raise Complaint("needed a name, and nothing with it", node.at)
        return node.name

    def symbol(self) -> Symbol:
        """A name with its subscripts and arguments. A definition has its subscripts behind its arguments, or its primes."""
        at, (name, held) = self.at, self._spelled(self.at, self.word())
        if held is None and (self.hangs("_") or self.hangs("[")):
            held = self.subscripts() if self.sees("_") else self._in_square_brackets()
        given = self.arguments() if self.hangs("(") else None
        after = self.subscripts() if given is not None and self.hangs("_") else None
        if name.upright and name.primes and given is None:
            held, after = None, held
        return Symbol(at, name, held, given, after)

    def _spelled(self, at: int, word: str) -> tuple[Name, tuple[Node, ...] | None]:
        """The name that a word is or starts with, and the subscripts that are its other part."""
        if word in self.symbols or name_of(word) in self._bound:
            return self.symbols.get(word, name_of(word)), None
        head, _, tail = word.rpartition("_")
        if head in self.symbols and (LETTERS.fullmatch(tail) or tail.isdecimal()):
            return self.symbols[head], side_by_side(at + len(head) + 1, tail)
        return name_of(word), None

    def arguments(self) -> tuple[Node, ...]:
        self.need("(")
        return self.until(")", self.listed)

    def subscripts(self) -> tuple[Node, ...]:
        """Letters side by side, or one number; anything else in brackets."""
        self.need("_")
        token = self.peek()
        if not self.takes("("):
            self.take()
            if not LETTERS.fullmatch(token.text) and token.kind != "digits":
                raise Complaint("needed letters, a number, or brackets", token.at)
            return side_by_side(token.at, token.text)
        start = self._next
        found = self.until(")", lambda: self.separated(self.whole))
        inside = [t.text for t in self._tokens[start : self._next - 1] if t.text != ","]
        if all(map(LETTER.fullmatch, inside)) or (len(inside) == 1 and inside[0].isdecimal()):
            raise Complaint("letters in a subscript, or one number, need no brackets", token.at)
        return found

    def _in_square_brackets(self) -> tuple[Node, ...]:
        self.need("[")
        return self.until("]", lambda: self.separated(self.whole))

    # --- where names are introduced

    def entry(self) -> Symbol:
        """What is declared: a name at places, with indices side by side behind it and numbers in brackets."""
        at, word = self.at, self.word()
        held = self._in_square_brackets() if self.hangs("[") else None
        given = self.arguments() if self.hangs("(") else None
        along = [self.as_name(node) for node in given or ()]
        indices, (head, _, tail) = self._names.difference(along), word.rpartition("_")
        if held is None and head[-1:] not in ("", "_") and LETTERS.fullmatch(tail):
            if indices == set(map(name_of, LETTER.findall(tail))):
                word, held = head, side_by_side(at + len(head) + 1, tail)
        return Symbol(at, name_of(word), held, given)

    def range(self) -> Node:
        """A domain or a space."""
        token = self.peek()
        if token.kind == "sign" and token.text in _DOMAINS:
            self.take()
            return Domain(token.at, _DOMAINS[token.text])
        return self.symbol()

    def place_of(self, name: Name, at: int) -> Place:
        if sign := self.bound():
            return Place(at, name, self.whole(), sign)
        return Place(at, name, self.range(), "in") if self.takes("∈") else Place(at, name)


def side_by_side(at: int, text: str) -> tuple[Node, ...]:
    """Letters as names, or one number."""
    if text.isdecimal():
        require_plain(text, at)
        return (Number(at, int(text)),)
    return tuple(Symbol(at + match.start(), name_of(match.group())) for match in LETTER.finditer(text))

"""The Typst of names: with their labels, primes, subscripts and arguments, and where they are introduced."""

from __future__ import annotations

from typing import ClassVar

from ..problems import Complaint
from ..tree import Domain, Name, Node, Place, Symbol
from .spacing import Spacing


class Names(Spacing):
    bounds: ClassVar = {"<": "lt", "<=": "le"}
    conditions: ClassVar = {"=": "eq", "!=": "ne", "<=": "le", "<": "lt", ">=": "ge", ">": "gt"}
    slash = "slash"

    def arguments(self) -> tuple[Node, ...]:
        return self.in_brackets(self.listed)

    def symbol(self) -> Symbol:
        """A name with its primes, subscripts and arguments. A definition has its subscripts behind its arguments."""
        at, name, held, after = self.at, self.letters(), None, None
        primes = 0
        while self.takes("'"):
            primes += 1
        name = name._replace(primes=primes) if primes else name
        if self.hangs("_") and not name.upright and self.peek(2).kind == "string":
            label, held = self._labelled()
            name = name._replace(label=label)
        elif self.hangs("_"):
            found = self.subscripts()
            held, after = (None, found) if name.upright and primes else (found, None)
        given = self.arguments() if self.hangs("(") and after is None else None
        if given is not None and self.hangs("_"):
            after = self.subscripts()
        return Symbol(at, name, held, given, after)

    def as_name(self, node: Node) -> Name:
        if not isinstance(node, Symbol) or node != Symbol(node.at, node.name):
            raise Complaint("needed a name, and nothing with it", node.at)
        return node.name

    def letters(self) -> Name:
        if self.takes("dot("):
            name = self.letters()
            self.need(")")
            return name._replace(dotted=True)
        if self.takes("italic("):
            word = self._string()
            self.need(")")
            if len(word) < 2:
                raise Complaint("a single letter needs no font", self.at)
            return Name(word)
        if self.peek().kind == "string":
            return Name(self._string(), upright=True)
        if self.peek().kind != "letter":
            self.fail("a name")
        return Name(self.take().text)

    def _string(self) -> str:
        if self.peek().kind != "string" or not self.peek().text:
            self.fail("a word in quotes")
        return self.take().text.replace("-", "_")

    def _labelled(self) -> tuple[str, tuple[Node, ...] | None]:
        self.need("_", "(")
        label = self._string()
        held = self._listed() if self.takes(",") else None
        self.need(")")
        return label, held

    def subscripts(self) -> tuple[Node, ...]:
        self.need("_", "(")
        found = self._listed()
        self.need(")")
        return found

    def _listed(self) -> tuple[Node, ...]:
        """Letters side by side; anything else with commas, which is one index that is no letter at least."""
        at = self.at
        if self.peek(self.letters_ahead()).text == ")":
            return self._side_by_side()
        found: list[Node] = []
        only_letters = True
        while not found or self.takes(","):
            only_letters &= self.peek(self.letters_ahead(1)).text in (",", ")")
            found.append(self.whole())
        if only_letters:
            raise Complaint("letters in a subscript stand side by side, without commas", at)
        return tuple(found)

    def _side_by_side(self) -> tuple[Node, ...]:
        found: list[Node] = []
        while not found or not self.sees(")"):
            if found and not self.peek().spaced:
                self.fail("letters with a space between them")
            found.append(self.symbol())
        return tuple(found)

    def range(self) -> Node:
        """A domain or a space."""
        at = self.at
        if self.takes("ZZ"):
            return Domain(at, "integer")
        if not self.takes("RR"):
            return self.symbol()
        if not self.hangs("_"):
            return Domain(at, "real")
        self.need("_", "(")
        name = "nonnegative" if self.takes(">=") else "positive"
        if name == "positive":
            self.need(">")
        self.need_word("digits", "0")
        self.need(")")
        return Domain(at, name)

    def place_of(self, name: Name, at: int) -> Place:
        if sign := self.bound():
            return Place(at, name, self.whole(), sign)
        return Place(at, name, self.range(), "in") if self.takes("in") else Place(at, name)

r"""The LaTeX of names, with all that hangs on them, and of the places where bound variables are introduced."""

from __future__ import annotations

from typing import ClassVar

from ..problems import Complaint
from ..tree import Domain, Name, Node, Place, Symbol
from .brackets import Brackets


class Names(Brackets):
    bounds: ClassVar = {"<": "lt", r"\le": "le"}
    conditions: ClassVar = {"=": "eq", r"\ne": "ne", r"\le": "le", "<": "lt", r"\ge": "ge", ">": "gt"}
    slash = "/"

    def symbol(self) -> Symbol:
        """A name with its subscripts, primes and arguments."""
        at, name, held = self.at, self.letters(), None
        if self.sees("_") and self.peek(2).kind == "mathrm":
            label, held = self._labelled()
            name = name._replace(label=label)
        elif self.sees("_"):
            held = self.subscripts()
        primes = 0
        while self.takes("'"):
            primes += 1
        given = self.arguments() if self.calls() else None
        after = self.subscripts() if self.sees("_") and (primes or given) else None
        return Symbol(at, name._replace(primes=primes) if primes else name, held, given, after)

    def as_name(self, node: Node) -> Name:
        if not isinstance(node, Symbol) or node != Symbol(node.at, node.name):
            raise Complaint("needed a name, and nothing with it", node.at)
        return node.name

    def letters(self) -> Name:
        if self.takes(r"\dot"):
            self.need("{")
            name = self._undotted()
            self.need("}")
            return name._replace(dotted=True)
        return self._undotted()

    def _undotted(self) -> Name:
        token = self.peek()
        if token.kind not in ("letter", "mathit", "operatorname"):
            self.fail("a name")
        self.take()
        if token.kind == "mathit" and len(token.text) < 2:
            raise Complaint("a single letter needs no font", token.at)
        return Name(token.text, upright=token.kind == "operatorname")

    def _labelled(self) -> tuple[str, tuple[Node, ...] | None]:
        self.need("_", "{")
        label = self.take().text
        held = self._listed() if self.takes(",") else None
        self.need("}")
        return label, held

    def subscripts(self) -> tuple[Node, ...]:
        self.need("_", "{")
        found = self._listed()
        self.need("}")
        return found

    def _listed(self) -> tuple[Node, ...]:
        """Letters side by side; anything else with commas, which is one index that is no letter at least."""
        at = self.at
        found: list[Node] = []
        if self.peek(self.letters_ahead()).text == "}":
            while not self.sees("}") or not found:
                found.append(self.symbol())
            return tuple(found)
        only_letters = True
        while not found or self.takes(","):
            only_letters &= self.peek(self.letters_ahead(1)).text in (",", "}")
            found.append(self.whole())
        if only_letters:
            raise Complaint("letters in a subscript stand side by side, without commas", at)
        return tuple(found)

    # --- ranges

    def range(self) -> Node:
        """A domain or a space."""
        token = self.peek()
        if token.kind != "mathbf":
            return self.symbol()
        self.take()
        if token.text == "Z":
            return Domain(token.at, "integer")
        if token.text != "R":
            raise Complaint(f"found {token}, needed a domain", token.at)
        if not self.takes("_", "{"):
            return Domain(token.at, "real")
        name = "nonnegative" if self.takes(r"\ge") else "positive"
        if name == "positive":
            self.need(">")
        self.need_word("digits", "0")
        self.need("}")
        return Domain(token.at, name)

    def place_of(self, name: Name, at: int) -> Place:
        if sign := self.bound():
            return Place(at, name, self.whole(), sign)
        return Place(at, name, self.range(), "in") if self.takes(r"\in") else Place(at, name)

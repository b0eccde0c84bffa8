"""Plain text as a raw tree: the grammar of what `proofs.render.unicode` writes, read without it.

    statement  ::= ∀ place [≠ index]: statement | lim_(name → term) product = sum
                 | [guard ⇒] sum [(= | ≠ | ≤ | <) sum]         guard: a relation, or any other statement in brackets
    sum        ::= [−] product {(+ | −) product} | factor mod factor
    product    ::= factor {[·] factor} { / factor}            · stands before a digit and behind a first 1/2
    factor     ::= Σ_name product | Σ_(name < size) product | d/dname [sum] [_(name = sum)] | √word | √(sum) | base [exponent]
    exponent   ::= ² | ⁻³ | ^name | ^(sum)
    base       ::= names, numbers and all that has brackets of its own: see `atoms`

It is strict: what could be written in two ways is read in one of them only. Where a name ends and its subscripts start, only the
names tell that a text may speak of: z_q is a symbol, if there is one of that name; else it is z at q.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .. import conventions
from ..forms import tree_of
from ..front_ends import Knowing
from ..levels import TERM
from ..problems import Complaint
from ..tree import Bracket, ForAll, Function, Implies, Infinity, Limit, Members, Name, Node, Place, Relation
from .terms import Terms
from .tokens import tokens_of

RELATIONS = {"=": "eq", "≠": "ne", "≤": "le", "<": "lt"}
SIGNS = {**RELATIONS, "→": "tends"}  # of the steps of a proof


class Unicode(Terms):
    # --- statements

    def statement(self) -> Node:
        at = self.at
        if self.takes("∀"):
            return self._for_all(at)
        if self.takes("lim_"):
            return self._limit(at)
        left = self.sum()
        if self.sees("⇒"):
            if not isinstance(left, Bracket) or isinstance(left.inside, Relation):
                raise Complaint("a guard is a relation, or another statement in brackets", at)
            return self._implied(at, left.inside)
        conventions.require_level(left, 0)
        if self.peek().text not in RELATIONS:
            return left
        related = Relation(at, RELATIONS[self.take().text], left, self.whole())
        return self._implied(at, related) if self.sees("⇒") else related

    def _implied(self, at: int, guard: Node) -> Node:
        self.need("⇒")
        return Implies(at, guard, self.statement())

    def _for_all(self, at: int) -> Node:
        place = self.place()
        other = self.whole() if place.range is None and self.takes("≠") else None
        self.need(":")
        return ForAll(at, place, other, self.under([place.name], self.statement))

    def _limit(self, at: int) -> Node:
        self.need("(")
        name = self.bare_name()
        self.need("→")
        target = Infinity(self.at) if self.takes("∞") else self.whole()
        self.need(")")
        self.need_space()
        body = self.under([name], self.product)
        conventions.require_level(body, TERM)
        self.need("=")
        return Limit(at, name, target, body, self.whole())

    # --- functions as arguments

    def argument(self) -> Node:
        at = self.at
        if self.sees("(") and self._is_group():
            return self._mapped(at, self.group())
        if self.peek().kind == "word" and self.peek(1).text in (*self.bounds, "∈", "↦"):
            return self._mapped(at, (self.place(),))
        return self.whole()

    def _is_group(self) -> bool:
        """Whether these brackets are followed by an arrow."""
        depth = ahead = 0
        while self.peek(ahead).kind != "end":
            depth += {"(": 1, ")": -1}.get(self.peek(ahead).text, 0)
            ahead += 1
            if not depth:
                return self.peek(ahead).text == "↦"
        return False

    def _mapped(self, at: int, places: tuple[Place, ...]) -> Node:
        self.need("↦")
        return Function(at, places, self.under([place.name for place in places], self.whole))

    # --- what stands alone

    def members(self) -> Node:
        at, entries = self.at, self.separated(self.entry)
        self.symbols.clear()
        if sign := self.bound():
            return Members(at, entries, sign, self.whole())
        self.need("∈")
        return Members(at, entries, "in", self.range())


@lru_cache(maxsize=4096)
def _tree(text: str, form: str, names: frozenset[Name]) -> Any:
    """The raw tree of a whole text of one of FORMS, which speaks of these names; members are at places of these names.

    Raises UnreadableError with the place.
    """
    return tree_of(lambda source: Unicode(source, tokens_of(source), names), text, form)


read = Knowing(_tree)

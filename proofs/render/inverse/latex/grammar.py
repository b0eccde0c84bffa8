r"""LaTeX as a raw tree: the grammar of what `proofs.render.latex` writes, read without it.

    statement  ::= \forall place [\ne index] \colon statement | \lim_{name \to term} product = sum
                 | [guard \Rightarrow] sum [(= | \ne | \le | <) sum]     guard: a relation, or any other statement in brackets
    sum        ::= [-] product {(+ | -) product} | factor \bmod factor
    product    ::= factor {[\cdot] factor}            \cdot stands before a digit, a small fraction, and between a number and a bar
    factor     ::= \sum_{name=0}^{sum} product | \frac{\mathrm{d}}{\mathrm{d} name} \left[sum\right] [_{name = sum}]
                 | \frac{sum}{sum} | \tfrac{12}{35} | \sqrt{sum} | \mathrm{e}^{sum} | base [^{sum}]
                 in an exponent, instead of bars, a product may end in / factor
    base       ::= names, numbers and all that has brackets of its own: see `atoms`

It is strict: what could be written in two ways is read in one of them only, so another spelling is an error as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .. import conventions
from ..forms import tree_of
from ..levels import TERM
from ..problems import Complaint
from ..tree import (
    Bracket,
    ForAll,
    Function,
    Implies,
    Infinity,
    Limit,
    Members,
    Node,
    Relation,
)
from .terms import Terms
from .tokens import tokens_of

RELATIONS = {"=": "eq", r"\ne": "ne", r"\le": "le", "<": "lt"}
SIGNS = {**RELATIONS, r"\to": "tends"}  # of the steps of a proof


class Latex(Terms):
    # --- statements

    def statement(self) -> Node:
        at = self.at
        if self.takes(r"\forall"):
            return self._for_all(at)
        if self.takes(r"\lim"):
            return self._limit(at)
        left = self.sum()
        if self.sees(r"\Rightarrow"):
            if not isinstance(left, Bracket) or isinstance(left.inside, Relation):
                raise Complaint("a guard is a relation, or another statement in brackets", at)
            return self._implied(at, left.inside)
        conventions.require_level(left, 0)
        if self.peek().text not in RELATIONS:
            return left
        related = Relation(at, RELATIONS[self.take().text], left, self.whole())
        return self._implied(at, related) if self.sees(r"\Rightarrow") else related

    def _implied(self, at: int, guard: Node) -> Node:
        self.need(r"\Rightarrow")
        return Implies(at, guard, self.statement())

    def _for_all(self, at: int) -> Node:
        place = self.place()
        other = self.whole() if place.range is None and self.takes(r"\ne") else None
        self.need(r"\colon")
        return ForAll(at, place, other, self.statement())

    def _limit(self, at: int) -> Node:
        self.need("_", "{")
        name = self.bare_name()
        self.need(r"\to")
        target = Infinity(self.at) if self.takes(r"\infty") else self.whole()
        self.need("}")
        body = self.product()
        conventions.require_level(body, TERM)
        self.need("=")
        return Limit(at, name, target, body, self.whole())

    def argument(self) -> Node:
        at = self.at
        if self.sees("(") and self._is_group():
            return Function(at, self.group(), self._mapped())
        found = self.sum()
        if any(self.sees(sign) for sign in (*self.bounds, r"\in", r"\mapsto")):
            return Function(at, (self.place_of(self.as_name(found), at),), self._mapped())
        conventions.require_level(found, 0)
        return found

    def _is_group(self) -> bool:
        """Whether these brackets are followed by an arrow."""
        depth = ahead = 0
        while self.peek(ahead).kind != "end":
            depth += {"(": 1, ")": -1}.get(self.peek(ahead).text, 0)
            ahead += 1
            if not depth:
                return self.peek(ahead).text == r"\mapsto"
        return False

    def _mapped(self) -> Node:
        self.need(r"\mapsto")
        return self.whole()

    # --- what stands alone

    def members(self) -> Node:
        at, entries = self.at, self.separated(self.symbol)
        if sign := self.bound():
            return Members(at, entries, sign, self.whole())
        self.need(r"\in")
        return Members(at, entries, "in", self.range())


@lru_cache(maxsize=4096)  # the same definitions stand on many pages
def read(text: str, form: str = "statement") -> Any:
    """The raw tree of a whole text of one of FORMS. Raises UnreadableError with the place."""
    return tree_of(lambda source: Latex(tokens_of(source)), text, form)

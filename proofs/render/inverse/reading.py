"""What is known while a raw tree is given its meaning: the table, the ranges, and the names that were met."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...terms import Term
from .problems import Complaint
from .sizes import UNKNOWN, Sizes
from .symbol_table import Table
from .tree import Name, Symbol


class Bound(NamedTuple):
    """A binder around a place, with the range of its variable: a size, a space, a domain."""

    name: Name
    range: Term


Scope = tuple[Bound, ...]  # the innermost last
NAMELESS = Name("")


class Reading:
    """The state of one formula."""

    def __init__(self, table: Table):
        self.table, self.first = table, table.first
        self.sizes = Sizes()
        self._free: set[Name] = set()
        self._bound: dict[Name, int] = {}

    def bind(self, scope: Scope, name: Name, range_: Term, at: int, again: bool = False) -> Scope:
        """The scope inside a binder. `again`: it may have the name of the variable at which it is taken."""
        if not again:
            if any(b.name == name for b in scope):
                raise Complaint(f"{name} is bound already", at)
            self._bound.setdefault(name, at)
        return (*scope, Bound(name, range_))

    def bound(self, name: Name, scope: Scope) -> tuple[Term, Term] | None:
        """The variable of the innermost binder of that name, and its range."""
        for depth, binder in enumerate(reversed(scope)):
            if binder.name == name:
                return Term("bound", (), depth), self.sizes.known(binder.range)
        return None

    def free(self, node: Symbol) -> Any:
        """What a name stands for on this page. Raises Complaint for one that is not declared."""
        found = self.table.get(node.name)
        if found is None:
            raise Complaint(f"{node.name} is not declared", node.at)
        self._free.add(node.name)
        return found

    def finished(self, term: Term) -> Term:
        """The term with every range known. Raises Complaint where one is not, or where a binder captures a name."""
        for name in self._free & self._bound.keys():
            raise Complaint(f"{name} is bound here, and stands for a symbol of the page elsewhere", self._bound[name])
        self.sizes.settle()
        return self._settled(term)

    def _settled(self, term: Term) -> Term:
        if term.op == UNKNOWN:
            return self.sizes.known(term)
        return term.rebuilt([self._settled(part) for part in term.args]) if term.args else term


def hint(name: Name) -> str:
    """What a binder of that name is called in a term."""
    return name.base + (f"_{name.label}" if name.label else "")


def is_index(range_: Term) -> bool:
    return range_.op != "domain"

"""TRUSTED. What may be used at a place in a term: the hypotheses, the guards met on the way, and a supply of fresh names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..binders import close, opened
from ..terms import Family, Same, Term, TermError, free, named, sort_of


class Refused(Exception):
    """A link that its rule does not close. `residue` is what is left over: a term, or a condition that is not met."""

    def __init__(self, message: str, residue: Term):
        super().__init__(f"{message}: {residue!r}")
        self.message, self.residue = message, residue


@dataclass(frozen=True)
class Context:
    """`depth` counts the binders that were opened on the way, so that each place has its own fresh name.

    `known` are the symbols that a proof may speak of here: those of the statement, and of the binders on the way. Another
    one may have no value at all: an index into a range that is empty makes everything true.
    """

    facts: tuple[Term, ...] = ()
    depth: int = 0
    known: frozenset[Any] = frozenset()

    def given(self, facts: Iterable[Term]) -> Context:
        return Context(self.facts + tuple(facts), self.depth, self.known)

    def deeper(self, count: int) -> Context:
        """The same place, with `count` more names taken."""
        return Context(self.facts, self.depth + count, self.known)

    def knowing(self, symbols: Iterable[Any]) -> Context:
        """The same place, where these symbols may be spoken of too; a curve brings its derivative."""
        found = frozenset(symbols)
        curves = {s.derivative for s in found if isinstance(s, Family) and s.derivative is not None}
        return Context(self.facts, self.depth, self.known | found | curves)

    def check_known(self, *spoken: Any) -> None:
        """Raises TermError if a term, or a symbol, speaks of a symbol that the statement does not."""
        symbols: set[Any] = set().union(*(free(s) if isinstance(s, Term) else {s} for s in spoken))
        strange = symbols - self.known
        if strange:
            raise TermError(f"the proof speaks of {named(strange)}, and the statement does not")

    def opened(self, term: Term) -> tuple[tuple[Term, ...], Term, Context]:
        """The binder's variables as fresh symbols, its body over them, and the context there.

        A fresh name has a digit in front, which no declared name has; names at one depth are the same, so that equal
        bodies stay equal, and a deeper place gets a later name.
        """
        symbols, body = _opened(Same(term), self.depth)
        return symbols, body, Context(self.facts, self.depth + len(symbols), self.known.union(symbols))

    def rebuilt(self, term: Term, change: Callable[[Term, Context], Term]) -> Term:
        """The same node with every part changed, also under its binders; its sizes, parts of a type, stay."""
        parts = [
            a if b or k in term.size_places() or sort_of(a) is None else change(a, self)
            for k, (a, b) in enumerate(zip(term.args, term.binders(), strict=True))
        ]
        if term.hints:
            symbols, body, inside = self.opened(term)
            changed = change(body, inside)
            if changed is not body:
                parts[term.binders().index(len(symbols))] = close(changed, symbols)
        return term.rebuilt(parts)


@lru_cache(maxsize=1 << 14)
def _opened(same: Same, depth: int) -> tuple[tuple[Term, ...], Term]:
    names = iter(range(depth, depth + len(same.term.hints)))
    return opened(same.term, lambda hint: f"{next(names):03d}{hint}")

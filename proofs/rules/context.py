"""TRUSTED. What may be used at a place in a term: the hypotheses, the guards met on the way, and a supply of fresh names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..binders import opened
from ..terms import Term


class Refused(Exception):
    """A link that its rule does not close. `residue` is what is left over: a term, or a condition that is not met."""

    def __init__(self, message: str, residue: Term):
        super().__init__(f"{message}: {residue!r}")
        self.message, self.residue = message, residue


@dataclass(frozen=True)
class Context:
    """`depth` counts the binders that were opened on the way, so that each place has its own fresh name."""

    facts: tuple[Term, ...] = ()
    depth: int = 0

    def given(self, facts: Iterable[Term]) -> Context:
        return replace(self, facts=self.facts + tuple(facts))

    def opened(self, term: Term) -> tuple[tuple[Term, ...], Term, Context]:
        """The binder's variables as fresh symbols, its body over them, and the context there.

        A fresh name has a digit in front, which no declared name has; names at one depth are the same, so that equal
        bodies stay equal, and a deeper place gets a later name.
        """
        count = len(term.hints)
        names = iter(range(self.depth, self.depth + count))
        symbols, body = opened(term, lambda hint: f"{next(names):03d}{hint}")
        return symbols, body, replace(self, depth=self.depth + count)

"""All that a site or a document is about: the theorems by family, what rests on what, and where each stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from ..claims import Claimed, decided
from ..kernel import Theorem
from .names import RenderError


class Library:
    """Theorems and the axioms that they rest on, in the order of the catalogue."""

    def __init__(self, theorems: Iterable[Theorem]):
        """Raises RenderError where there is no theorem, or where two have one name."""
        given = list(dict.fromkeys(theorems))
        if not given:
            raise RenderError("a site needs at least one theorem; found none")
        axioms = [t for g in given for t in resting_on(g) if t.is_axiom]
        self.theorems: Mapping[str, Theorem] = MappingProxyType({t.name: t for t in (*given, *axioms)})
        if len(self.theorems) < len({*given, *axioms}):
            raise RenderError("two theorems have one name; a site needs another name for each")
        self.used_by: Mapping[str, list[str]] = {name: [] for name in self.theorems}
        for name, theorem in self.theorems.items():
            for cited in theorem.uses:
                self.used_by.get(cited.name, []).append(name)
        self.claims = claims_of(self.theorems)
        self.decided: Mapping[str, list[Claimed]] = {
            name: [c for c in self.claims if name in c.theorems] for name in self.theorems
        }

    @cached_property
    def families(self) -> Mapping[str, list[Theorem]]:
        found: dict[str, list[Theorem]] = {}
        for theorem in self.theorems.values():
            found.setdefault(family_of(theorem.name), []).append(theorem)
        return found

    def link(self, name: str) -> str | None:
        """Where a theorem stands, from a page beside it; None for one that is not on the site, or for other words."""
        if name not in self.theorems:
            return None
        return f"{family_of(name)}.html#{own_name(name)}"

    @cached_property
    def citations(self) -> Sequence[tuple[str, str]]:
        """Pairs of a theorem that is cited and one that cites it, as `python -m proofs graph` has them."""
        return sorted((cited.name, t.name) for t in self.theorems.values() for cited in t.uses)


def claims_of(names: Collection[str]) -> Sequence[Claimed]:
    """The claims of the source documents that these theorems help to decide; none that a failed proof leaves open."""
    return [row.claimed for row in decided(names) if not row.failed]


def family_of(name: str) -> str:
    return name.rpartition(".")[0]


def own_name(name: str) -> str:
    """A theorem's name in its family, which is its anchor on the family's page."""
    return name.rpartition(".")[2]


def resting_on(theorem: Theorem) -> list[Theorem]:
    """All that a theorem cites, and what that cites."""
    found: dict[Theorem, None] = {}
    waiting = list(theorem.uses)
    while waiting:
        cited = waiting.pop()
        if cited not in found:
            found[cited] = None
            waiting += cited.uses
    return list(found)

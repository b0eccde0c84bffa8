"""What statements and proofs are made of: data, which the kernel checks. Nothing here decides anything."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .terms import Term, as_term, free


class ProofError(Exception):
    """A statement that cannot stand, or a proof that does not prove it. `residue` is what is left over, if anything."""

    def __init__(self, message: str, residue: Term | None = None):
        super().__init__(message)
        self.residue = residue


class Statement(NamedTuple):
    """What is claimed: for all values of the free symbols that meet the hypotheses, the conclusion."""

    conclusion: Term
    hypotheses: tuple[Term, ...] = ()

    def symbols(self) -> frozenset[Any]:
        return frozenset().union(free(self.conclusion), *map(free, self.hypotheses))

    @property
    def is_general(self) -> bool:
        """Whether it is for arbitrary sizes: computed from the ranges that it speaks of."""
        fixed = any(map(_has_literal_range, (self.conclusion, *self.hypotheses)))
        return not fixed or any(isinstance(s, Term) and s.op == "size" for s in self.symbols())


def _has_literal_range(term: Term) -> bool:
    sizes = term.args[:1] if term.op in ("index", "literal", "sum") else term.args[:-1] if term.op == "function" else ()
    return any(s.op == "number" for s in sizes) or any(map(_has_literal_range, term.args))


class Link(NamedTuple):
    """One line of a script. `after` is None for the statement's own right side."""

    relation: str | None
    after: Term | None
    reason: Any  # the name of a rule, or a Theorem
    arguments: Mapping[str, Any]
    using: tuple[Any, ...]  # theorems, or (theorem, {symbol: value}), whose conclusions the rule may use


class Specialised(NamedTuple):
    """A universal hypothesis of the statement at these values, outermost first, as something that a step uses."""

    hypothesis: Term
    values: tuple[Any, ...]


class Step(NamedTuple):
    """One line of a checked proof."""

    before: Term
    relation: str
    after: Term
    reason: Any
    arguments: Mapping[str, Any]
    using: tuple[Any, ...]  # (theorem, {symbol: value}), or Specialised


class Script:
    """What a proof function writes on."""

    def __init__(self) -> None:
        self.links: list[Link] = []

    def equals(self, after: Any, reason: Any, *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `= after`, because of a rule, or of an earlier theorem at stated values (at={...})."""
        self._add("eq", as_term(after), reason, using, arguments)

    def at_most(self, after: Any, reason: Any = "order", *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `<= after`."""
        self._add("le", as_term(after), reason, using, arguments)

    def less_than(self, after: Any, reason: Any = "order", *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `< after`."""
        self._add("lt", as_term(after), reason, using, arguments)

    def closes(self, reason: Any, *, using: Any = (), **arguments: Any) -> None:
        """The last link. Its right side comes from the statement, so that a near miss meets the same rule."""
        self._add(None, None, reason, using, arguments)

    def _add(self, name: str | None, after: Term | None, reason: Any, using: Any, arguments: dict[str, Any]) -> None:
        one = isinstance(using, Specialised) or is_cited_at(using) or not isinstance(using, list | tuple)
        many = (using,) if one else using
        self.links.append(Link(name, after, reason, MappingProxyType(arguments), tuple(many)))


def is_cited_at(using: Any) -> bool:
    return isinstance(using, tuple) and len(using) == 2 and isinstance(using[1], Mapping)


class Twin(NamedTuple):
    """A near miss to be refused, with values at which it is false where random ones would not do."""

    statement: Statement
    false_at: Mapping[Any, Any] = MappingProxyType({})


class NearMiss(NamedTuple):
    """A false twin of a statement, and what its proof by the same script leaves over."""

    conclusion: Term
    hypotheses: tuple[Term, ...]
    residue: Term
    message: str


def carried(arguments: Mapping[str, Any]) -> list[Any]:
    """The rules and theorems that a step applies at a place, or that an induction rests on."""
    inner = carried(arguments["inner"]) if "inner" in arguments else []
    parts = [arguments[k] for k in ("base", "step") if k in arguments]
    cited = [p[0] if is_cited_at(p) else p for p in parts]
    return [*([arguments["then"]] if "then" in arguments else []), *cited, *inner]

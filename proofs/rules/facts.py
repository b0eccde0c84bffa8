"""TRUSTED. Given facts: their instances at the indices of a term, and what they say about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from ..binders import instantiate
from ..terms import ONE, Term, number, sort_of
from .polynomial import Coefficient, Polynomial, add, as_constant, reciprocal

Holds = Callable[[Term], bool]


def instances(fact: Term, candidates: tuple[Term, ...], holds: Holds) -> Iterator[Term]:
    """The real relations that a fact gives: a universal one at these indices, a guarded one where its guard holds."""
    layers, body = [], fact
    while body.op == "forall" and body.args[0].op != "domain":
        layers.append(body.args[0])
        body = body.args[1]
    choices = [[c for c in candidates if sort_of(c) == size] for size in layers]
    for values in product(*choices):
        found = instantiate(body, values)
        while found.op == "implies" and holds(found.args[0]):
            found = found.args[1]
        if found.op == "relation" and sort_of(found.args[0]) == "real":
            yield found
            if found.args[0].op == "abs" and found.data in ("le", "lt"):  # |u| <= c says u <= c and -u <= c
                u, c = found.args[0].args[0], found.args[1]
                yield from (Term("relation", (v, c), found.data) for v in (u, -u))


def says(what: str, goal: Polynomial, relation: str, difference: Polynomial) -> bool:
    """Whether `0 relation difference` gives the sign of the goal: as its multiple, or as a number less.

    Inverses are not multiplied away in either polynomial: their sign would be lost.
    """
    ratio = _ratio(goal, difference)
    if ratio is None:
        surplus = as_constant(add(goal, difference, -1))
        return surplus is not None and surplus > 0 and relation != "ne" and what in ("positive", "nonnegative")
    match what:
        case "nonzero":
            return relation in ("lt", "ne")
        case "zero":
            return relation == "eq"
        case "positive":
            return ratio > 0 and relation == "lt"
    return relation == "eq" or (ratio > 0 and relation in ("lt", "le"))


def _ratio(p: Polynomial, q: Polynomial) -> Coefficient | None:
    """The number c with p = c q, or None."""
    if p.keys() != q.keys() or not p:
        return None
    first = next(iter(p))
    ratio = p[first] * reciprocal(q[first])
    return ratio if all(p[m] == ratio * q[m] for m in p) else None


def indices_in(term: Term) -> tuple[Term, ...]:
    """The closed index terms that occur in a term, simplest first."""
    found: dict[Term, None] = {}

    def visit(t: Term) -> None:
        if not t.loose and isinstance(sort_of(t), Term):
            found[t] = None
        for a in t.args:
            visit(a)

    visit(term)
    return tuple(sorted(found, key=lambda t: len(repr(t))))


def replaced(term: Term, old: Term, new: Term) -> Term:
    """The term with another value for a closed part."""
    return new if term == old else term.rebuilt(replaced(a, old, new) for a in term.args)


def opposite(term: Term) -> Term:
    """Minus the term, its numerical factor absorbed."""
    if term.op == "mul" and term.args[0].op == "number":
        head = number(-term.args[0].data)
        return Term("mul", (head, *term.args[1:])) if head != ONE or len(term.args) == 1 else Term("mul", term.args[1:])
    return -term


def negated(relation: Term) -> Term:
    left, right = relation.args
    opposites = {
        "eq": ("ne", left, right),
        "ne": ("eq", left, right),
        "le": ("lt", right, left),
        "lt": ("le", right, left),
    }
    name, a, b = opposites[relation.data]
    return Term("relation", (a, b), name)

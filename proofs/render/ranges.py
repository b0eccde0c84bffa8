"""Whether the range of an index can be read off the page.

A family, an index map and a definition tell the range of each of their slots, so in sum_l exp(z_l) the range of l is known;
in sum_l 1 it is not, and has to be printed. Likewise the position 0 of a range that nothing else tells prints as 0_n.
"""

from __future__ import annotations

from typing import Any

from ..terms import Family, Term, free

_INDICES = ("index", "literal", "map", "join", "quotient", "remainder")  # a bound variable may be one too


def occurs(term: Term, level: int) -> bool:
    """Whether a bound variable occurs, `level` binders out of this term."""
    if term.op == "bound":
        return bool(term.data == level)
    return any(occurs(a, level + b) for a, b in zip(term.args, term.binders(), strict=True))


def tells_range(body: Term, level: int = 0) -> bool:
    """Whether the body tells the range of the index that a binder around it binds, `level` binders out."""
    if any(_is_bound(a, level) for a in _known_places(body)):
        return True
    if is_pair(body):
        left, right = body.args
        if (_is_bound(left, level) and _is_outside(right, level)) or (
            _is_bound(right, level) and _is_outside(left, level)
        ):
            return True
    return any(tells_range(a, level + b) for a, b in zip(body.args, body.binders(), strict=True))


def is_pair(term: Term) -> bool:
    """Whether a term compares two indices, which are then of one range."""
    if term.op == "relation":
        left, right = term.args
        return any(a.op in _INDICES for a in (left, right)) or (
            term.data in ("eq", "ne") and left.op == right.op == "bound"
        )
    return term.op == "delta"


def is_evident(position: Term) -> bool:
    """Whether an index tells its own range: it is declared, or its binder says it."""
    match position.op:
        case "index" | "map" | "bound" | "remainder":
            return True
        case "quotient" | "join":
            return is_evident(position.args[0])
    return False


def tells_parameter(definition: Any, parameter: Any) -> bool:
    """Whether the other arguments of a definition tell the range of this index parameter."""
    told: set[Term] = set()
    for p in definition.parameters:
        if isinstance(p, Family):
            told |= {slot for slot in p.slots if slot.op == "size"}
        elif p.op == "size":
            told.add(p)
    return free(parameter.args[0]) <= told


def _known_places(term: Term) -> list[Term]:
    """The arguments of a term whose ranges it tells."""
    match term.op:
        case "family" | "map":
            return [a for a, slot in zip(term.args, term.data.slots, strict=True) if slot.op != "domain"]
        case "table":
            return list(term.args[-len(term.data) :])
        case "apply":
            given = term.args[len(term.data.sizes) :]
            pairs = zip(given, term.data.parameters, strict=True)
            return [a for a, p in pairs if isinstance(p, Term) and p.op == "index" and tells_parameter(term.data, p)]
    return []


def _is_bound(term: Term, level: int) -> bool:
    return bool(term.op == "bound" and term.data == level)


def _is_outside(term: Term, level: int) -> bool:
    """An index whose range is known outside the binder."""
    return term.op in ("index", "map") or bool(term.op == "bound" and term.data > level)

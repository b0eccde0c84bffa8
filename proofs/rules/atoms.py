"""TRUSTED. Small facts about single nodes, for normal forms."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from ..terms import ZERO, Term, number, sort_of

_AT_ZERO = {"exp": 1, "cos": 1, "sin": 0, "tanh": 0, "erf": 0, "abs": 0}


def is_whole_number(exponent: Term) -> bool:
    return bool(exponent.op == "number" and exponent.data.denominator == 1)


def is_inverse(term: Term) -> bool:
    return term.op == "power" and term.args[1] == number(-1)


def entry(term: Term) -> Term | None:
    """The entry of an explicit matrix at literal indices."""
    count = len(term.data)
    indices = term.args[-count:]
    if any(i.op != "literal" for i in indices):
        return None
    position = indices[0].data if count == 1 else indices[0].data * term.data[1] + indices[1].data
    return term.args[position]


def exact(term: Term) -> Fraction | None:
    """The value of a function at 0, and of the root of a square number."""
    if term.op in _AT_ZERO and term.args[0] == ZERO:
        return Fraction(_AT_ZERO[term.op])
    if term.op == "sqrt" and term.args[0].op == "number" and term.args[0].data >= 0:
        roots = [isqrt(part) for part in term.args[0].data.as_integer_ratio()]
        root = Fraction(*roots)
        return root if root**2 == term.args[0].data else None
    return None


def undone(term: Term) -> Term:
    """Quotient and remainder undo a join, and a join puts them together again."""
    if term.op in ("quotient", "remainder") and term.args[0].op == "join" and term.args[1:] == term.args[0].args[2:]:
        return term.args[0].args[0 if term.op == "quotient" else 1]
    if term.op in ("quotient", "remainder") and term.args[0].op == "literal" and term.args[1].op == "number":
        q, r = divmod(term.args[0].data, int(term.args[1].data))
        return Term("literal", (sort_of(term),), q if term.op == "quotient" else r)
    if term.op == "join":
        q, r = term.args[:2]
        if q.op == "quotient" and r.op == "remainder" and q.args == r.args:
            return q.args[0]
    return term

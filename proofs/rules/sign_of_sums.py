"""TRUSTED. Signs of sums of terms, where the parts alone do not tell: squares, bounds, least sizes, cases, facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..terms import Term, number
from .facts import replaced
from .polynomial import Polynomial, add, as_sum, atom, constant, times

if TYPE_CHECKING:
    from .sign import Sign


def is_square(sign: Sign, what: str, term: Term) -> bool:
    """c (x + k y)^2, expanded."""
    polynomial = sign.polynomial(term)
    if what != "nonnegative" or len(polynomial) != 3:
        return False
    for cross, middle in polynomial.items():
        (a, c), (b, d) = ((m, e) for m, e in polynomial.items() if m != cross)
        halves = [frozenset((t, e // 2) for t, e in m) for m in (a, b)]
        even = all(e % 2 == 0 for m in (a, b) for _, e in m)
        if even and c > 0 and d > 0 and times(*halves) == cross and middle * middle == 4 * c * d:
            return True
    return False


def between_bounds(sign: Sign, what: str, term: Term) -> bool:
    """An expression of degree one in a sine, a cosine or a tanh, at both of its bounds -1 and 1."""
    polynomial = sign.polynomial(term)
    exponents: dict[Term, set[int]] = {}
    for t, e in (factor for m in polynomial for factor in m):
        exponents.setdefault(t, set()).add(e)
    found = next((t for t, e in exponents.items() if t.op in ("sin", "cos", "tanh") and e == {1}), None)
    if what == "nonzero" or found is None or any(found in _inside(t) for t in exponents):
        return False
    return all(sign.known(what, _with_value(sign, as_sum(polynomial), found, end)) for end in (-1, 1))


def from_least_size(sign: Sign, what: str, term: Term) -> bool:
    """With every size written as its minimum and a rest >= 0, as in n - 1 >= 0 for n >= 1.

    The rest is a new symbol: what holds for all its values holds for the one that it has.
    """
    shifted: Polynomial = {}
    found = False
    for monomial, c in sign.polynomial(term).items():
        part: Polynomial = {frozenset((t, e) for t, e in monomial if not _is_large(t, e)): c}
        for t, e in monomial:
            if _is_large(t, e):
                found = True
                whole = add(constant(t.data[1]), atom(Term("size", (), ("000" + t.data[0], 0))))
                part = sign.normal.product(part, sign.normal.power(whole, e, sign.context), sign.context)
        shifted = add(shifted, part)
    return found and sign.known(what, as_sum(shifted))


def in_every_case(sign: Sign, what: str, term: Term) -> bool:
    """For delta = 0 and for delta = 1; for every value of a map into a short literal range."""
    factors = [f for a in term.args for f in (a.args if a.op == "mul" else (a,))]
    found = next((f for f in factors if _values_of(f)), None)
    return found is not None and all(
        sign.known(what, _with_value(sign, term, found, value)) for value in range(_values_of(found))
    )


def less_a_fact(sign: Sign, what: str, term: Term) -> bool:
    """A given non-negative difference, and a rest that is shorter."""
    if sign.depth <= 0 or what == "nonzero":
        return False
    whole = sign.polynomial(term)
    for fact in sign.facts_about(term):
        left, right = fact.args
        rest = add(whole, sign.polynomial(right - left), -1)
        needed = "nonnegative" if fact.data == "lt" else what
        if fact.data != "ne" and len(rest) < len(whole) and sign.shallower().known(needed, as_sum(rest)):
            return True
    return False


WAYS = (is_square, between_bounds, from_least_size, in_every_case, less_a_fact)


def _with_value(sign: Sign, term: Term, part: Term, value: int) -> Term:
    return as_sum(sign.polynomial(replaced(term, part, number(value))))


def _values_of(term: Term) -> int:
    """How many values 0, 1, .. a term can have: 2 for a delta, a short literal range for a mapped index, else 0."""
    if term.op == "delta":
        return 2
    if term.op == "value" and term.args[0].op == "map" and term.args[0].data.target.op == "number":
        extent = int(term.args[0].data.target.data)
        return extent if extent <= 4 else 0
    return 0


def _inside(term: Term) -> set[Term]:
    """The parts of a term, itself left out."""
    return set(term.args).union(*map(_inside, term.args))


def _is_large(term: Term, exponent: int) -> bool:
    return bool(term.op == "size" and term.data[1] > 0 and exponent > 0)

"""TRUSTED. Sparse polynomials over atoms with rational coefficients: exact, and nothing but integers underneath.

A coefficient is an int where it is whole, which is much faster, and a Fraction else; they are divided by `reciprocal` only.
An exponent may be negative; the term that it came from was checked to be defined, so its base does not vanish.
"""

from __future__ import annotations

from fractions import Fraction

from ..terms import Term, key, number

Monomial = frozenset[tuple[Term, int]]
Coefficient = int | Fraction
Polynomial = dict[Monomial, Coefficient]
UNIT: Monomial = frozenset()


def lowest(value: Coefficient) -> Coefficient:
    """The same number, an int where it is whole."""
    return int(value) if value.denominator == 1 else value


def reciprocal(value: Coefficient) -> Coefficient:
    """1 / value, exactly."""
    return lowest(Fraction(1) / value)


def constant(value: Coefficient) -> Polynomial:
    return {UNIT: lowest(value)} if value else {}


def atom(term: Term, exponent: int = 1) -> Polynomial:
    return {frozenset({(term, exponent)}): 1} if exponent else constant(1)


def add(p: Polynomial, q: Polynomial, factor: Coefficient = 1) -> Polynomial:
    """p + factor * q."""
    total = dict(p)
    for monomial, c in q.items():
        value = c if factor == 1 else -c if factor == -1 else factor * c
        if monomial in total:
            value += total[monomial]
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def scaled(p: Polynomial, factor: Coefficient) -> Polynomial:
    return {m: c * factor for m, c in p.items()} if factor else {}


def times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    exponents = dict(a)
    for term, e in b:
        exponents[term] = exponents.get(term, 0) + e
    return frozenset((t, e) for t, e in exponents.items() if e)


def as_constant(p: Polynomial) -> Coefficient | None:
    """The value of a polynomial that is a number, else None."""
    if not p:
        return 0
    return p[UNIT] if set(p) == {UNIT} else None


def factors(monomial: Monomial) -> list[tuple[Term, int]]:
    """In the order in which they are printed."""
    return sorted(monomial, key=lambda factor: (key(factor[0]), factor[1]))


def as_product(monomial: Monomial, coefficient: Coefficient = 1) -> Term:
    parts = [t if e == 1 else Term("power", (t, number(e))) for t, e in factors(monomial)]
    if coefficient != 1 or not parts:
        parts.insert(0, number(coefficient))
    return parts[0] if len(parts) == 1 else Term("mul", tuple(parts))


def as_sum(p: Polynomial) -> Term:
    """The term of a polynomial; equal polynomials give equal terms."""
    if not p:
        return number(0)
    parts = sorted((as_product(m, c) for m, c in p.items()), key=key)
    return parts[0] if len(parts) == 1 else Term("add", tuple(parts))

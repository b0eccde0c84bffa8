"""Exact sparse polynomials."""

from __future__ import annotations

from fractions import Fraction

from proofs.rules.polynomial import UNIT, add, as_constant, as_product, as_sum, atom, constant, factors, scaled, times
from proofs.terms import number

from .vocabulary import a, b

p, q = atom(a), atom(b)


def test_arithmetic_is_exact() -> None:
    third = constant(Fraction(1, 3))
    assert add(add(third, third), third) == constant(1)
    assert add(p, p, -1) == {} == constant(0) == scaled(p, 0)
    assert add(p, q, 2) == {frozenset({(a, 1)}): 1, frozenset({(b, 1)}): 2}


def test_exponents_add_and_vanish() -> None:
    square = frozenset({(a, 2)})
    assert times(square, frozenset({(a, -2)})) == UNIT
    assert times(square, frozenset({(b, 1)})) == frozenset({(a, 2), (b, 1)})
    assert atom(a, 0) == constant(1)


def test_constants() -> None:
    assert as_constant({}) == 0 and as_constant(constant(5)) == 5 and as_constant(p) is None
    assert as_constant(add(p, constant(1))) is None


def test_terms_are_written_in_one_order() -> None:
    assert as_sum(add(q, p)) == as_sum(add(p, q)) == a + b
    assert as_sum({}) == number(0)
    assert as_product(frozenset({(b, 1), (a, 2)}), Fraction(-1, 2)) == number(Fraction(-1, 2)) * a**2 * b
    assert [t for t, _ in factors(frozenset({(b, 1), (a, 1)}))] == [a, b]

"""TRUSTED. exp, log, sin and cos in normal form.

The argument is split into monomials. With coefficient p/q a monomial m contributes exp(m/q)^p, or the p-th multiple of the
angle m/q, where q is a denominator that all arguments share.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ..terms import PI, Term, number
from .context import Context
from .polynomial import UNIT, Coefficient, Polynomial, add, as_product, as_sum, atom, constant, factors, scaled

if TYPE_CHECKING:
    from .normal import Normal

MULTIPLE_LIMIT = 64  # a larger multiple of an angle stays an atom of its own
_QUARTERS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # (sin, cos) of 0, pi/2, pi, 3 pi/2


def trigonometric(normal: Normal, term: Term, at: Context) -> Polynomial:
    """sin or cos of a sum, by the addition theorems."""
    sine, cosine = constant(0), constant(1)
    argument = normal.polynomial(term.args[0], at)
    for monomial in sorted(argument, key=lambda m: repr(as_product(m))):
        s, c = _multiple(normal, as_product(monomial), argument[monomial], at)
        sine, cosine = (
            add(normal.product(sine, c, at), normal.product(cosine, s, at)),
            add(normal.product(cosine, c, at), normal.product(sine, s, at), -1),
        )
    return sine if term.op == "sin" else cosine


def _multiple(normal: Normal, monomial: Term, coefficient: Coefficient, at: Context) -> tuple[Polynomial, Polynomial]:
    """(sin, cos) of coefficient * monomial."""
    if monomial == PI and (2 * coefficient).denominator == 1:
        s, c = _QUARTERS[int(2 * coefficient) % 4]
        return constant(s), constant(c)
    unit = normal.unit(monomial, coefficient)
    count = int(coefficient * unit)
    if abs(count) > MULTIPLE_LIMIT:
        unit, count = 1, 1
        monomial = as_sum({UNIT: coefficient}) if monomial == number(1) else number(coefficient) * monomial
    base = monomial if unit == 1 else number(Fraction(1, unit)) * monomial
    s1, c1 = atom(Term("sin", (base,))), atom(Term("cos", (base,)))
    sine, cosine = constant(0), constant(1)
    for _ in range(abs(count)):
        sine, cosine = (
            add(normal.product(sine, c1, at), normal.product(cosine, s1, at)),
            add(normal.product(cosine, c1, at), normal.product(sine, s1, at), -1),
        )
    return (sine if count > 0 else scaled(sine, -1)), cosine


def exponential(normal: Normal, argument: Polynomial, at: Context) -> Polynomial:
    """exp of a sum is a product; exp(k log x) = x^k for a whole k."""
    result = constant(1)
    for monomial, c in argument.items():
        parts = factors(monomial)
        if len(parts) == 1 and parts[0][0].op == "log" and parts[0][1] == 1 and c.denominator == 1:
            power = normal.power(normal.polynomial(parts[0][0].args[0], at), int(c), at)
            result = normal.product(result, power, at)
            continue
        unit = normal.unit(as_product(monomial), c)
        inner = as_product(monomial, Fraction(1, unit))
        result = normal.product(result, atom(Term("exp", (inner,)), int(c * unit)), at)
    return result


def logarithm(normal: Normal, argument: Polynomial, at: Context) -> Polynomial:
    """log of a product of positive factors is a sum; log exp x = x."""
    from .sign import Sign  # which needs normal forms itself

    if len(argument) != 1:
        return atom(Term("log", (as_sum(argument),)))
    ((monomial, c),) = argument.items()
    sign = Sign(at)
    if c < 0 or not all(sign.positive(t) for t, _ in monomial):
        return atom(Term("log", (as_sum(argument),)))
    total = add(_log_of_whole(c.numerator), _log_of_whole(c.denominator), -1)
    for t, e in monomial:
        total = add(total, normal.polynomial(t.args[0], at) if t.op == "exp" else atom(Term("log", (t,))), e)
    return total


def _log_of_whole(value: int) -> Polynomial:
    """log of a whole number as a sum over its prime factors."""
    total: Polynomial = {}
    prime = 2
    while value > 1:
        while value % prime == 0:
            total = add(total, atom(Term("log", (number(prime),))))
            value //= prime
        prime += 1
        if prime * prime > value > 1:
            prime = value
    return total

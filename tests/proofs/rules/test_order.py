"""Inequalities beyond a sign: monotone functions, sums term by term, absolute values."""

from __future__ import annotations

import pytest

from proofs.binders import forall, sum_
from proofs.notation import absolute, delta, erf, exp, family, index, le, log, lt, maximum, ne, size, sqrt, tanh
from proofs.rules.context import Context, Refused
from proofs.rules.order import at_most, check_order, without_branches
from proofs.terms import Term, TermError, number

from .vocabulary import INDICES, A, a, b, c, d, n, u, x, y

i, j, k = INDICES
FACTS = Context((le(a, b), lt(c, d), forall(i, le(x[i], y[i]))))


@pytest.mark.parametrize(
    ("small", "large", "weak", "strict"),
    [
        (exp(a), exp(b), True, False),
        (exp(c), exp(d), True, True),
        (tanh(c), tanh(d), True, True),
        (erf(a), erf(b), True, False),
        (log(c), log(d), True, True),
        (sqrt(c), sqrt(d), True, True),
        (-d, -c, True, True),
        (c**2, d**2, True, True),
        (c**-1, d**-1, False, False),
        (d**-1, c**-1, True, True),
        (a**2, b**2, False, False),
        (c**0, d**0, True, False),
        (c * exp(a), d * exp(b), True, True),
        (c * a, d * b, False, False),
        (sum_(i, x[i]), sum_(j, y[j]), True, False),
        (sum_(i, exp(x[i])), sum_(i, exp(y[i])), True, False),
        (sum_(i, x[i]), sum_(i, y[i]) - 1, False, False),
        (-sum_(i, y[i]), -sum_(i, x[i]), True, False),
        (u[j], sum_(i, u[i]), True, False),
        (x[j], sum_(i, x[i]), False, False),
        (u[j], sum_(i, delta(i, j) * u[i]), True, False),
        (a, absolute(a), False, False),
        (absolute(a), maximum(a, b), False, False),
        (a, maximum(a, b), True, False),
        (absolute(sum_(i, x[i])), sum_(i, absolute(x[i])), True, False),
        (n, n + c, True, True),
        (a, a, True, False),
    ],
    ids=repr,
)
def test_at_most(small: Term, large: Term, weak: bool, strict: bool) -> None:
    assert at_most(small, large, False, FACTS) == weak
    assert at_most(small, large, True, FACTS) == strict


def test_a_sum_over_a_range_that_may_be_empty_is_not_strictly_less() -> None:
    for whole, strict in ((size("some", 1), True), (size("none", 0), False)):
        e, f, h = index("e", whole), family("f", whole), family("h", whole)
        given = Context((forall(e, lt(f[e], h[e])),))
        assert at_most(sum_(e, f[e]), sum_(e, h[e]), False, given)
        assert at_most(sum_(e, f[e]), sum_(e, h[e]), True, given) == strict


def test_a_difference_may_be_spelled_so_that_its_sign_shows() -> None:
    known = Context().knowing([a, b])
    check_order(2 * a * b, a**2 + b**2, False, known, (a - b) ** 2)
    with pytest.raises(Refused, match="the difference is not as stated"):
        check_order(2 * a * b, a**2 + b**2, False, known, (a + b) ** 2)
    with pytest.raises(Refused, match="not known to be positive"):
        check_order(2 * a * b, a**2 + b**2, True, known, (a - b) ** 2)
    with pytest.raises(Refused, match="a denominator may vanish"):
        check_order(2 * a * b, a**2 + b**2, False, known, (a - b) ** 2 + 0 / a)
    with pytest.raises(TermError, match="the proof speaks of c"):
        check_order(2 * a * b, a**2 + b**2, False, known, (a - b) ** 2 + 0 * c)


def test_absolute_values() -> None:
    assert without_branches(absolute(c), Context()) == c
    assert without_branches(absolute(-c), Context()) in (c, -1 * -c)
    assert without_branches(absolute(a), Context()) == absolute(a)
    assert without_branches(absolute(a * c), Context()) == absolute(a) * c
    assert without_branches(sum_(i, absolute(u[i])), Context()) == sum_(i, u[i])
    assert without_branches(absolute(A[i, j]), Context((ne(A[i, j], 0),))) == absolute(A[i, j])
    assert without_branches(absolute(number(-3)), Context()) == number(3)

"""A sum over a + b places: it is taken apart only where the places count as numbers."""

from __future__ import annotations

import pytest

from proofs.binders import expectation, forall, function, sum_
from proofs.kernel import Link, Statement, check
from proofs.notation import (
    choice,
    delta,
    eq,
    exp,
    family,
    index,
    le,
    literal,
    lt,
    ne,
    outcome,
    permutation,
    size,
    space,
    split,
    value_of,
)
from proofs.rules.context import Context
from proofs.rules.normal import Normal
from proofs.terms import ANY_REAL, Term, TermError, number

from .attempts import a, attempt, b, i, m, n, none, refuse, x

many, both, maybe = index("h", n + 1), index("h", n + m), index("h", none + 1)
v, w, R = family("v", n + 1), family("w", n + m), family("R", ANY_REAL)
p, e = index("p", m), index("e", none)


def summed(term: Term) -> Term:
    """The one multiple sum that a sum is in normal form, if it is one."""
    polynomial = Normal(("sums",), Context()).polynomial(term, Context())
    ((monomial, c),) = polynomial.items()
    ((found, exponent),) = monomial
    assert (c, exponent) == (1, 1)
    return found


def test_what_the_places_are_as_numbers() -> None:
    attempt(eq(sum_(many, value_of(many)), sum_(i, value_of(i)) + n), "finite_sum")
    attempt(eq(sum_(both, R[value_of(both)]), sum_(i, R[value_of(i)]) + sum_(p, R[n + value_of(p)])), "finite_sum")
    for wrong in (
        eq(sum_(many, value_of(many)), sum_(i, value_of(i)) + n + 1),
        eq(sum_(many, value_of(many)), sum_(i, value_of(i)) + n - 1),
        eq(sum_(many, value_of(many)), sum_(i, value_of(i) + 2)),
        eq(sum_(both, R[value_of(both)]), sum_(i, R[value_of(i)]) + sum_(p, R[value_of(p)])),
        eq(sum_(both, R[value_of(both)]), sum_(p, R[value_of(p)]) + sum_(i, R[n + value_of(i)])),
        eq(sum_(both, R[value_of(both)]), sum_(i, R[m + value_of(i)]) + sum_(p, R[n + value_of(p)])),
    ):
        refuse(wrong, "finite_sum", match="left over")


@pytest.mark.parametrize(
    "body",
    [
        v[many],
        v[many] * value_of(many),
        exp(v[many] + value_of(many)),
        delta(many, index("q", n + 1)) + value_of(many) * v[many],
        x[choice("mu", n + 1, target=n)(many)],
        R[value_of(permutation("pi", n + 1)(many))] * value_of(many),
        v[many] ** 2 + value_of(many) * v[many],
    ],
    ids=repr,
)
def test_an_index_that_chooses_is_not_split(body: Term) -> None:
    """The first n of n + 1 places are no index into n places: v_h has no meaning there."""
    total = sum_(many, body)
    assert all(
        f.args[0] == n + 1
        for mono in Normal(("sums",), Context()).polynomial(total, Context())
        for f, _ in mono
        if f.op == "sum"
    )
    refuse(eq(total, sum_(i, x[i]) + b), "finite_sum", match="left over")
    refuse(eq(total, (n + 1) * b), "finite_sum", match="left over")


def test_a_contraction_is_not_taken_apart() -> None:
    q = index("q", n + 1)
    attempt(eq(sum_(many, delta(many, q) * value_of(many)), value_of(q)), "finite_sum")
    refuse(eq(sum_(many, delta(many, q) * value_of(many)), value_of(q) + n), "finite_sum")
    attempt(eq(sum_(many, delta(many, literal(0, n + 1)) * (value_of(many) + a)), a), "finite_sum")
    with pytest.raises(TermError, match="delta: "):
        delta(many, i)


def test_a_part_without_places() -> None:
    """none + 1 places are 1, 2, ..: the first part may be empty, and then the last place is place 0."""
    attempt(eq(sum_(maybe, R[value_of(maybe)]), sum_(e, R[value_of(e)]) + R[none]), "finite_sum")
    attempt(eq(sum_(maybe, a), none * a + a), "finite_sum")
    refuse(eq(sum_(maybe, R[value_of(maybe)]), sum_(e, R[value_of(e)]) + R[0]), "finite_sum")
    refuse(lt(0, sum_(e, value_of(e) + 1)), "order")
    nothing = index("h", none + 0)
    attempt(eq(sum_(nothing, R[value_of(nothing)]), sum_(e, R[value_of(e)])), "finite_sum")
    with pytest.raises(TermError, match="the proof speaks of e"):
        check(
            Statement(le(0, sum_(maybe, a**2))),
            (Link("eq", sum_(e, a**2) + a**2 + 0 * value_of(e), "finite_sum", {}, ()),),
        )


def test_a_denominator_that_exists_where_there_is_a_place_only() -> None:
    """What is given for every place says nothing if there is none: no 1 / a is pulled out of an empty part."""
    g = forall(e, ne(0, a + 0 * value_of(e)))
    total = sum_(e, value_of(e) / (a + 0 * value_of(e)))
    refuse(eq(total, sum_(e, value_of(e)) / a), "finite_sum", g, match="may vanish")
    refuse(eq(total * a + (b - b * a * a**-1 * 0), b), "finite_sum", g, match="may vanish")
    attempt(eq(total * a, sum_(e, value_of(e)) + 0 * a), "finite_sum", g)  # 0 = 0 where there is none
    shifted = sum_(index("h", none + none), 1 / a)
    refuse(eq(shifted, 2 * none / a), "finite_sum", match="may vanish")


def test_a_range_that_is_a_product_is_another_one() -> None:
    grid = index("h", n * m)
    column, _ = split(grid, n)
    refuse(eq(sum_(grid, value_of(grid)), sum_(i, value_of(i)) * m), "finite_sum")
    refuse(eq(sum_(grid, value_of(grid)), n * sum_(p, value_of(p)) + sum_(i, value_of(i))), "finite_sum")
    refuse(eq(sum_(index("h", n + n), R[value_of(index("h", n + n))]), 2 * sum_(i, R[value_of(i)])), "finite_sum")
    attempt(eq(sum_(index("h", 2 * n), value_of(index("h", 2 * n))) * 0 + a, a), "finite_sum")
    assert column.op == "quotient"


def test_a_shifted_argument_stays_inside_its_function() -> None:
    """f(n + l) is no f(n) + f(l), nor f(l) shifted outside a conditional or another sum."""
    attempt(eq(sum_(many, sum_(i, R[value_of(many) * value_of(i)])), sum_([i, index("l", n)], R[value_of(i) * value_of(index("l", n))])
               + sum_(i, R[n * value_of(i)])), "finite_sum")  # fmt: skip
    refuse(eq(sum_(many, R[value_of(many) * a]), sum_(i, R[value_of(i) * a]) + R[n] * a), "finite_sum")
    u = outcome("u", space("U"))
    f = family("f", ANY_REAL, space("U"))
    mean = lambda s: expectation(u, f[s, u])
    attempt(eq(sum_(many, mean(value_of(many))), sum_(i, mean(value_of(i))) + mean(n)), "expectation")
    refuse(eq(sum_(many, mean(value_of(many))), sum_(i, mean(value_of(i))) + mean(n - 1)), "expectation")
    assert function(i, R[value_of(i)]).op == "function"


def test_the_order_of_a_multiple_sum_is_no_matter_and_its_places_are() -> None:
    """Indices that a product speaks of alike may be exchanged; T_ijk is none of T_jik."""
    T = family("T", n, n, n)
    j, k = index("j", n), index("k", n)
    attempt(eq(sum_([i, j, k], T[i, j, k] * x[k]), sum_([k, i, j], T[j, k, i] * x[i])), "finite_sum")
    refuse(eq(sum_([i, j, k], T[i, j, k] * x[k]), sum_([i, j, k], T[i, k, j] * x[k])), "finite_sum")
    refuse(eq(sum_([i, j, k], T[i, j, k] * T[j, k, i]), sum_([i, j, k], T[i, j, k] * T[i, k, j])), "finite_sum")
    attempt(eq(sum_([i, j, k], T[i, j, k] * T[j, k, i]), sum_([i, j, k], T[k, i, j] * T[i, j, k])), "finite_sum")
    assert summed(sum_([i, j], T[i, j, k])) == summed(sum_([j, i], T[i, j, k]))
    assert size("n") == n and number(1) != literal(0, n)

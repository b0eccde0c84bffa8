"""Multiple sums in normal form: exchange, contraction, products, permutations, pairs of places, literal ranges."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from proofs.binders import substitute, sum_
from proofs.notation import delta, exp, family, index, join, literal, split, value_of
from proofs.rules.context import Context
from proofs.rules.normal import Normal
from proofs.terms import ANY_REAL, Term, free, number

from .vocabulary import INDICES, A, a, m, n, pi, w, x, y

i, j, k = INDICES
p = index("p", m)
column = index("h", n * m)
major, minor = split(column, n)
y_major = family("y", m)[major]
more, both, twice = index("f", n + 1), index("f", n + m), index("f", n + n)
R, v = family("R", ANY_REAL), family("v", n + 1)


def same(left: Term, right: Term) -> bool:
    return not Normal(("sums",), Context()).difference(left, right)


def test_a_triple_sum_in_every_order() -> None:
    body = A[i, j] * exp(A[j, k]) * x[i]
    forms = [sum_(order, body) for order in permutations((i, j, k))]
    assert all(same(forms[0], form) for form in forms)
    assert not same(forms[0], sum_([i, j, k], A[j, i] * exp(A[j, k]) * x[i]))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (sum_(i, a), n * a, True),
        (sum_(i, number(1)), n, True),
        (sum_(i, x[i] + a), sum_(i, x[i]) + n * a, True),
        (sum_(i, x[i] * y[i]), sum_(i, x[i]) * sum_(i, y[i]), False),
        (sum_(i, sum_(j, x[i] * y[j])), sum_(i, x[i]) * sum_(i, y[i]), True),
        (sum_(i, x[i]) ** 2, sum_([i, j], x[i] * x[j]), True),
        (sum_(i, x[i]) ** 2, sum_(i, x[i] ** 2), False),
        (sum_(i, delta(i, j) * A[i, k]), A[j, k], True),
        (sum_(i, delta(i, j) * A[i, k]), A[i, k], False),
        (sum_([i, j], delta(i, j) * A[i, j]), sum_(i, A[i, i]), True),
        (sum_(i, delta(i, j) ** 2), number(1), True),
        (sum_(i, (1 - delta(i, j)) * x[i]), sum_(i, x[i]) - x[j], True),
        (sum_(i, delta(pi(j), i) * x[i]), x[pi(j)], True),
        (sum_(i, delta(pi(i), j) * x[i]), x[pi(j)], False),
        (sum_(i, x[pi(i)]), sum_(i, x[i]), True),
        (sum_(i, x[pi(i)] * A[pi(i), pi(i)]), sum_(i, x[i] * A[i, i]), True),
        (sum_(i, x[pi(i)] * y[i]), sum_(i, x[i] * y[i]), False),
        (sum_(i, x[pi(pi(i))]), sum_(i, x[i]), True),
        (sum_(i, w[i, p]), sum_(p, w[i, p]), False),
        (sum_(column, x[minor] * y_major), sum_(i, x[i]) * sum_(p, family("y", m)[p]), True),
        (sum_(column, delta(column, join(p, i)) * x[minor]), x[i], True),
        (sum_(column, x[minor]), m * sum_(i, x[i]), True),
        (sum_(column, x[minor]), n * sum_(i, x[i]), False),
        (sum_(more, value_of(more)), sum_(i, value_of(i)) + n, True),
        (sum_(more, value_of(more)), sum_(i, value_of(i)), False),
        (sum_(more, R[value_of(more) + a]), sum_(i, R[value_of(i) + a]) + R[n + a], True),
        (sum_(more, R[value_of(more)] * v[more]), sum_(more, v[more] * R[value_of(more)]), True),
        (sum_(both, exp(value_of(both))), sum_(i, exp(value_of(i))) + sum_(p, exp(n + value_of(p))), True),
        (sum_(both, exp(value_of(both))), sum_(p, exp(value_of(p))) + sum_(i, exp(n + value_of(i))), False),
        (sum_(both, a), n * a + m * a, True),
        (sum_(twice, value_of(twice)), 2 * sum_(i, value_of(i)) + n**2, True),
        (sum_(index("f", n + (m + 1)), value_of(index("f", n + (m + 1)))), sum_(both, value_of(both)) + n + m, True),
        (
            sum_(index("f", n * m + 2), value_of(index("f", n * m + 2))),
            sum_(column, value_of(column)) + 2 * n * m + 1,
            True,
        ),
        (sum_([more, i], value_of(more) * x[i]), sum_([i, j], value_of(i) * x[j]) + n * sum_(i, x[i]), True),
        (sum_(more, sum_(i, x[i] ** 2 * value_of(more))), (sum_(i, value_of(i)) + n) * sum_(i, x[i] ** 2), True),
    ],
    ids=repr,
)
def test_laws(left: Term, right: Term, equal: bool) -> None:
    assert same(left, right) == equal


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_short_literal_range_is_written_out(count: int) -> None:
    f, v = index("f", count), family("v", count)
    entries = [v[literal(q, count)] for q in range(count)]
    assert same(sum_(f, v[f]), sum(entries, number(0)))


def test_a_long_literal_range_is_not() -> None:
    f, v = index("f", 40), family("v", 40)
    assert same(sum_(f, v[f] + 1), sum_(f, v[f]) + 40)


def test_sums_inside_functions_and_other_sums() -> None:
    assert same(exp(sum_(i, x[i] + y[i])), exp(sum_(j, y[j]) + sum_(i, x[i])))
    assert same(sum_(i, exp(sum_(j, A[i, j])) * x[i]), sum_(k, x[k] * exp(sum_(i, A[k, i]))))
    assert not same(sum_(i, exp(sum_(j, A[i, j])) * x[i]), sum_(k, x[k] * exp(sum_(i, A[i, k]))))


def test_sums_whose_indices_are_told_apart_by_their_places_only() -> None:
    """The order is chosen among indices that a product speaks of alike; here none, some and all of them are."""
    r, s, t = index("r", n), index("s", n), index("t", n)
    for body in (
        A[i, j] * A[j, k] * A[k, r] * A[r, i],
        A[i, j] * A[i, k] * A[j, r] * x[r],
        exp(A[i, j] + A[j, k]) * x[i] * y[r] * A[r, k],
        A[i, j] * A[k, r] * A[s, t] * w[i, p] * w[s, p],
    ):
        bound = sorted((q for q in (i, j, k, r, s, t) if q in free(body)), key=repr)
        form = sum_([*bound, p], body)
        rng = Random(3)
        for _ in range(4):
            order = rng.sample([*bound, p], len(bound) + 1)
            names = dict(zip(bound, rng.sample(bound, len(bound)), strict=True))
            assert same(form, sum_([names.get(q, q) for q in order], substitute(body, names)))


def test_an_index_that_chooses_an_entry_is_not_split() -> None:
    """Nothing says which entries of v the first n of n + 1 places have."""
    only = sum_(more, v[more])
    assert same(only, sum_(more, v[more])) and not same(only, sum_(i, family("v", n)[i]) + v[literal(0, n + 1)])
    assert Normal(("sums",), Context()).polynomial(only, Context()).keys() == {frozenset({(only, 1)})}

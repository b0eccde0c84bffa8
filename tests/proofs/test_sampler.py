"""Random points that meet the hypotheses of a statement, and witnesses that take the place of random values."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.binders import expectation, forall, function, sum_
from proofs.evaluate import NoSample, evaluate
from proofs.kernel import Statement
from proofs.notation import (
    choice,
    delta,
    eq,
    family,
    index,
    le,
    lt,
    outcome,
    size,
    space,
    split,
    sqrt,
    value_of,
    variable,
)
from proofs.sampler import PointWith, Sampler, holds_at
from proofs.terms import TermError, number

n, m, none = size("n"), size("m"), size("none", 0)
i, j, e = index("i", n), index("j", n), index("e", none)
a, b = variable("a"), variable("b")
x = family("x", n)
U, W = space("U"), space("W")
u, w = outcome("u", U), outcome("w", W)
q, r = family("q", n, U), family("r", U, W)


def points(statement: Statement, witness: Any, count: int = 6) -> list[PointWith]:
    sampler = Sampler(statement, witness)
    return [sampler.point(seed) for seed in range(count)]


def test_points_meet_the_hypotheses() -> None:
    statement = Statement(lt(0, a), (lt(b, a), lt(0, b), forall(i, lt(0, x[i]))))
    assert all(holds_at(statement.conclusion, point) for point in points(statement, {}, 10))


def test_hypotheses_that_no_point_meets() -> None:
    with pytest.raises(NoSample, match="none of 400 random points meets the hypotheses; give a witness"):
        points(Statement(eq(a, b), (lt(a, b), lt(b, a))), {})


def test_a_point_where_a_hypothesis_has_no_value_is_passed_over() -> None:
    statement = Statement(lt(0, a**2), (le(0, 1 / (a * (1 - delta(i, j)))),))
    for point in points(statement, {}):
        assert evaluate(i, point) != evaluate(j, point) and evaluate(a, point) > 0


def test_a_witness_takes_the_place_of_random_values() -> None:
    statement = Statement(eq(sum_(i, x[i]), n * a), (forall(i, eq(x[i], a)),))
    assert all(holds_at(statement.conclusion, point) for point in points(statement, {x: function(i, a)}))


def test_a_witness_for_a_symbol_that_the_statement_does_not_have_is_passed_over() -> None:
    assert points(Statement(eq(a, b)), {q: number(1), x: a})


def test_an_empty_range_is_tried_where_nothing_needs_a_value_in_it() -> None:
    statement = Statement(lt(0, none))
    assert not all(holds_at(statement.conclusion, point) for point in points(statement, {}, 12))
    needs_one = Statement(lt(0, none + 0 * value_of(e)))
    assert all(holds_at(needs_one.conclusion, point) for point in points(needs_one, {}, 12))
    mapped = Statement(lt(0, none + 0 * value_of(choice("mu", m, target=none)(index("p", m)))))
    assert all(holds_at(mapped.conclusion, point) for point in points(mapped, {}, 12))


def test_a_space_has_a_few_outcomes_or_as_many_as_a_witness_says() -> None:
    statement = Statement(eq(expectation(u, q[i, u]), a))
    assert {int(evaluate(U, point)) for point in points(statement, {}, 20)} == {2, 3}
    for count in (number(4), 2 * n, n):
        place = index("k", count)
        chosen = {U: count, q: function([i, place], 2 * value_of(place) + 1), a: count}  # the first odd numbers
        assert all(holds_at(statement.conclusion, point) for point in points(statement, chosen))


def test_a_witness_with_given_moments() -> None:
    """Four equally likely outcomes: sqrt(2) or -sqrt(2) along one of two axes."""
    two, four = index("k", 2), index("o", 4)
    white = forall([i, j], eq(expectation(u, q[i, u] * q[j, u]), delta(i, j)))
    statement = Statement(eq(expectation(u, sum_(i, q[i, u] ** 2)), n), (white,))
    axis, sign = split(four, 2)
    entry = sqrt(2) * delta(two, axis) * (1 - 2 * value_of(sign))
    found = points(statement, {n: 2, U: number(4), q: function([two, four], entry)})
    assert all(holds_at(statement.conclusion, point) for point in found)
    with pytest.raises(NoSample):
        points(statement, {n: 2})


@pytest.mark.parametrize(
    "witness",
    [
        {U: a},
        {U: number(2), q: function([i, u], a)},
        {U: W, r: function([u, w], a)},
        {q: function([i, w], a)},
        {q: a},
        {u: w},
        {U: i},
        {n: U},
        {U: delta(i, j)},
    ],
    ids=repr,
)
def test_a_witness_has_the_sort_of_its_symbol(witness: Any) -> None:
    statement = Statement(eq(q[i, u] + expectation([u, w], r[u, w]), a))
    with pytest.raises(TermError, match=r"witness: |is not a family"):
        points(statement, witness)


def test_a_space_may_stand_for_another() -> None:
    statement = Statement(eq(expectation([u, w], r[u, w]), a), (eq(a, expectation([u, w], r[u, w])),))
    other = outcome("o", U)
    chosen = {W: U, r: function([u, other], number(3)), a: number(3)}
    assert all(holds_at(statement.conclusion, point) for point in points(statement, chosen))

"""Absolute values, maxima and conditions: resolved where they are known, and nowhere else."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from proofs.binders import derivative, expectation, forall, sum_
from proofs.evaluate import NoSample, compare, evaluate
from proofs.kernel import Link, Statement, check
from proofs.notation import absolute, choice, delta, eq, exp, family, index, le, lt, maximum, ne, size, when
from proofs.rules.branches import without_branches
from proofs.rules.context import Context, Refused
from proofs.sampler import Sampler
from proofs.terms import ANY_REAL, Term, number, variable

from .algebra import ring
from .probability import X, Y, o
from .vocabulary import INDICES, A, a, b, c, d, u, x, y

i, j, k = INDICES
t, none = variable("t"), size("none", 0)
GIVEN = (le(a, b), lt(c, d), forall(i, le(x[i], y[i])))


def resolved(term: Term, *given: Term) -> Term:
    return without_branches(term, Context(given))


def closes(conclusion: Term, rule: str, *given: Term, **arguments: Any) -> None:
    check(Statement(conclusion, given), (Link(None, None, rule, arguments, ()),))


RESOLVED = [
    (maximum(a, b), b), (maximum(b, a), b), (maximum(a, a), a), (maximum(a, b, a, b), b), (maximum(a), a), (maximum(c, d, a), maximum(d, a)),
    (maximum(c, 0), c), (maximum(-c, absolute(c), d), d), (maximum(maximum(a, b), x[j]), maximum(b, x[j])), (exp(maximum(a, b)), exp(b)),
    (sum_(i, maximum(x[i], y[i])), sum_(i, y[i])), (expectation(o, maximum(Y[o], Y[o])), expectation(o, Y[o])),
    (when(le(a, b), c, d), c), (when(lt(b, a), c, d), d), (when(le(b, a), a, b), when(le(b, a), a, b)), (when(ne(c, d), a, b), a),
    (when(eq(d, c), a, b), b), (when(eq(i, i), a, b), a), (when(ne(i, j), a, b), when(ne(i, j), a, b)),
    (when(le(0, a), absolute(a), b), when(le(0, a), a, b)), (when(lt(a, 0), 1, absolute(a)), when(lt(a, 0), 1, a)),
    (when(le(0, a), b, absolute(a)), when(le(0, a), b, -a)), (when(le(maximum(a, b), c), 1, 0), when(le(b, c), 1, 0)),
    (when(le(absolute(c), d), maximum(c, d), 0), d), (derivative(t, absolute(1 + t**2), a), derivative(t, 1 + t**2, a)),
    (when(le(0, a), 1, maximum(a, c)), when(le(0, a), 1, c)), (when(le(a, t), maximum(a, t), t), when(le(a, t), t, t)), (when(lt(x[i], 0), absolute(y[i]), 0), when(lt(x[i], 0), absolute(y[i]), 0)),
]  # fmt: skip
LEFT = [
    maximum(a, c), maximum(x[i], y[j]), maximum(A[i, j], A[j, i]), absolute(a), when(le(a, c), a, b), when(lt(a, b), c, d),
    when(eq(a, b), c, d), when(eq(i, j), a, b), sum_(i, maximum(x[i], y[j])), when(le(0, a), b, absolute(b)), expectation(o, absolute(Y[o])),
    derivative(t, maximum(t, 0), c), when(le(0, a), 1, maximum(b, c)), sum_(i, when(eq(i, j), absolute(x[i]), 1)),
]  # fmt: skip


@pytest.mark.parametrize(("term", "expected"), RESOLVED, ids=repr)
def test_what_is_known(term: Term, expected: Term) -> None:
    assert resolved(term, *GIVEN) == expected


@pytest.mark.parametrize("term", LEFT, ids=repr)
def test_what_is_not(term: Term) -> None:
    assert resolved(term, *GIVEN) == term


def test_no_resolution_changes_a_value() -> None:
    rng, changed = Random(4), 0
    for seed in range(120):
        facts = tuple(
            rng.sample([le(a, b), lt(0, a), le(b, 0), forall(i, le(x[i], y[i])), ne(a, b), eq(a, c), le(x[j], 0)], 2)
        )
        term = _branching(rng, 3)
        found = resolved(term, *facts)
        changed += found != term
        try:
            sampler = Sampler(
                Statement(eq(term, found), facts), {c: a} if eq(a, c) in facts and lt(0, a) in facts else {}
            )
            points = [sampler.point(seed + k) for k in range(3)] if found != term else []
        except NoSample:
            continue
        for point in points:
            before, after = (evaluate(point.moved(side), point) for side in (term, found))
            assert compare("eq", before, after), (term, found, facts)
    assert changed > 50


def _branching(rng: Random, depth: int) -> Term:
    if depth == 0:
        return rng.choice([a, b, c, x[i], y[i], x[j], number(0), -a, a - b, u[k]])
    one, other, third = (_branching(rng, rng.randrange(depth)) for _ in range(3))
    relation = rng.choice([le, lt, eq, ne])
    return rng.choice(
        [
            lambda: maximum(one, other),
            lambda: maximum(other, one, third),
            lambda: absolute(one),
            lambda: absolute(one * other),
            lambda: when(relation(one, other), third, absolute(one)),
            lambda: when(relation(one, other), maximum(one, other), maximum(other, third)),
            lambda: when(rng.choice([eq, ne])(i, j), maximum(x[i], one), absolute(x[j])),
            lambda: sum_(i, maximum(x[i], one)),
            lambda: one + other * third,
            lambda: ring(rng, 1)[0] - absolute(other),
        ]
    )()


def test_equations_and_inequalities_by_order() -> None:
    closes(eq(maximum(a, b) + absolute(b - a), 2 * b - a), "order", *GIVEN)
    closes(le(maximum(a, b) * c, b * d), "order", *GIVEN, le(0, b))
    closes(lt(when(le(a, b), c, 7), d), "order", *GIVEN)
    closes(eq(absolute(a) * when(le(0, a), 1, -1), a), "cases", on=le(0, a), then="order")
    closes(eq(maximum(a, b) + absolute(a - b) * 0, (a + b + absolute(a - b)) / 2), "cases", on=le(a, b), then="order")
    for wrong in (
        eq(maximum(a, b), a),
        eq(maximum(a, b), when(lt(a, b), b, 0)),
        eq(absolute(b - a), a - b),
        eq(when(lt(a, b), 1, 0), 1),
    ):
        with pytest.raises(Refused, match="left over"):
            closes(wrong, "order", *GIVEN)


def test_a_difference_is_resolved_too() -> None:
    closes(le(2 * a, a + b), "order", *GIVEN, difference=absolute(b - a))
    closes(le(a, 2 * b), "order", *GIVEN, le(0, b), difference=maximum(a, b) + absolute(b - a))
    closes(le(t**2 * when(le(t, a), 1, 0), a**2), "cases", le(0, t), le(0, a), on=le(t, a), then="order",
           inner={"difference": when(le(t, a), (a - t) * (a + t), a**2)})  # fmt: skip
    with pytest.raises(Refused, match="the difference is not as stated"):
        closes(le(a, b), "order", le(b, a), difference=absolute(b - a))
    with pytest.raises(Refused, match="not known to be positive"):
        closes(lt(a, b), "order", *GIVEN, difference=absolute(b - a))


def test_other_rules_leave_branches_alone() -> None:
    for rule in ("ring", "field", "finite_sum", "exp_log", "expectation", "given"):
        with pytest.raises(Refused, match="left over"):
            closes(eq(maximum(a, b), b), rule, le(a, b))
    closes(eq(when(eq(i, j), a, b), b), "ring", ne(i, j))  # but whether two indices are equal, each of them knows


def test_an_index_that_may_not_exist_resolves_nothing() -> None:
    """Under a sum over no places every condition holds and fails; the sum is 0 either way."""
    e = index("e", none)
    v = family("v", none)
    given = (forall(e, lt(v[e], 0)), forall(e, le(a, v[e])))
    closes(eq(sum_(e, absolute(v[e])), sum_(e, -v[e])), "order", *given)
    with pytest.raises(Refused):
        closes(eq(absolute(a), -a), "order", *given)


def test_branches_of_random_variables() -> None:
    bounded = forall([i, o], le(X[i, o], a))
    assert resolved(expectation(o, maximum(X[j, o], a)), bounded) == expectation(o, a)
    hi = choice("hi", ANY_REAL, target=3)
    assert resolved(when(eq(hi(a), hi(a)), absolute(c), 1)) == c
    assert resolved(expectation(o, when(le(X[j, o], a), X[j, o], 0)), bounded) == expectation(o, X[j, o])
    assert resolved(expectation(o, when(le(X[j, o], b), X[j, o], 0)), bounded).args[1].op == "when"
    assert resolved(delta(i, j) * absolute(delta(i, j))) == delta(i, j) * delta(i, j)

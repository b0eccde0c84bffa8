"""The second opinion: terms to numbers, at points that meet hypotheses."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from mpmath import mp as other

from proofs.binders import derivative, expectation, forall, function, sum_, tends
from proofs.definitions import Definition
from proofs.evaluate import Point, compare, evaluate, mp
from proofs.notation import (
    INFINITY,
    absolute,
    choice,
    cos,
    curve,
    delta,
    eq,
    erf,
    exp,
    family,
    implies,
    index,
    join,
    le,
    literal,
    log,
    lt,
    maximum,
    ne,
    outcome,
    permutation,
    rational,
    sin,
    size,
    space,
    split,
    sqrt,
    table,
    tanh,
    value_of,
    variable,
    when,
)
from proofs.terms import ANY_REAL, PI, Term, number

n, m = size("n"), size("m")
i, j, p = index("i", n), index("j", n), index("p", m)
a, b, c, t = variable("a"), variable("b"), variable("c", "positive"), variable("t")
x, A = family("x", n), family("A", n, n)
U, W = space("U"), space("W")
u, v, w = outcome("u", U), outcome("v", U), outcome("w", W)
q, r = family("q", n, U), family("r", W)


def value(term: Term, seed: int = 0) -> Any:
    return evaluate(term, Point(seed))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (rational(1, 3), "mpf(1) / 3"),
        (number(2) ** -2, "1/4"),
        (number(2) ** rational(1, 2), "sqrt(2)"),
        (number(0) ** 0, "1"),
        (PI / 4, "pi/4"),
        (exp(number(1)), "e"),
        (log(number(2)), "log(2)"),
        (sqrt(number(2)), "sqrt(2)"),
        (sin(number(1)), "sin(1)"),
        (cos(number(1)), "cos(1)"),
        (tanh(number(1)), "tanh(1)"),
        (erf(number(1)), "erf(1)"),
        (absolute(number(-3)), "3"),
        (maximum(number(-3), number(2), number(1)), "2"),
        (when(lt(1, 2), 5, 1 / (number(1) - 1)), "5"),
        (sum_(index("k", 4), value_of(index("k", 4)) ** 2), "14"),
        (sum_(index("k", 0), number(1)), "0"),
        (table([[1, 2], [3, 4]], 1, 0), "3"),
        (table([5, 6, 7], 2), "7"),
        (delta(literal(0, 2), literal(1, 2)), "0"),
        (value_of(join(literal(2, 3), literal(1, 4))), "9"),
        (derivative(t, t**3 * exp(t), 1), "4*e"),
        (value_of(split(literal(7, 12), 4)[0]) * 10 + value_of(split(literal(7, 12), 4)[1]), "13"),
    ],
    ids=repr,
)
def test_values(term: Term, expected: str) -> None:
    wanted = eval(
        expected, {name: getattr(mp, name) for name in ("mpf", "pi", "e", "sqrt", "log", "sin", "cos", "tanh", "erf")}
    )
    assert abs(value(term) - wanted) < mp.mpf(10) ** -20


def test_fifty_digits_whatever_others_set() -> None:
    digits = other.dps
    try:
        other.dps = 5
        assert abs(value(exp(rational(1, 7))) ** 7 - mp.e) < mp.mpf(10) ** -45
    finally:
        other.dps = digits


def test_a_point_keeps_its_values() -> None:
    point = Point(3)
    assert evaluate(x[i], point) == evaluate(x[i], point)
    assert evaluate(sum_(i, x[i]), point) == sum(evaluate(x[literal_at(k)], point) for k in range(point.size(n)))
    assert value(a, 1) != value(a, 2)


def literal_at(position: int) -> Term:
    return Term("literal", (n,), position)


def test_domains() -> None:
    whole, u = variable("whole", "integer"), family("u", n, domain="positive")
    for seed in range(30):
        point = Point(seed)
        assert evaluate(c, point) > 0 and evaluate(u[i], point) > 0
        assert evaluate(whole, point) == int(evaluate(whole, point))
        assert point.size(n) >= 1 and size_of(size("four", 4), seed) >= 4
    assert {size_of(size("none", 0), seed) for seed in range(60)} >= {0, 1, 2}


def size_of(whole: Term, seed: int) -> int:
    return Point(seed).size(whole)


def test_permutations_permute_and_choices_stay_in_range() -> None:
    pi, mu = permutation("pi", n), choice("mu", ANY_REAL, target=n)
    for seed in range(20):
        point = Point(seed)
        places = [evaluate(pi(literal_at(k)), point) for k in range(point.size(n))]
        assert sorted(places) == list(range(point.size(n)))
        assert 0 <= evaluate(mu(a), point) < point.size(n)
        assert evaluate(mu(a), point) == evaluate(mu(a + 0), point)


def test_curves_have_the_derivative_that_they_claim() -> None:
    y = curve("y", n)
    assert y.derivative is not None
    for seed in range(5):
        assert abs(value(derivative(t, y[i, t**2], a) - 2 * a * y.derivative[i, a**2], seed)) < mp.mpf(10) ** -25


@pytest.mark.parametrize(
    ("proposition", "holds"),
    [
        (forall(i, eq(x[i], x[i])), True),
        (forall(i, lt(x[i], 0)), False),
        (forall([i, j], implies(ne(i, j), eq(delta(i, j), 0))), True),
        (forall(t, le(0, t**2)), True),
        (forall(t, le(0, t)), False),
        (eq(i, i), True),
        (tends(t, 1 / t, INFINITY, 0), True),
        (tends(t, 1 / t, INFINITY, 1), False),
        (tends(t, sin(t), INFINITY, 0), False),
        (tends(t, t**5 * exp(-t / 10), INFINITY, 0), True),
        (tends(t, t**5 * exp(-t / 10), INFINITY, 1), False),
        (tends(t, exp(t / 10), INFINITY, 0), False),
        (tends(t, t**2, 2, 4), True),
        (tends(t, t**2, 2, 5), False),
    ],
    ids=repr,
)
def test_propositions(proposition: Term, holds: bool) -> None:
    assert value(proposition) is holds


def test_equations_agree_to_twenty_digits() -> None:
    near, far = mp.mpf(10) ** -25, mp.mpf(10) ** -15
    assert compare("eq", mp.mpf(1), 1 + near) and not compare("ne", mp.mpf(1), 1 + near)
    assert not compare("eq", mp.mpf(1), 1 + far) and compare("lt", mp.mpf(1), 1 + far)
    assert compare("le", 1 + near, mp.mpf(1)) and not compare("le", 1 + far, mp.mpf(1))


def average(term: Term, seed: int, *spaces: Term) -> Any:
    """The mean over outcomes that are equally likely, taken outcome by outcome in Python."""
    point = Point(seed)
    counts = [int(evaluate(space_, point)) for space_ in spaces]
    values = [evaluate(term, point, outcomes) for outcomes in product(*map(range, counts))]
    return sum(values) / len(values), point


def test_an_expectation_is_an_average_over_a_few_outcomes() -> None:
    for seed in range(8):
        mean, point = average(Term("power", (q_at(Term("bound", (), 0)), number(2))), seed, U)
        assert abs(evaluate(expectation(u, q[i, u] ** 2), point) - mean) < mp.mpf(10) ** -40
        assert evaluate(U, point) in (2, 3)
        assert evaluate(expectation(u, a), point) == evaluate(a, point)


def q_at(outcome_: Term) -> Term:
    return Term("family", (i, outcome_), q)


def test_outcomes_that_are_bound_apart_are_independent() -> None:
    for seed in range(8):
        point = Point(seed)
        mean, second = evaluate(expectation(u, q[i, u]), point), evaluate(expectation(u, q[i, u] ** 2), point)
        assert abs(evaluate(expectation([u, v], q[i, u] * q[i, v]), point) - mean**2) < mp.mpf(10) ** -40
        assert (
            abs(evaluate(expectation([u, w], q[i, u] * r[w]), point) / mean - evaluate(expectation(w, r[w]), point))
            < 1e-40
        )
        assert second > mean**2 or abs(second - mean**2) < 1e-40


def test_a_random_index_and_a_condition() -> None:
    hi = choice("hi", U, target=n)
    for seed in range(8):
        point = Point(seed)
        places = [
            int(evaluate(Term("map", (Term("bound", (), 0),), hi), point, (k,))) for k in range(int(evaluate(U, point)))
        ]
        assert all(0 <= place < point.size(n) for place in places)
        found = sum(evaluate(Term("family", (Term("bound", (), 0),), x), point, (place,)) for place in places) / len(
            places
        )
        assert abs(evaluate(expectation(u, x[hi(u)]), point) - found) < mp.mpf(10) ** -40
        share = evaluate(expectation(u, when(le(q[i, u], a), 1, 0)), point)
        assert 0 <= share <= 1 and (share * evaluate(U, point)) % 1 == 0


def test_every_outcome_counts_in_a_universal_statement() -> None:
    least = forall(v, le(expectation(u, q[i, u]) - 5, q[i, v]))
    assert value(least) is True and value(forall(v, lt(expectation(u, q[i, u]), q[i, v]))) is False


def test_definitions_are_evaluated_as_their_bodies() -> None:
    share = Definition("share", [x, i], x[i] * sum_(j, x[j]))
    point = Point(6)
    assert evaluate(share(function(i, A[i, j]), j), point) == evaluate(A[j, j] * sum_(i, A[i, j]), point)
    assert evaluate(sum_(p, value_of(p)), point) == sum(range(point.size(m)))

"""The second opinion: terms to numbers, at points that meet hypotheses."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import mp as other

from proofs.binders import derivative, forall, function, sum_, tends
from proofs.definitions import Definition
from proofs.evaluate import NoSample, Point, compare, evaluate, mp
from proofs.kernel import Statement
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
    permutation,
    rational,
    sin,
    size,
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


def test_points_meet_the_hypotheses() -> None:
    statement = Statement(lt(0, a), (lt(b, a), lt(0, b), forall(i, lt(0, x[i]))))
    sampler = Sampler(statement, {})
    for seed in range(10):
        assert holds_at(statement.conclusion, sampler.point(seed))


def test_hypotheses_that_no_point_meets() -> None:
    with pytest.raises(NoSample, match="none of 400 random points meets the hypotheses; give a witness"):
        Sampler(Statement(eq(a, b), (lt(a, b), lt(b, a))), {}).point(0)


def test_a_witness_takes_the_place_of_random_values() -> None:
    statement = Statement(eq(sum_(i, x[i]), n * a), (forall(i, eq(x[i], a)),))
    sampler = Sampler(statement, {x: function(i, a)})
    assert all(holds_at(statement.conclusion, sampler.point(seed)) for seed in range(5))


def test_an_empty_range_is_tried_where_nothing_needs_a_value_in_it() -> None:
    none = size("none", 0)
    e = index("e", none)
    statement = Statement(lt(0, none))
    assert not all(holds_at(statement.conclusion, Sampler(statement, {}).point(seed)) for seed in range(12))
    needs_one = Statement(lt(0, none + 0 * value_of(e)))
    assert all(holds_at(needs_one.conclusion, Sampler(needs_one, {}).point(seed)) for seed in range(12))


def test_definitions_are_evaluated_as_their_bodies() -> None:
    share = Definition("share", [x, i], x[i] * sum_(j, x[j]))
    point = Point(6)
    assert evaluate(share(function(i, A[i, j]), j), point) == evaluate(A[j, j] * sum_(i, A[i, j]), point)
    assert evaluate(sum_(p, value_of(p)), point) == sum(range(point.size(m)))

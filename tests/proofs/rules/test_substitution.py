"""Earlier theorems at stated values."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.binders import forall, function, sum_
from proofs.kernel import Link, Specialised, Statement, Theorem, check, prove
from proofs.notation import absolute, delta, eq, exp, index, le, lt, permutation, size, variable
from proofs.rules.context import Refused
from proofs.terms import Term, TermError

from .earlier import share, theorems
from .vocabulary import INDICES, A, a, b, c, m, n, u, x, y

i, j, k = INDICES


def closes(conclusion: Term, reason: Any, *given: Term, using: tuple[Any, ...] = (), **arguments: Any) -> None:
    check(Statement(conclusion, given), (Link(None, None, reason, arguments, using),))


def by(rule: str, conclusion: Term, near_miss: Term, *given: Term, **arguments: Any) -> Theorem:
    twin = Statement(near_miss, given)
    return prove("it", Statement(conclusion, given), lambda p: p.closes(rule, **arguments), near_misses=[twin])


def test_both_sides_may_be_exchanged_anywhere() -> None:
    square = theorems()["square"]
    closes(eq(exp((b + c) ** 2), exp(b**2 + 2 * b * c + c**2)), square, at={a: b, b: c})
    closes(eq(b**2 + 2 * b * c + c**2, (b + c) ** 2), square, at={a: b, b: c}, backwards=True)
    with pytest.raises(Refused, match="not closed by square"):
        closes(eq(exp((b + c) ** 2), exp(b**2 + b * c + c**2)), square, at={a: b, b: c})


def test_a_left_index_is_found_under_binders() -> None:
    found = theorems()["share"]
    closes(eq(sum_(i, exp(share(u, i) * sum_(k, u[k])) * y[i]), sum_(i, exp(u[i]) * y[i])), found)
    with pytest.raises(Refused):
        closes(eq(sum_(i, exp(share(u, i) * sum_(k, u[k])) * y[i]), sum_(i, exp(u[j]) * y[i])), found)


def test_a_theorem_whose_left_side_does_not_occur() -> None:
    with pytest.raises(Refused, match="the left side of total does not occur"):
        closes(eq(exp(a), exp(b)), theorems()["total"], lt(0, sum_(i, u[i])))


def test_inequalities_are_added_to_both_sides() -> None:
    mean = theorems()["mean"]
    closes(le(exp(a) + 2 * a * b, exp(a) + a**2 + b**2), mean)
    for wrong in (le(a**2 + b**2, 2 * a * b), le(2 * a * b * c, (a**2 + b**2) * c), lt(2 * a * b, a**2 + b**2)):
        with pytest.raises(Refused, match="mean does not give this step"):
            closes(wrong, mean)


def test_hypotheses_are_discharged_at_the_place() -> None:
    sign = theorems()["sign"]
    closes(eq(sum_(i, absolute(x[i])), sum_(i, x[i])), "congruence", forall(i, lt(0, x[i])), then=sign, at={a: x[i]})
    with pytest.raises(Refused, match="a hypothesis of sign is not known to hold"):
        closes(
            eq(sum_(i, absolute(x[i])), sum_(i, x[i])), "congruence", forall(i, le(0, x[i])), then=sign, at={a: x[i]}
        )


def test_facts_that_a_step_uses() -> None:
    mean = theorems()["mean"]
    closes(le(2 * a * b - c, a**2 + b**2), "order", using=(mean,))
    closes(le(2 * c * b - c, c**2 + b**2), "order", using=((mean, {a: c}),))
    with pytest.raises(Refused):
        closes(le(2 * c * b, b**2), "order", using=((mean, {a: c}),))


def test_a_hypothesis_at_a_value() -> None:
    t = variable("t")
    given = forall(t, le(a * t, b))
    closes(le(3 * a, b), "order", given, using=(Specialised(given, (3,)),))
    with pytest.raises(Refused):
        closes(le(4 * a, b), "order", given, using=(Specialised(given, (3,)),))
    with pytest.raises(Refused, match="not among the hypotheses"):
        closes(le(3 * a, b), "order", given, using=(Specialised(forall(t, le(a, t)), (3,)),))
    with pytest.raises(TermError, match="needed of the sort real"):
        closes(le(3 * a + 0 * x[i], b), "order", given, using=(Specialised(given, (i,)),))
    with pytest.raises(TermError, match="the proof speaks of c"):
        closes(le(c * a, b), "order", forall(t, le(a * t, b)), using=(Specialised(given, (variable("c"),)),))


def test_a_specialised_hypothesis_keeps_its_domain() -> None:
    whole = variable("whole", "integer")
    given = forall(whole, le(a * whole, b))
    closes(le(3 * a + 0 * c, b), "order", given, using=(Specialised(given, (3,)),))
    with pytest.raises(Refused, match="needs a whole number"):
        closes(le(a * c, b), "order", given, using=(Specialised(given, (c,)),))


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({x: c}, "c is not a family"),
        ({x: function(index("p", m), 1)}, "x := "),
        ({y: x}, "shift does not speak of 'y'"),
        ({n: m}, "x, and the statement does not|needed"),
        ({x: function(i, c), b: y[k]}, "the proof speaks of"),
    ],
)
def test_values_that_do_not_fit(at: dict[Any, Any], message: str) -> None:
    with pytest.raises(TermError, match=message):
        closes(eq(sum_(i, x[i] + b), sum_(i, x[i]) + n * b * m / m), theorems()["shift"], at=at)


def test_a_permutation_for_a_permutation() -> None:
    pi, sigma = permutation("pi", n), permutation("sigma", n)
    theorem = by("finite_sum", eq(sum_(i, x[pi(i)]), sum_(i, x[i])), eq(sum_(i, x[pi(i)]), a))
    closes(eq(sum_(i, x[sigma(i)]), sum_(i, x[i])), theorem, at={pi: sigma})
    with pytest.raises(TermError, match="the proof speaks of pi"):
        closes(eq(sum_(i, x[sigma(i)]), sum_(i, x[i])), theorem)


def test_sizes_in_ranges_are_not_rewritten() -> None:
    """n = sum_i 1 exchanges the number n, not the range."""
    theorem = by("finite_sum", eq(sum_(i, 1 + 0 * a), n), eq(sum_(i, 1 + 0 * a), n + 1))
    closes(eq(n * sum_(i, x[i]), sum_(i, 1 + 0 * a) * sum_(i, x[i])), theorem, backwards=True)
    with pytest.raises(Refused):
        closes(eq(n * sum_(i, A[i, i] + 0 * a), sum_(i, A[i, i] * 1)), theorem, backwards=True)


def test_a_larger_minimum_is_kept() -> None:
    two = size("two", 2)
    theorem = by("order", lt(1, two), lt(2, two))
    closes(lt(1, m + 1), theorem, at={two: m + 1})
    with pytest.raises(Refused, match="two is at least 2, which is not known of"):
        closes(lt(1, m), theorem, at={two: m})
    assert delta(i, i) != delta(i, j)

"""What a given fact says about a term."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs.binders import forall
from proofs.notation import absolute, eq, implies, le, lt, ne
from proofs.rules.context import Context
from proofs.rules.facts import indices_in, instances, negated, opposite, replaced, says
from proofs.rules.normal import Normal
from proofs.rules.polynomial import Polynomial
from proofs.terms import Term, number

from .vocabulary import INDICES, A, a, b, c, pi, x

i, j, k = INDICES


def poly(term: Term) -> Polynomial:
    return Normal((), Context()).polynomial(term, Context())


@pytest.mark.parametrize("relation", ["eq", "ne", "le", "lt"])
@pytest.mark.parametrize("multiple", [Fraction(-2), Fraction(-1), Fraction(1, 3), Fraction(5)])
@pytest.mark.parametrize("surplus", [-2, 0, 3])
def test_no_fact_says_more_than_it_does(relation: str, multiple: Fraction, surplus: int) -> None:
    """`0 relation d` is asked about m d + s; what is said must hold for every d that it allows."""
    allowed = {"eq": [0], "ne": [-7, -1, 1, 7], "le": [0, 1, 7], "lt": [1, 7]}[relation]
    goal = poly(number(multiple) * (b - a) + surplus)
    truth = {
        "positive": lambda v: v > 0,
        "nonnegative": lambda v: v >= 0,
        "nonzero": lambda v: v != 0,
        "zero": lambda v: v == 0,
    }
    for what, test in truth.items():
        if says(what, goal, relation, poly(b - a)):
            assert all(test(multiple * d + surplus) for d in allowed), what


def test_facts_say_what_they_can() -> None:
    d = poly(b - a)
    assert says("positive", d, "lt", d) and says("nonnegative", d, "le", d) and says("nonzero", d, "ne", d)
    assert says("zero", poly(2 * a - 2 * b), "eq", d) and says("positive", poly(b - a + 1), "le", d)
    assert not says("positive", d, "le", d) and not says("nonnegative", poly(a - b), "le", d)


def test_universal_and_guarded_facts() -> None:
    fact = forall([i, j], implies(ne(i, j), lt(A[i, j], 0)))
    everything = list(instances(fact, (i, k), lambda guard: True))
    assert {r.args[0] for r in everything} == {A[p, q] for p in (i, k) for q in (i, k)}
    assert list(instances(fact, (i, k), lambda guard: False)) == []
    assert list(instances(le(absolute(a), c), (), lambda guard: False)) == [le(absolute(a), c), le(a, c), le(-a, c)]


def test_indices_of_a_term() -> None:
    assert set(indices_in(A[i, pi(j)] * x[k])) == {i, j, k, pi(j)}
    assert indices_in(a) == ()


def test_negations_and_opposites() -> None:
    assert negated(le(a, b)) == lt(b, a) and negated(lt(a, b)) == le(b, a)
    assert negated(eq(a, b)) == ne(a, b) and negated(ne(i, j)) == eq(i, j)
    assert opposite(-a) == Term("mul", (a,)) and opposite(2 * a) == -2 * a and opposite(a) == -a
    assert replaced(x[i] + exp_of(x[i]), x[i], a) == a + exp_of(a)


def exp_of(term: Term) -> Term:
    return Term("exp", (term,))

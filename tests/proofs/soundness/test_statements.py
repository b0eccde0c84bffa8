"""Statements that say nothing, and hypotheses that are not met."""

from __future__ import annotations

import pytest

from proofs.binders import forall, sum_
from proofs.kernel import ProofError
from proofs.notation import (
    absolute,
    eq,
    implies,
    lt,
    ne,
)  # fmt: skip
from proofs.terms import Term

from .attempts import a, attempt, b, i, j, k, proved, refuse, softmax, x, z


def test_hypotheses_that_nothing_meets() -> None:
    with pytest.raises(ProofError, match="random points meets the hypotheses"):
        proved(lt(2 * a, 2 * b), lt(2 * b, 2 * a), lambda p: p.closes("order"), lt(a, b), lt(b, a))


def test_an_unmet_hypothesis_of_an_earlier_theorem() -> None:
    theorem = proved(eq(absolute(a), a), eq(absolute(a), -a), lambda p: p.closes("order"), lt(0, a))
    refuse(eq(absolute(b), b), theorem, at={a: b}, match="a hypothesis of here is not known to hold")
    refuse(eq(absolute(b), b), "order", using=((theorem, {a: b}),))


def test_a_hypothesis_about_one_index_is_none_about_all() -> None:
    theorem = proved(eq(absolute(x[i]), x[i]), eq(absolute(x[i]), -x[i]), lambda p: p.closes("order"), lt(0, x[i]))
    refuse(eq(sum_(i, absolute(x[i])), sum_(i, x[i])), theorem, lt(0, x[i]), match="a hypothesis of here|not closed")
    attempt(eq(sum_(i, absolute(x[i])), sum_(i, x[i])), theorem, forall(i, lt(0, x[i])))


def test_a_guarded_fact_needs_its_guard() -> None:
    fact = forall(j, implies(ne(i, j), lt(0, x[j])))
    refuse(lt(0, x[k]), "order", fact)
    attempt(lt(0, x[k]), "order", ne(i, k), fact)


@pytest.mark.parametrize("side", [a, softmax(z, i), sum_(i, x[i])], ids=repr)
def test_a_vacuous_statement(side: Term) -> None:
    with pytest.raises(ProofError, match="both sides are the same term"):
        attempt(eq(side, side), "ring")


def test_bound_names_do_not_make_a_statement() -> None:
    with pytest.raises(ProofError, match="both sides are the same term"):
        attempt(eq(sum_(i, x[i]), sum_(j, x[j])), "ring")


def test_the_conclusion_among_the_hypotheses() -> None:
    with pytest.raises(ProofError, match="the conclusion is one of the hypotheses"):
        attempt(eq(a, b), "given", eq(a, b))

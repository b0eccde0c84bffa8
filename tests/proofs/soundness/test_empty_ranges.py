"""Ranges that may be empty: nothing follows from an index that does not exist."""

from __future__ import annotations

import pytest

from proofs.binders import forall, sum_
from proofs.kernel import Link, Script, Statement, check
from proofs.notation import (
    choice,
    delta,
    eq,
    family,
    index,
    le,
    literal,
    lt,
    ne,
    sqrt,
    value_of,
)  # fmt: skip
from proofs.terms import ANY_REAL, TermError, number

from .attempts import a, attempt, b, m, n, none, proved, refuse


def test_a_sum_over_a_range_that_may_be_empty_is_not_positive() -> None:
    u = family("u", none, domain="positive")
    e = index("e", none)
    refuse(lt(0, sum_(e, u[e])), "order")
    attempt(le(0, sum_(e, u[e])), "order")


def test_cases_on_an_index_that_cannot_exist_prove_nothing() -> None:
    with pytest.raises(TermError, match="the proof speaks of q, and the statement does not"):
        attempt(eq(a, a + 1), "cases", on=index("q", 0), then="ring")
    with pytest.raises(TermError, match="the proof speaks of mu"):
        attempt(eq(a, a + 1), "cases", on=choice("mu", ANY_REAL, target=0)(a), then="ring")


def test_an_index_of_an_empty_range_may_not_be_brought_in() -> None:
    """1 = sum_e delta_ef <= sum_e 1 = n needs an f, which there is none of for n = 0."""
    e, f = index("e", none), index("f", none)

    def write(p: Script) -> None:
        p.equals(sum_(e, delta(e, f)), "finite_sum")
        p.at_most(sum_(e, 1), "congruence", then="cases", on=(f, e), inner={"then": "order"})
        p.closes("finite_sum")

    script = Script()
    write(script)
    with pytest.raises(TermError, match="the proof speaks of f"):
        check(Statement(le(1, none)), tuple(script.links))
    there_is_one = Statement(le(1 + 0 * value_of(f), none))
    check(there_is_one, (Link("eq", number(1), "ring", {}, ()), *script.links))


def test_a_theorem_about_an_index_is_not_used_where_the_range_may_be_empty() -> None:
    f = index("f", none)

    def write(p: Script) -> None:
        e = index("e", none)
        p.equals(number(1), "ring")
        p.equals(sum_(e, delta(e, f)), "finite_sum")
        p.at_most(sum_(e, 1), "congruence", then="cases", on=(f, e), inner={"then": "order"})
        p.closes("finite_sum")

    theorem = proved(le(1 + 0 * value_of(f), none), le(2 + 0 * value_of(f), none), write)
    refuse(le(1, none), theorem)
    with pytest.raises(TermError, match="speaks of f"):
        attempt(le(1, none), theorem, at={f: f})


def test_a_universal_fact_over_an_empty_range_says_nothing() -> None:
    e = index("e", none)
    with pytest.raises(TermError, match="speaks of e"):
        attempt(lt(0, a), "order", forall(e, lt(0, a)), difference=a + 0 * value_of(e))


def test_a_literal_index_needs_a_range_that_long() -> None:
    for whole in (none, none * m, number(0), n * none):
        with pytest.raises(TermError, match="0 is not known to be an index"):
            literal(0, whole)
    assert literal(0, n * m).op == "literal"


def test_a_denominator_from_an_empty_sum_is_not_multiplied_away() -> None:
    """For an empty range the hypothesis says nothing about the denominator."""
    e, v = index("e", none), family("v", none)
    base = sqrt(a**2) - a + 0 * value_of(e)
    zero = sum_(e, v[e] * base / base**2 - v[e] / base)
    other = b * (sqrt(a**2) + a)  # a base times this is 0 by its shape
    refuse(eq(zero + other, 0), "finite_sum", forall(e, ne(0, base)), match="what is left over")

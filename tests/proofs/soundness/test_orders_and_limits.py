"""Inequalities and limits that do not follow."""

from __future__ import annotations

import pytest

from proofs.binders import tends
from proofs.kernel import ProofError, Script, Statement, check
from proofs.notation import (
    INFINITY,
    absolute,
    eq,
    exp,
    le,
    lt,
    ne,
    sqrt,
)  # fmt: skip

from .attempts import a, attempt, b, refuse, t


def test_a_negative_factor_turns_an_inequality_round() -> None:
    for then in ("order", "given"):
        refuse(lt(-a, -b), "congruence", lt(a, b), then=then)
    refuse(le(a * b, 2 * b), "order", le(a, 2))
    attempt(le(-b, -a), "order", le(a, b))


def test_even_powers_of_terms_that_may_be_negative() -> None:
    refuse(le(a**2, b**2), "order", le(a, b))
    refuse(lt(0, a**2), "order")
    attempt(lt(0, a**2), "order", ne(a, 0))


def test_different_arguments_may_have_equal_values() -> None:
    refuse(ne(a**2, b**2), "congruence", ne(a, b), then="order")


def test_a_chain_of_weak_steps_is_not_strict() -> None:
    script = Script()
    script.at_most(b, "order")
    script.closes("ring")
    with pytest.raises(ProofError, match="the chain proves ≤, where < "):
        check(Statement(lt(a, b + 0), (le(a, b),)), tuple(script.links))


def test_an_inequality_has_no_place_in_an_equation() -> None:
    script = Script()
    script.at_most(b, "order")
    script.closes("order")
    with pytest.raises(ProofError, match="a step 'le' has no place in a proof of 'eq'"):
        check(Statement(eq(a, b), (le(a, b), le(b, a))), tuple(script.links))


def test_a_decay_with_a_gap_that_may_be_zero() -> None:
    refuse(tends(t, exp(-t * a), INFINITY, 0), "limit", match="no rule for the limit|not known")
    refuse(tends(t, exp(-t * a), INFINITY, 0), "limit", le(0, a))
    attempt(tends(t, exp(-t * a), INFINITY, 0), "limit", lt(0, a))


def test_a_limit_from_both_sides_at_a_kink() -> None:
    refuse(tends(t, absolute(t) / t, 0, 1), "limit", match="the limit of a denominator may vanish")
    refuse(tends(t, sqrt(t), 0, 0), "limit", match="a root needs a non-negative argument")


def test_an_equation_near_infinity_is_none_elsewhere() -> None:
    """|t| = t is used for large t, and may not leave the limit."""
    script = Script()
    script.equals(t / t * exp(-t), "order")
    script.closes("limit")
    check(Statement(tends(t, absolute(t) / t * exp(-t), INFINITY, 0)), tuple(script.links))
    refuse(eq(absolute(t), t), "order")


def test_a_squeeze_between_bounds_that_do_not_hold() -> None:
    refuse(tends(t, a * exp(-t), INFINITY, 0), "squeeze", match="bound of the squeeze", lower=0 * a, upper=exp(-t))

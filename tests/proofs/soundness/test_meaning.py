"""Denominators, roots, logarithms, derivatives: a term without a meaning is not admitted."""

from __future__ import annotations

import pytest

from proofs.binders import derivative, function
from proofs.notation import (
    Definition,
    absolute,
    choice,
    curve,
    delta,
    eq,
    log,
    lt,
    maximum,
    ne,
    sqrt,
    table,
    when,
)  # fmt: skip
from proofs.terms import ANY_REAL, Term, number

from .attempts import a, attempt, b, i, j, l, refuse, softmax, t, x


def test_a_denominator_that_may_vanish() -> None:
    assert refuse(eq(a / a, 1), "field", match="a denominator may vanish") == ne(0, a)
    attempt(eq(a / a, 1), "field", ne(a, 0))


def test_denominators_that_sympy_cancels_on_construction() -> None:
    refuse(eq((a + b) / (a + b), 1), "field", match="a denominator may vanish")
    refuse(eq(0 / a, 0), "field", match="a denominator may vanish")
    assert (a + b) / (a + b) != number(1) and 0 / a != number(0)


def test_a_delta_does_not_move_a_denominator_to_where_it_vanishes() -> None:
    """delta_ij / base_j may be written with base_i, but base_i is not known to exist, so nothing is multiplied by it."""
    base = sqrt(x[j] ** 2) - x[j]
    zero = delta(i, j) * (base * base**-2 - base**-1)
    refuse(eq(zero + a * (sqrt(x[i] ** 2) + x[i]), 0), "finite_sum", ne(0, base))


@pytest.mark.parametrize(
    ("term", "match"),
    [
        (log(a), "a logarithm needs a positive argument"),
        (sqrt(a), "a root needs a non-negative argument"),
        (a**b, "a real power needs a positive base"),
        (derivative(t, absolute(t), 0), "not known to be differentiable"),
        (derivative(t, sqrt(t), 0), "not known to be differentiable"),
        (derivative(t, when(lt(t, 0), -t, t), 0), "not known to be differentiable"),
        (derivative(t, maximum(t, 0), 0), "not known to be differentiable"),
        (softmax(function(l, log(x[l])), i), "a logarithm needs a positive argument"),
        (when(lt(a, 0), 1, 1 / a), "a denominator may vanish"),
    ],
    ids=lambda v: v if isinstance(v, str) else v.op,
)
def test_a_term_without_a_meaning_is_refused(term: Term, match: str) -> None:
    refuse(eq(term - term, 0), "ring", match=match)


def test_a_guard_gives_a_branch_its_meaning() -> None:
    attempt(eq(when(ne(a, 0), a / a, 1), when(ne(a, 0), 1, 1)), "congruence", then="field")


def test_a_definition_is_used_where_it_is_defined() -> None:
    share = Definition("share", [a, b], a / b, requires=[ne(b, 0)])
    refuse(eq(share(a, b) * b, a), "definition", of=share, match="share is not defined here")
    attempt(eq(share(a, b) * b, a), "definition", ne(b, 0), of=share)
    everywhere = Definition("everywhere", [a, b], a / b)
    refuse(eq(everywhere(a, b) * b, a), "definition", ne(b, 0), of=everywhere, match="a denominator may vanish")


def test_a_definition_over_curves_needs_a_curve() -> None:
    y = curve("y")
    slope = Definition("slope", [y, a], derivative(t, y[t], a))
    refuse(eq(slope(function(t, absolute(t)), 0) * 0, 0), "ring", match="differentiable")


def test_the_derivative_of_an_entry_at_a_moving_index() -> None:
    mu = choice("mu", ANY_REAL, target=2)
    refuse(eq(derivative(t, table([0, 1], mu(t)), a), 0), "derivative", match="a moving index has no derivative")

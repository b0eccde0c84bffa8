"""Names: a bound one never meets a free one."""

from __future__ import annotations

import pytest

from proofs.binders import derivative, forall, function, sum_
from proofs.definitions import unfolded
from proofs.notation import (
    Definition,
    delta,
    eq,
    exp,
    family,
    log,
    ne,
    permutation,
)  # fmt: skip
from proofs.terms import TermError

from .attempts import A, a, attempt, b, i, j, k, l, n, proved, refuse, t, x, z


def test_a_free_index_is_not_captured_by_a_binder_of_the_same_name() -> None:
    """sum_i x_i y_j at j = i is not sum_i x_i y_i."""
    theorem = proved(
        eq(sum_(i, x[i] * z[j]), z[j] * sum_(k, x[k])), eq(sum_(i, x[i] * z[j]), z[j]), lambda p: p.closes("finite_sum")
    )
    attempt(eq(sum_(j, x[j] * z[i]), z[i] * sum_(k, x[k])), theorem, at={j: i})
    refuse(eq(sum_(i, x[i] * z[i]), z[i] * sum_(k, x[k])), theorem, at={j: i})


def test_an_instance_of_a_family_under_a_binder_is_not_captured() -> None:
    """z_l := A_lj, where j is bound in the theorem, keeps its own j."""
    theorem = proved(
        eq(sum_(j, z[j] + a), sum_(j, z[j]) + n * a), eq(sum_(j, z[j] + a), a), lambda p: p.closes("finite_sum")
    )
    good, bad = (sum_(k, A[k, j] + a), sum_(k, A[k, j]) + n * a), (sum_(j, A[j, j] + a), sum_(j, A[j, j]) + n * a)
    at = {z: function(l, A[l, j])}
    attempt(eq(*good), theorem, at=at)
    with pytest.raises(TermError, match="the proof speaks of j"):
        attempt(eq(*bad), theorem, at=at)


def test_a_left_index_is_not_found_at_one_that_is_bound_inside() -> None:
    """sum_j (A_ij + b) does not match sum_j (A_pi(j)j + b): there is no i that does not depend on j."""
    pi = permutation("pi", n)
    pulled = eq(sum_(j, A[i, j] + b), sum_(j, A[i, j]) + n * b)
    theorem = proved(pulled, eq(sum_(j, A[i, j] + b), b), lambda p: p.closes("finite_sum"))
    attempt(eq(sum_(k, exp(sum_(j, A[pi(k), j] + b))), sum_(k, exp(sum_(j, A[pi(k), j]) + n * b))), theorem)
    refuse(eq(sum_(k, exp(sum_(j, A[pi(j), j] + b))), sum_(k, exp(sum_(j, A[pi(k), j]) + n * b))), theorem)


def test_a_cotangent_index_does_not_meet_the_index_of_the_derivative() -> None:
    """L = sum_i G_i x_i along x_l + t delta_li gives G_i, not the whole sum."""
    G = family("G", n)
    along = derivative(t, sum_(i, G[i] * (x[i] + t * delta(i, j))), 0)
    attempt(eq(along, sum_(i, G[i] * delta(i, j))), "derivative")
    meant = Definition("loss", [x, G], sum_(i, G[i] * x[i]))
    partial = derivative(t, meant(function(l, x[l] + t * delta(l, i)), G), 0)
    attempt(eq(partial, sum_(l, G[l] * delta(l, i))), "derivative")
    assert refuse(eq(partial, sum_(i, G[i])), "derivative") is not None


def test_two_binders_of_one_name_stay_apart_in_the_sign_of_a_logarithm() -> None:
    """exp(log(s^2) / 2) is |s|: a square of the inner index alone must not be found positive."""
    product = Definition("product", [x, i], sum_(j, x[j] * x[i]))
    inner = unfolded(product(x, j))  # its own binder is called j too
    given = (forall(i, ne(0, x[i])), forall(j, ne(0, inner)))
    refuse(eq(sum_(j, exp(log(inner**2) / 2)), sum_(j, inner)), "exp_log", *given)
    attempt(eq(sum_(j, exp(log(inner**2))), sum_(j, inner**2)), "exp_log", *given)


def test_congruence_opens_a_binder_without_meeting_a_free_name() -> None:
    """Inside sum_i the free i of a guard is another one."""
    given = (eq(x[i], 0),)
    refuse(eq(sum_(i, x[i]), sum_(i, 0 * x[i])), "congruence", *given, then="given")

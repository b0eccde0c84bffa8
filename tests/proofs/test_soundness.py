"""Named dangers. Each test tries to have something false, or something meaningless, accepted; its name says how."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proofs
from proofs.binders import derivative, forall, function, sum_, tends
from proofs.definitions import unfolded
from proofs.kernel import Link, ProofError, Script, Statement, Theorem, Twin, check, prove
from proofs.notation import (
    INFINITY,
    Definition,
    absolute,
    choice,
    cos,
    curve,
    delta,
    eq,
    exp,
    family,
    implies,
    index,
    join,
    le,
    literal,
    log,
    lt,
    ne,
    permutation,
    size,
    sqrt,
    table,
    value_of,
    variable,
    when,
)  # fmt: skip
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Family, IndexMap, Term, TermError, number

n, m, none = size("n"), size("m"), size("none", 0)  # the last one may be 0
i, j, k, l = (index(name, n) for name in "ijkl")
a, b, c, t = variable("a"), variable("b"), variable("c", "positive"), variable("t")
x, z, w, A = family("x", n), family("z", n), family("w", n, m), family("A", n, n)

softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])))


def attempt(conclusion: Term, rule: Any, *given: Term, using: tuple[Any, ...] = (), **arguments: Any) -> Any:
    """One link that is to prove it."""
    return check(Statement(conclusion, given), (Link(None, None, rule, arguments, using),))


def refuse(
    conclusion: Term, rule: Any, *given: Term, match: str | None = None, using: tuple[Any, ...] = (), **arguments: Any
) -> Term:
    """The residue of the refusal."""
    with pytest.raises(Refused, match=match) as refusal:
        attempt(conclusion, rule, *given, using=using, **arguments)
    return refusal.value.residue


def proved(conclusion: Term, near_miss: Term, write: Callable[[Script], None], *given: Term, **options: Any) -> Theorem:
    return prove("here", Statement(conclusion, given), write, near_misses=[Statement(near_miss, given)], **options)


# --- capture ----------------------------------------------------------------------------------------------------------


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


# --- empty ranges -----------------------------------------------------------------------------------------------------


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
    base = sqrt(a**2) - a
    zero = sum_(e, v[e] * base / base**2 - v[e] / base)
    refuse(eq(zero + b * (sqrt(a**2) + a), 0), "finite_sum", forall(e, ne(0, base)))


# --- denominators and other things without a meaning -------------------------------------------------------------------


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
        (derivative(t, when(lt(t, 0), -t, t), 0), "a kink has none"),
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


# --- symbols ----------------------------------------------------------------------------------------------------------


def test_a_symbol_with_wrong_assumptions() -> None:
    theorem = proved(eq(absolute(c), c), eq(absolute(c), -c), lambda p: p.closes("order"))
    refuse(eq(absolute(a), a), theorem, at={c: a}, match="needs a positive value")
    attempt(eq(absolute(a), a), theorem, lt(0, a), at={c: a})
    refuse(eq(sqrt(a**2), a), "order")


def test_a_size_below_its_minimum() -> None:
    theorem = proved(lt(0, n), lt(1, n), lambda p: p.closes("order"))
    refuse(lt(0, none), theorem, at={n: none}, match="n is at least 1, which is not known of")
    refuse(lt(0, a), theorem, at={n: a}, match="n is at least 1")


def test_an_integer_symbol_takes_whole_numbers() -> None:
    whole = variable("whole", "integer")
    halves = Definition("halves", [whole], cos(whole))
    refuse(eq(halves(a) - cos(a), 0), "definition", of=halves, match="needs a whole number")


def test_two_symbols_of_one_name() -> None:
    for other in (variable("a", "positive"), size("a"), index("a", n)):
        term = value_of(other) if other.op == "index" else other
        with pytest.raises(TermError, match="a stands for two symbols"):
            attempt(eq(a + term, term + a), "ring")
    with pytest.raises(TermError, match="n stands for two symbols"):
        attempt(eq(n + size("n", 2), 2 * n), "ring")
    namesake = Definition("softmax", [z, i], exp(z[i]))
    with pytest.raises(TermError, match="softmax stands for two things"):
        attempt(eq(softmax(x, i), namesake(x, i)), "definition", of=softmax)


def test_a_chain_does_not_change_to_another_symbol_of_the_same_name() -> None:
    script = Script()
    script.equals(variable("a", "positive"), "ring")
    script.closes("ring")
    with pytest.raises(TermError, match="the proof speaks of a, and the statement does not"):
        check(Statement(eq(a, absolute(a))), tuple(script.links))


# --- ranges -----------------------------------------------------------------------------------------------------------


def test_delta_of_two_ranges() -> None:
    with pytest.raises(TermError, match=r"delta: i is an index into a range of size n, but p is .* of size m"):
        delta(i, index("p", m))


def test_a_delta_over_a_range_that_excludes_the_index() -> None:
    """sum over l != j of delta_lj x_l is 0, and sum over three literal places contracts with those alone."""
    refuse(eq(sum_(l, delta(l, j) * (1 - delta(l, j)) * x[l]), x[j]), "finite_sum")
    three = index("three", 3)
    attempt(eq(sum_(three, delta(three, literal(1, 3))), 1), "finite_sum")
    with pytest.raises(TermError, match="3 is not known to be an index into a range of size 3"):
        literal(3, 3)


def test_a_transposed_family() -> None:
    with pytest.raises(TermError, match="w: p is an index into a range of size m; needed"):
        w[index("p", m), i]
    refuse(eq(sum_(j, A[i, j] * x[j]), sum_(j, A[j, i] * x[j])), "finite_sum")


def test_a_range_of_a_product_is_not_taken_for_another() -> None:
    """sum over n m places is no constant: the order of the factors of a size is part of its type."""
    e = index("e", n * m)
    f, g = family("f", n * m), family("g", n * m)
    refuse(eq(sum_(e, f[e] * g[e]) * n * m, sum_(e, f[e]) * sum_(e, g[e])), "finite_sum")
    refuse(eq(sum_(e, f[e] * g[e]), n * m * f[e] * g[e]), "finite_sum")


def test_two_ways_to_split_twelve_places() -> None:
    """2 m + a = 6 k + b does not mean m = k and a = b."""
    one = join(index("r", 6), index("s", 2))
    other = join(index("k", 2), index("b", 6))
    attempt(eq(delta(one, other) + 0 * a, delta(other, one)), "ring")
    split_up = Term("delta", (index("r", 6), index("k", 2))) * Term("delta", (index("s", 2), index("b", 6)))
    with pytest.raises(TermError, match="ill-typed"):
        attempt(eq(delta(one, other), split_up), "ring")


def test_an_ill_typed_term_that_was_built_node_by_node() -> None:
    five = Term("literal", (n,), 5)
    for term in (sum_(i, Term("delta", (i, five))), x[five], Term("add", (i, a)), Term("bound", (), 0)):
        with pytest.raises(TermError):
            attempt(eq(term, term + 0 * a), "ring")
    hidden = Term("sum", (n, Term("family", (Term("bound", (), 0),), x)), None, ())  # a binder without a name
    with pytest.raises(TermError, match="binds 1 variables"):
        attempt(eq(hidden, hidden + 0), "ring")


def test_a_permutation_of_another_range_is_no_renaming() -> None:
    e = index("e", m)
    y = family("y", m)
    onto = IndexMap("onto", (n,), m, bijective=True)
    with pytest.raises(TermError, match="a permutation maps a range to itself"):
        attempt(eq(sum_(i, y[onto(i)]), sum_(e, y[e])), "finite_sum")
    mu = choice("mu", n, target=n)
    refuse(eq(sum_(i, x[mu(i)]), sum_(i, x[i])), "finite_sum")


def test_a_permutation_beside_a_plain_index_is_no_renaming() -> None:
    pi = permutation("pi", n)
    refuse(eq(sum_(i, x[pi(i)] * z[i]), sum_(i, x[i] * z[i])), "finite_sum")
    refuse(eq(sum_(i, A[pi(i), i]), sum_(i, A[i, i])), "finite_sum")


# --- inequalities -----------------------------------------------------------------------------------------------------


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


# --- limits -----------------------------------------------------------------------------------------------------------


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


# --- hypotheses and vacuity -------------------------------------------------------------------------------------------


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


# --- proofs -----------------------------------------------------------------------------------------------------------


def test_an_empty_proof() -> None:
    with pytest.raises(ProofError, match="the proof is empty"):
        check(Statement(eq(a + b, b + a)), ())


def test_a_wrong_step() -> None:
    script = Script()
    script.equals(a**2 + b**2, "ring")
    script.closes("ring")
    with pytest.raises(Refused, match="what is left over") as refusal:
        check(Statement(eq((a + b) ** 2, a**2 + 2 * a * b + b**2)), tuple(script.links))
    assert refusal.value.residue == number(2) * a * b


def test_a_chain_that_stops_short() -> None:
    script = Script()
    script.equals(a * (a + 2 * b) + b**2, "ring")
    with pytest.raises(Refused, match="the chain stops short of the right side"):
        check(Statement(eq((a + b) ** 2, a**2 + 2 * a * b + b**2)), tuple(script.links))


def test_an_illegal_instance() -> None:
    theorem = proved(eq(sum_(i, softmax(z, i)), 1), eq(sum_(i, softmax(z, i)), n), _sums_to_one)
    with pytest.raises(TermError, match=r"z := .*needed slots"):
        attempt(eq(sum_(i, softmax(x, i)), m / m), theorem, at={z: function(index("p", m), 1)})
    with pytest.raises(TermError, match="here does not speak of 'x'"):
        attempt(eq(sum_(i, softmax(x, i)), 1), theorem, at={x: z})


def _sums_to_one(p: Script) -> None:
    p.equals(sum_(i, exp(z[i]) / sum_(l, exp(z[l]))), "definition", of=softmax)
    p.closes("finite_sum")


@pytest.mark.parametrize(
    ("twin", "match"),
    [
        (Statement(eq(2 * (a + b), 2 * b + 2 * a)), "a near miss is not false|not false at any sampled point"),
        (Statement(eq(2 * (a + b), 2 * a + 2 * b)), "a near miss is the statement itself"),
        (Statement(eq(2 * (a + b), Term("family", (index("p", m),), x))), "the near miss is no statement"),
        (Statement(eq(2 * (a + b), 2 * a / b)), "the near miss is no statement: a denominator may vanish"),
    ],
    ids=["true", "equal", "ill-typed", "undefined"],
)
def test_a_near_miss_that_is_none(twin: Statement, match: str) -> None:
    with pytest.raises(ProofError, match=match):
        prove("here", Statement(eq(2 * (a + b), 2 * a + 2 * b)), lambda p: p.closes("ring"), near_misses=[twin])


def test_a_proof_without_a_near_miss() -> None:
    with pytest.raises(ProofError, match="here has no near miss"):
        prove("here", Statement(eq(a + b, b + a)), lambda p: p.closes("ring"), near_misses=[])


def test_a_near_miss_that_is_stopped_by_an_error_only() -> None:
    with pytest.raises(ProofError, match="an error is no refusal of the near miss"):
        proved(eq(a + b, b + a), lt(a + b, b + a), lambda p: p.closes("ring"))


@pytest.mark.parametrize("count", [1, 2])
def test_smallest_sizes(count: int) -> None:
    """What holds for every n holds for one place and for two; what fails there is refused."""
    whole = number(count)
    f, y = index("f", whole), family("y", whole)
    attempt(eq(sum_(f, y[f]), y[0] if count == 1 else y[0] + y[1]), "finite_sum")
    refuse(eq(sum_(f, y[f]), 2 * y[0]), "finite_sum")


def test_a_product_of_sums_is_no_sum_of_products() -> None:
    refuse(eq(sum_(i, sum_(j, x[i] * z[j])), sum_(i, x[i] * z[i])), "finite_sum")
    refuse(eq(sum_(i, x[i]) ** 2, sum_(i, x[i] ** 2)), "finite_sum")
    refuse(eq(sum_(i, sum_(j, A[i, j] * A[j, k])), sum_(i, sum_(j, A[i, j] * A[k, j]))), "finite_sum")


# --- hostile proof code -------------------------------------------------------------------------------------------------


def test_a_proof_cannot_set_the_term_of_the_chain() -> None:
    script = Script()
    assert {name for name in dir(script) if not name.startswith("_")} == {
        "at_most",
        "closes",
        "equals",
        "less_than",
        "links",
    }
    script.closes("ring")
    script.links[0] = script.links[0]._replace(after=a)  # the last link with a right side of its own
    with pytest.raises(Refused, match=r"what is left over|stops short"):
        check(Statement(eq(a + b, 2 * a)), tuple(script.links))


def test_a_proof_cannot_bring_its_own_rule() -> None:
    for reason in (lambda *whatever: None, "my_rule", object()):
        with pytest.raises(ProofError, match=r"is no rule|is no Theorem"):
            attempt(eq(a, b), reason)
    with pytest.raises(TypeError):
        proofs.rules.RULES["mine"] = None  # type: ignore[index]


def test_a_theorem_cannot_be_made_changed_copied_or_pickled() -> None:
    theorem = proved(eq(a + b, b + a), eq(a + b, b - a), lambda p: p.closes("ring"))
    with pytest.raises(TypeError, match="comes out of a checked proof"):
        Theorem(object(), conclusion=eq(a, b))
    with pytest.raises(AttributeError, match="cannot be changed"):
        theorem.conclusion = eq(a, b)
    for imitation in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            imitation(theorem)
    with pytest.raises(TypeError, match="no class can be made of it"):
        type("Mine", (Theorem,), {})


def test_a_forged_theorem_proves_nothing() -> None:
    theorem = proved(eq(a + b, b + a), eq(a + b, b - a), lambda p: p.closes("ring"))
    forged = object.__new__(Theorem)
    for slot in ("name", "hypotheses", "steps", "near_misses", "says", "source"):
        object.__setattr__(forged, slot, getattr(theorem, slot))
    object.__setattr__(forged, "conclusion", eq(a, b))

    class Liar:
        """Equal to the real theorem wherever it is asked, and pointing to it."""

        name, hypotheses, conclusion = "liar", (), eq(a, b)

        def __init__(self) -> None:
            self.theorem = theorem

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(theorem)

    with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
        attempt(eq(a, b), forged)
    refuse(eq(a, b), Liar(), match="left side of here|not closed by here")
    refuse(eq(a, b), "order", using=(Liar(),))


def test_terms_that_lie_about_being_equal() -> None:
    class Equal(Term):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return Term.__hash__(self)

    liar = Equal("variable", (), ("a", "real"))
    script = Script()
    script.equals(liar, "congruence", then="ring")
    script.closes("congruence", then="ring")
    with pytest.raises(TermError, match="is not a term, but Equal"):
        check(Statement(eq(a, a + 1)), tuple(script.links))
    with pytest.raises(TermError, match="is not a term, but Equal"):
        attempt(eq(liar + 1, a), "ring")


def test_terms_and_definitions_cannot_be_changed() -> None:
    term = a + b
    for change in (lambda: setattr(term, "op", "mul"), lambda: term.__init__("number", (), 5)):  # type: ignore[misc]
        with pytest.raises(AttributeError, match="a term cannot be changed"):
            change()
    for change in (lambda: setattr(softmax, "body", a), lambda: softmax.__init__("softmax", [z, i], z[i])):  # type: ignore[misc]
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()


def test_what_was_proved_does_not_change_with_the_script() -> None:
    """Lists and dictionaries that a proof hands over are copied, or not taken."""
    at: dict[Any, Any] = {a: b}
    square = proved(
        eq((a + c) ** 2, a**2 + 2 * a * c + c**2), eq((a + c) ** 2, a**2 + c**2), lambda p: p.closes("ring")
    )
    theorem = proved(
        eq((b + c) ** 2 * 3, (b**2 + 2 * b * c + c**2) * 3),
        eq((b + c) ** 2 * 3, b**2),
        lambda p: p.closes(square, at=at),
    )
    at[a] = c
    assert dict(theorem.steps[0].arguments["at"]) == {a: b}
    hypotheses = [lt(0, a)]
    with pytest.raises(ProofError, match="not a Statement with a tuple of hypotheses"):
        prove("here", Statement(eq(absolute(a), a), hypotheses), lambda p: p.closes("order"), near_misses=[])  # type: ignore[arg-type]


def test_a_curve_brings_its_own_derivative() -> None:
    """The slope of a curve is that of its declaration, and no other."""
    y = Family("y", (ANY_REAL,), "real", Family("slope", (ANY_REAL,)))
    with pytest.raises(TermError, match="the derivative of a curve is d_y"):
        attempt(eq(derivative(t, y[t], a), y.derivative[a]), "derivative")  # type: ignore[index]
    y = curve("y")
    theorem = proved(eq(derivative(t, y[t], a), y.derivative[a]), eq(derivative(t, y[t], a), -y.derivative[a]), lambda p: p.closes("derivative"))  # type: ignore[index]  # fmt: skip
    right = eq(derivative(t, t**2, a), 2 * a)
    attempt(right, theorem, at={y: function(t, t**2)})
    refuse(right, theorem, at={y: function(t, t**2), y.derivative: function(t, t)}, match="is not the derivative")
    with pytest.raises(TermError, match="d_y cannot be replaced without y"):
        attempt(right, theorem, at={y.derivative: function(t, t)})


def test_optimised_python_refuses_too() -> None:
    """`python -O` deletes assert statements; nothing rests on one."""
    program = (
        "from proofs.kernel import *; from proofs.terms import *\n"
        "a, b = variable('a'), variable('b')\n"
        "try: prove('false', Statement(relation('eq', (a + b) ** 2, a**2 + b**2)), lambda p: p.closes('ring'), near_misses=[])\n"
        "except ProofError as refusal: print('refused:', refusal)\n"
        "print(prove('true', Statement(relation('eq', a + b, b + a)), lambda p: p.closes('ring'),"
        " near_misses=[Statement(relation('eq', a + b, b))]).name)\n"
    )
    root = Path(proofs.__file__).parents[1]
    found = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, cwd=root, check=True)
    assert found.stdout.splitlines() == ["refused: false: what is left over: mul(2, a, b)", "true"]


def test_twins_are_falsified_where_they_say() -> None:
    at = Twin(Statement(eq(absolute(a), -a), (lt(0, a),)), {a: number(3)})
    theorem = prove("here", Statement(eq(absolute(a), a), (lt(0, a),)), lambda p: p.closes("order"), near_misses=[at])
    assert theorem.near_misses[0].residue is not None

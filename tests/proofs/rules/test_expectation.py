"""Expectations in normal form, in signs, orders and places; every law is also an identity of averages over a few outcomes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from proofs.binders import derivative, expectation, forall, function, sum_, tends
from proofs.evaluate import Point, compare, evaluate
from proofs.kernel import Link, Specialised, Statement, Theorem, check, prove
from proofs.notation import (
    INFINITY,
    absolute,
    delta,
    eq,
    exp,
    family,
    le,
    lt,
    maximum,
    ne,
    outcome,
    tanh,
    variable,
    when,
)
from proofs.rules.context import Context, Refused
from proofs.rules.derivative import differentiated
from proofs.rules.limit import limit_of
from proofs.rules.normal import Normal
from proofs.rules.order import at_most
from proofs.rules.sign import Sign
from proofs.terms import Term, TermError

from .probability import H, N, X, Y, Z, hi, o, o1, omega, s, theta
from .vocabulary import INDICES, A, a, b, c, n, pi, x, y

i, j, k = INDICES
F = family("F", n, omega, omega)
t = variable("t")


def E(body: Any, *outcomes: Term) -> Term:
    return expectation(outcomes or (o,), body)


def same(left: Term, right: Term, laws: tuple[str, ...] = ("sums", "expectation")) -> bool:
    return not Normal(laws, Context()).difference(left, right)


def closes(conclusion: Term, reason: Any, *given: Term, using: tuple[Any, ...] = (), **arguments: Any) -> None:
    check(Statement(conclusion, given), (Link(None, None, reason, arguments, using),))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (E(a), a, True),
        (E(a + Y[o]), a + E(Y[o1], o1), True),
        (E(a * X[i, o] - X[j, o] / c), a * E(X[i, o]) - E(X[j, o]) / c, True),
        (E(X[i, o] * X[j, o]), E(X[j, o] * X[i, o]), True),
        (E(X[i, o] * X[j, o]), E(X[i, o]) * E(X[j, o]), False),
        (E(X[i, o] * X[j, o1], o, o1), E(X[i, o]) * E(X[j, o]), True),
        (E(X[i, o] * Z[j, s], o, s), E(X[i, o]) * E(Z[j, s], s), True),
        (E(Y[o]) ** 2, E(Y[o] ** 2), False),
        (E(Y[o]) ** 2, E(Y[o] * Y[o1], o, o1), True),
        (E((Y[o] - E(Y[o])) ** 2), E(Y[o] ** 2) - E(Y[o]) ** 2, True),
        (E((Y[o] - E(Y[o])) ** 2), E(Y[o] ** 2) + E(Y[o]) ** 2, False),
        (E(Y[o] * E(Y[o1], o1)), E(Y[o] * E(Y[o])), True),
        (E(H[o, s], o, s), E(H[o, s], s, o), True),
        (E(H[o, s] * Y[o], o, s), E(H[o, s], o, s) * E(Y[o]), False),
        (E(H[o, s] * H[o1, s], o, o1, s), E(E(H[o, s]) ** 2, s), True),
        (E(H[o, s] * H[o1, s], o, o1, s), E(H[o, s], o, s) ** 2, False),
        (E(F[i, o, o1], o, o1), E(F[i, o1, o], o, o1), True),
        (E(F[i, o, o1], o, o1), E(F[i, o, o]), False),
        (E(F[i, o, o1] * Y[o], o, o1), E(F[i, o, o1] * Y[o1], o, o1), False),
        (E(sum_(i, y[i] * X[i, o])), sum_(i, y[i] * E(X[i, o])), True),
        (E(sum_(i, X[i, o]) ** 2), sum_([i, j], E(X[i, o] * X[j, o])), True),
        (E(sum_(i, X[i, o]) ** 2), sum_(i, E(X[i, o] ** 2)), False),
        (sum_(i, E(X[pi(i), o] * Y[o])), E(Y[o] * sum_(i, X[i, o])), True),
        (sum_(i, E(delta(i, j) * X[i, o])), E(X[j, o]), True),
        (sum_(i, E(Y[o])), n * E(Y[o]), True),
        (E(x[hi(o)]), sum_(i, x[i]) / n, False),
        (E(X[hi(o), o] * x[hi(o)] + a), a + E(x[hi(o)] * X[hi(o), o]), True),
        (E(maximum(Y[o], a) * 2), 2 * E(maximum(Y[o], a)), True),
        (E(maximum(Y[o], a)), maximum(E(Y[o]), a), False),
        (E(tanh(Y[o])), tanh(E(Y[o])), False),
        (E(when(lt(Y[o], a), b, 1)), when(lt(E(Y[o]), a), b, 1), False),
        (exp(E(2 * Y[o])), exp(2 * E(Y[o])), True),
        (E(tanh(2 * sum_(i, X[i, o]))), E(tanh(sum_(j, 2 * X[j, o]))), True),
    ],
    ids=repr,
)
def test_laws(left: Term, right: Term, equal: bool) -> None:
    assert same(left, right) == equal
    assert all(compare("eq", evaluate(left, p), evaluate(right, p)) for p in map(Point, range(9))) == equal


def test_a_triple_expectation_in_every_order() -> None:
    body = H[o, s] * H[o1, s] * F[i, o, o1] * y[i]
    forms = [sum_(i, E(body, *order)) for order in permutations((o, o1, s))]
    forms += [E(E(sum_(i, E(body, s)), o), o1), E(sum_(i, E(body, s, o)), o1)]
    assert all(same(forms[0], form) for form in forms)
    assert not same(forms[0], sum_(i, E(H[o, s] * H[o1, s] * F[i, o1, o] * H[o, s] ** 0 * y[j], o, o1, s)))


def test_only_their_own_law_knows_expectations() -> None:
    for laws in ((), ("sums",), ("exp",), ("trig",), ("expectation",)):
        assert same(E(Y[o] * 2 * a + Y[o] * 0), E(2 * a * Y[o]), laws)  # the body is one normal term
        if laws != ("expectation",):
            assert not same(E(2 * Y[o]), 2 * E(Y[o]), laws) and not same(E(a), a, laws)
    for rule in ("ring", "field", "finite_sum", "exp_log", "angles", "derivative", "given"):
        with pytest.raises(Refused, match="left over"):
            closes(eq(E(a * Y[o]), a * E(Y[o])), rule)
    closes(eq(E(a * Y[o]), a * E(Y[o])), "expectation")


# --- signs and orders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "positive", "nonnegative"),
    [
        (E(Y[o] ** 2), False, True),
        (E(1 + Y[o] ** 2), True, True),
        (E(Z[i, s] + N[s], s), False, False),
        (E(N[s], s), True, True),
        (E(absolute(Y[o])), False, True),
        (E(Y[o]), False, False),
        (-E(Y[o] ** 2), False, False),
        (E(when(lt(a, Y[o]), 1, 0)), False, True),
        (E(H[o, s] ** 2, o, s), False, True),
        (E(E(H[o, s], s) ** 2) + c, True, True),
        (E(Y[o] ** 2) - E(Y[o]) ** 2, False, False),
    ],
    ids=repr,
)
def test_signs(term: Term, positive: bool, nonnegative: bool) -> None:
    sign = Sign(Context())
    assert sign.positive(term) == positive and sign.nonnegative(term) == nonnegative


def test_what_is_given_about_every_outcome() -> None:
    always = (forall(o, lt(0, Y[o])), forall([i, o], le(X[i, o], Y[o])))
    assert Sign(Context(always)).positive(E(Y[o]))
    assert at_most(E(X[j, o]), E(Y[o]), False, Context(always))
    assert not at_most(E(X[j, o]), E(Y[o]), True, Context(always))
    assert at_most(E(X[j, o] - 1), E(Y[o]), True, Context(always))
    once = Context((lt(0, Y[o]), le(X[j, o], Y[o])))
    assert not Sign(once).positive(E(Y[o])) and not at_most(E(X[j, o]), E(Y[o]), False, once)


@pytest.mark.parametrize(
    ("small", "large", "weak", "strict"),
    [
        (E(Y[o]), E(Y[o] + c), True, True),
        (E(Y[o] - a**2), E(Y[o]), True, False),
        (E(Y[o]), E(absolute(Y[o])), False, False),
        (Y[o], E(absolute(Y[o])), False, False),
        (Y[o] ** 2, E(Y[o] ** 2), False, False),
        (E(Y[o]) ** 2, E(Y[o] ** 2), False, False),
        (E(X[i, o]), E(maximum(Y[o], X[i, o])), True, False),
        (E(Y[o] ** 2), E(Z[i, s] ** 2 + N[s], s), False, False),
        (E(when(le(a, Y[o]), 1, 0)), E(1 + Y[o] ** 2), False, False),
    ],
    ids=repr,
)
def test_orders(small: Term, large: Term, weak: bool, strict: bool) -> None:
    assert at_most(small, large, False, Context()) == weak
    assert at_most(small, large, True, Context()) == strict


def test_a_variance_is_not_negative() -> None:
    mean = E(Y[o])
    script = (
        Link("eq", E(Y[o] ** 2) - E((Y[o] - mean) ** 2), "expectation", {}, ()),
        Link(None, None, "order", {"difference": E((Y[o] - mean) ** 2)}, ()),
    )
    check(Statement(le(mean**2, E(Y[o] ** 2))), script)
    with pytest.raises(Refused):
        check(Statement(lt(mean**2, E(Y[o] ** 2))), script)


# --- places -----------------------------------------------------------------------------------------------------------


def test_congruence_goes_under_an_expectation() -> None:
    always = forall(o, le(Y[o], a))
    closes(eq(E((Y[o] + 1) ** 2), E(Y[o1] ** 2 + 2 * Y[o1] + 1, o1)), "congruence", then="ring")
    closes(le(E(Y[o] * c), E(a * c + 0 * Y[o])), "congruence", always, then="order", difference=(a - Y[o]) * c)
    for wrong in (le(E(a + 0 * Y[o]), E(Y[o])), le(-E(Y[o]), -E(a + 0 * Y[o])), le(E(Y[o]) ** 2, E(a + 0 * Y[o]) ** 2)):
        with pytest.raises(Refused):
            closes(wrong, "congruence", always, then="order")
    with pytest.raises(Refused, match="two binders over different ranges"):
        closes(le(E(Y[o] * 0 + a), E(Z[i, s] ** 2 + a, s)), "congruence", then="order")


def test_congruence_does_not_carry_a_strict_order() -> None:
    closes(lt(E(Y[o]), E(Y[o] + 1)), "order")
    below = by(lt(Y[o], Y[o] + c), lt(Y[o] + c, Y[o]), "order")
    with pytest.raises(Refused, match="it does not give this step"):
        closes(lt(E(Y[o]), E(Y[o] + c)), "congruence", then=below)


def by(conclusion: Term, near_miss: Term, rule: str, *given: Term) -> Theorem:
    twin = Statement(near_miss, given)
    return prove("it", Statement(conclusion, given), lambda p: p.closes(rule), near_misses=[twin])


def test_theorems_about_random_variables_at_others() -> None:
    variance = by(
        eq(E((Y[o] - a) ** 2), E(Y[o] ** 2) - 2 * a * E(Y[o]) + a**2), eq(E((Y[o] - a) ** 2), a), "expectation"
    )
    z = X[i, o] - X[j, o]
    closes(eq(E((z - b) ** 2), E(z**2) - 2 * b * E(z) + b**2), variance, at={Y: function(o, z), a: b})
    closes(eq(E(E((H[o, s] - b) ** 2), s), E(E(H[o, s] ** 2) - 2 * b * E(H[o, s]) + b**2, s)), "congruence",
           then=variance, at={Y: function(o, H[o, s]), a: b})  # fmt: skip
    with pytest.raises(Refused):
        closes(eq(E((z - b) ** 2), E(z**2) - 2 * b * E(z)), variance, at={Y: function(o, z), a: b})


def test_an_outcome_that_a_theorem_leaves_open_is_found() -> None:
    square = by(le(2 * Y[o] * a, Y[o] ** 2 + a**2), le(Y[o] * a, a**2), "order")
    closes(le(E(2 * Y[o] * a), E(Y[o] ** 2 + a**2)), "congruence", then=square)
    closes(le(2 * Y[o1] * a, Y[o1] ** 2 + a**2), square)
    with pytest.raises(Refused):
        closes(le(E(3 * Y[o] * a), E(Y[o] ** 2 + a**2)), "congruence", then=square)


def test_a_hypothesis_about_all_outcomes_at_one() -> None:
    given = forall(o, le(Y[o], a))
    closes(le(Y[o1], a), "order", given, using=(Specialised(given, (o1,)),))
    with pytest.raises(TermError, match="needed an outcome of Omega"):
        closes(le(Y[o1], a + 0 * N[s]), "order", given, using=(Specialised(given, (s,)),))


# --- what is not known of them ----------------------------------------------------------------------------------------


def test_no_derivative_and_no_limit_goes_inside() -> None:
    """Neither may be exchanged with an expectation without more than second moments."""
    with pytest.raises(Refused, match="no rule for the derivative"):
        differentiated(derivative(t, E(Y[o] * t), a), Context())
    with pytest.raises(Refused, match="no rule for the limit"):
        limit_of(E(Y[o] * t), t, a, Context())
    with pytest.raises(Refused, match="no rule for the limit"):
        closes(tends(t, E(tanh(Y[o] * t)), 0, 0), "limit")
    closes(tends(t, E(Y[o]) / t, INFINITY, 0), "limit")
    closes(eq(derivative(t, E(Y[o]) * t**2, 1), 2 * E(Y[o])), "derivative")


def test_outcomes_are_no_cases() -> None:
    with pytest.raises(TermError, match="is an outcome of Omega"):
        closes(eq(Y[o] * a, Y[o1] * a), "cases", on=(o, o1), then="ring")
    with pytest.raises(TermError, match="cases: needed two indices"):
        closes(eq(Y[o] * a, Y[o1] * a), "cases", on=o, then="ring")


def test_the_spaces_stay_apart() -> None:
    assert omega != theta and outcome("o", theta) != o
    assert not same(E(H[o, s]), E(H[o, s], s))
    with pytest.raises(Refused):
        closes(ne(E(Y[o]), E(Z[i, s], s)), "order")
    assert same(E(A[i, j] * Y[o]), A[i, j] * E(Y[o1], o1))

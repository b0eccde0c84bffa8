"""Normal forms: what is one, what is not, and that their polynomials have the value of their terms."""

from __future__ import annotations

from random import Random

import pytest

from proofs.evaluate import Point, evaluate
from proofs.notation import delta, eq, exp, index, join, ne, sin, sqrt, sum_, table, when
from proofs.rules.context import Context, Refused
from proofs.rules.normal import Normal
from proofs.rules.polynomial import as_constant, as_sum
from proofs.terms import PI, Term, literal, number, value_of

from .algebra import angles, exp_log, field, ring
from .finite import finite_sum
from .probability import mean
from .vocabulary import INDICES, A, a, b, c, m, pi, w, x

i, j, k = INDICES
LAWS = {"ring": (ring, ()), "field": (field, ()), "angles": (angles, ("trig",)), "exp_log": (exp_log, ("exp",)),
        "finite_sum": (finite_sum, ("sums",)), "expectation": (mean, ("sums", "expectation"))}  # fmt: skip


def normal(term: Term, *laws: str, given: tuple[Term, ...] = ()) -> Term:
    context = Context(given)
    return as_sum(Normal(laws, context).polynomial(term, context))


@pytest.mark.parametrize("rule", LAWS)
def test_a_normal_form_has_the_value_of_its_term(rule: str) -> None:
    pairs, laws = LAWS[rule]
    for seed in range(25):
        term, _ = pairs(Random(seed), 2)
        point = Point(seed)
        before, after = evaluate(term, point), evaluate(normal(term, *laws), point)
        assert abs(before - after) <= 1e-30 * (1 + abs(before)), term


@pytest.mark.parametrize("rule", LAWS)
def test_a_normal_form_is_its_own(rule: str) -> None:
    pairs, laws = LAWS[rule]
    for seed in range(25):
        once = normal(pairs(Random(seed), 2)[0], *laws)
        context = Context()
        assert not Normal(laws, context).difference(once, normal(once, *laws))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ((a + b) ** 2 - a**2 - b**2, 2 * a * b),
        (c * c**-1, number(1)),
        ((c * (c + 1)) ** -1, c**-1 * (1 + c) ** -1),
        ((c**2) ** -1 * c, c**-1),
        (sqrt(c) ** 3, c * sqrt(c)),
        (delta(i, j) ** 3, delta(i, j)),
        (delta(j, i), delta(i, j)),
        (delta(i, i), number(1)),
        (delta(literal(0, 2), literal(1, 2)), number(0)),
        (a**0, number(1)),
        (exp(0 * a), number(1)),
        (sum_(i, 0 * x[i]), number(0)),
        (table([[a, b], [1, 2]], 1, 0), number(1)),
        (value_of(literal(2, 3)), number(2)),
        (when(eq(i, i), a, b), a),
        (delta(join(i, index("p", m)), join(j, index("p", m))), delta(i, j)),
    ],
    ids=repr,
)
def test_normal_forms(term: Term, expected: Term) -> None:
    assert not Normal((), Context()).difference(term, expected)


def test_guards_decide_deltas_and_conditions() -> None:
    apart = (ne(i, j),)
    assert normal(delta(j, i) * a, given=apart) == number(0)
    assert normal(when(eq(i, j), a, b), given=apart) == b
    assert normal(when(ne(i, k), a, b), given=apart) != b


def test_a_denominator_of_several_terms_is_an_atom_until_it_is_cleared() -> None:
    context = Context()
    gap = Normal((), context).polynomial(1 / (c + 1) + c / (c + 1) - 1, context)
    assert gap and not Normal((), context).difference(1 / (c + 1) + c / (c + 1), number(1))


def test_one_over_nothing() -> None:
    with pytest.raises(Refused, match="a quotient by zero"):
        normal((a - a) ** -1)


@pytest.mark.parametrize(
    "other", [a + b + 1, a * b, -a - b, A[j, i], sum_(i, A[i, j]), x[pi(i)], sin(a + PI)], ids=repr
)
def test_different_terms_differ(other: Term) -> None:
    for term in (a + b, A[i, j], sum_(j, A[i, j]), x[i], sin(a)):
        assert Normal(("sums",), Context()).difference(term, other)


def test_a_delta_moves_indices_within_its_own_range() -> None:
    p, q = index("p", m), index("q", m)
    assert normal(delta(p, q) * w[i, q], "sums") == normal(delta(p, q) * w[i, p], "sums")
    assert normal(delta(i, j) * w[j, q], "sums") != normal(delta(p, q) * w[j, q], "sums")
    assert normal(delta(i, pi(i)) * x[i], "sums") == normal(delta(pi(i), i) * x[i], "sums")  # and it ends


def test_large_powers_stay_folded() -> None:
    assert as_constant(Normal((), Context()).polynomial(number(2) ** 65 - number(2) ** 65, Context())) == 0
    assert normal((a + b) ** 65).op == "power"

"""Cases and congruence carry a rule to a place, with what is given there."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.binders import forall, sum_
from proofs.kernel import Link, Statement, check
from proofs.notation import absolute, choice, delta, eq, exp, index, le, lt, ne, value_of, when
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Term, TermError

from .vocabulary import INDICES, A, a, b, c, n, u, x, y

i, j, k = INDICES
three = index("l", 3)


def closes(conclusion: Term, rule: str, *given: Term, **arguments: Any) -> None:
    check(Statement(conclusion, given), (Link(None, None, rule, arguments, ()),))


def test_cases_on_two_indices() -> None:
    closes(eq(delta(i, j) * x[i], delta(i, j) * x[j]), "cases", on=(i, j), then="ring")
    with pytest.raises(Refused, match="what is left over"):
        closes(eq(delta(i, j) * x[i], delta(i, k) * x[j]), "cases", on=(i, j), then="ring")


def test_facts_are_seen_in_each_case() -> None:
    fact = (lt(0, x[j]),)
    with pytest.raises(Refused):
        closes(lt(0, x[i]), "cases", *fact, on=(i, j), then="order")
    closes(lt(0, x[i] + 2 * (1 - delta(i, j)) * (1 - x[i])), "cases", *fact, le(x[i], 1), on=(i, j), then="order")


def test_cases_on_a_relation() -> None:
    closes(eq(absolute(a) * absolute(a), a**2), "cases", on=le(0, a), then="order")
    with pytest.raises(Refused, match="a denominator may vanish"):
        closes(eq(absolute(a) * absolute(a), a**2), "cases", on=le(0, 1 / a), then="order")


def test_cases_on_a_literal_index_and_a_map() -> None:
    v = value_of(three)
    closes(eq(v**3 + 2 * v, 3 * v**2), "cases", on=three, then="ring")
    with pytest.raises(Refused):
        closes(eq(v**3 + 2 * v, 4 * v**2), "cases", on=three, then="ring")
    bit = value_of(choice("mu", ANY_REAL, target=2)(a))
    closes(eq(bit**2, bit), "cases", on=bit.args[0], then="ring")
    with pytest.raises(Refused):
        closes(eq(bit**2, bit + 1), "cases", on=bit.args[0], then="ring")


def test_nested_cases() -> None:
    statement = eq(delta(i, j) * delta(j, k) * x[i], delta(i, j) * delta(j, k) * x[k])
    closes(statement, "cases", on=(i, j), then="cases", inner={"on": (i, k), "then": "ring"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"on": (i, j)}, "needed the rule to apply there"),
        ({"then": "ring"}, "needed the argument on="),
        ({"on": (i, j), "then": "magic"}, "needed the rule to apply there, as then='field'; found 'magic'"),
        ({"on": (i, i), "then": "ring"}, "are not two indices into one range, one of them a symbol"),
        ({"on": i, "then": "ring"}, "cases: needed two indices, an index into a range of literal size, or a relation"),
        ({"on": index("q", 3), "then": "ring"}, "the proof speaks of q, and the statement does not"),
        ({"on": (i, j), "then": "ring", "more": a}, "ring takes no arguments; found more"),
    ],
)
def test_mistakes_in_cases(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TermError) as refusal:
        closes(eq(delta(i, j) * x[i], delta(i, j) * x[j]), "cases", **arguments)
    assert message in str(refusal.value)


def test_congruence_goes_under_binders_and_conditions() -> None:
    closes(eq(sum_(i, exp(x[i] * (a + b))), sum_(j, exp(a * x[j] + x[j] * b))), "congruence", then="ring")
    closes(eq(when(ne(a, 0), b * a / a, 1), when(ne(a, 0), b, 1)), "congruence", then="field")
    closes(eq(when(ne(i, j), delta(i, j), a), when(ne(i, j), 0 * a, a)), "congruence", then="ring")
    with pytest.raises(Refused):
        closes(eq(when(eq(i, j), delta(i, j), a), when(eq(i, j), 0 * a, a)), "congruence", then="ring")


def test_the_guard_of_one_branch_is_none_of_the_other() -> None:
    absolute_value = when(le(0, a), a, -a)
    closes(eq(when(le(0, a), absolute(a), -a) + 0 * b, absolute_value + 0 * b), "congruence", then="order")
    with pytest.raises(Refused):
        closes(eq(when(le(0, a), b, absolute(a)), when(le(0, a), b, a)), "congruence", then="order")


def test_bound_names_may_be_spoken_of() -> None:
    closes(
        le(sum_(i, delta(i, j) * u[i]), sum_(i, u[i])), "congruence", then="cases", on=(j, i), inner={"then": "order"}
    )
    with pytest.raises(Refused):
        closes(
            le(sum_(i, u[i]), sum_(i, delta(i, j) * u[i])),
            "congruence",
            then="cases",
            on=(j, i),
            inner={"then": "order"},
        )


def test_bound_names_are_those_of_the_term_itself() -> None:
    """Not those of an equal one that was checked before."""
    h = index("h", n)
    small = lambda q: sum_(q, 17 * (delta(q, k) * u[q]))
    closes(eq(small(h) + a, a + small(h)), "ring")
    nested = {"then": "cases", "on": (k, i), "inner": {"then": "order"}}
    closes(le(small(i), sum_(i, 17 * u[i])), "congruence", **nested)


def test_a_name_that_means_nothing_there_is_a_refusal_of_a_twin() -> None:
    """The near miss of a congruence may not have the same parts; that is no error."""
    with pytest.raises(Refused, match="do not correspond"):
        closes(
            le(sum_(i, delta(i, j) * u[i]), -sum_(i, u[i])),
            "congruence",
            then="cases",
            on=(j, i),
            inner={"then": "order"},
        )


def test_inequalities_pass_through_sums_only() -> None:
    given = forall(i, le(x[i], y[i]))
    closes(le(sum_(i, x[i]), sum_(i, y[i])), "congruence", given, then="order")
    with pytest.raises(Refused):
        closes(le(exp(-x[i]), exp(-y[i])), "congruence", given, then="order")
    with pytest.raises(Refused):
        closes(le(a * x[i], a * y[i]), "congruence", given, then="order")


def test_parts_that_differ_in_an_index_or_a_range() -> None:
    for left, right in ((A[i, j], A[j, i]), (exp(x[i]), exp(x[j])), (sum_(i, c), sum_(three, c))):
        with pytest.raises(Refused):
            closes(eq(left, right), "congruence", then="ring")
    assert n != three.args[0]

"""What proof code hands over is checked node by node; the constructors never build what is refused here."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from proofs.binders import derivative, expectation, forall, function, sum_, tends
from proofs.definitions import Definition
from proofs.notation import (
    INFINITY,
    choice,
    curve,
    delta,
    eq,
    exp,
    family,
    implies,
    index,
    join,
    le,
    outcome,
    permutation,
    size,
    space,
    split,
    table,
    value_of,
    variable,
    when,
)
from proofs.registry import all_claims
from proofs.terms import ANY_REAL, Family, IndexMap, Term, TermError, number
from proofs.well_typed import check_entry, sort

from .rules.test_random_statements import GENERATORS
from .soundness.attempts import attempt

n, m = size("n"), size("m")
i, j, p = index("i", n), index("j", n), index("p", m)
a, t = variable("a"), variable("t")
x, A = family("x", n), family("A", n, n)
U, W = space("U"), space("W")
u, w, q, f = outcome("u", U), outcome("w", W), family("q", n, U), family("f", U, W)
share = Definition("share", [x, i], x[i] / sum_(j, x[j]))
bound = Term("bound", (), 0)


@pytest.mark.parametrize(
    "term",
    [
        sum_([i, j], A[i, j] * delta(i, j)), derivative(t, t * a, a), tends(t, exp(-t), INFINITY, 0),
        forall([i, t], implies(eq(i, j), le(x[i], t))), share(function(i, A[i, j]), j), curve("y", n)[i, t],
        x[permutation("pi", n)(i)], when(eq(i, j), a, 1), table([[a, 1], [0, a]], 0, choice("mu", ANY_REAL, target=2)(a)),
        expectation([u, w], q[i, u] * f[u, w]), forall([i, u], le(q[i, u], f[u, w])), x[choice("hi", U, W, target=n)(u, w)],
        function((i, u), q[i, u] * expectation(w, f[u, w])), when(le(q[i, u], a), a, 1), derivative(t, expectation(u, t * q[i, u]), a),
        value_of(join(i, p)), A[(split(index("c", n * m), n)[1],) * 2], function((i, t), x[i] * t),
    ],
    ids=lambda term: term.op,
)  # fmt: skip
def test_what_the_constructors_build_is_well_typed(term: Term) -> None:
    check_entry(term)


def test_every_statement_is_well_typed() -> None:
    for claim in all_claims():
        check_entry(tuple(claim.statement))


@pytest.mark.parametrize("rule", GENERATORS)
def test_random_statements_are_well_typed(rule: str) -> None:
    for seed in range(5):
        check_entry(GENERATORS[rule][0](Random(seed), 2).conclusion)


class Loud(str):
    """A name that could say anything about being equal."""


ILL_TYPED = {
    "unknown node": Term("integral", (a, a)),
    "a number that is a float": Term("number", (), 0.5),
    "a number that is an int": Term("number", (), 1),
    "pi with data": Term("pi", (), 3),
    "a name with a digit in front": Term("variable", (), ("000a", "real")),
    "a name that is no string": Term("variable", (), (Loud("a"), "real")),
    "an unknown domain": Term("variable", (), ("a", "complex")),
    "a negative minimum": Term("size", (), ("n", -1)),
    "an index without a range": Term("index", (), "i"),
    "an index into a real range": Term("index", (a,), "i"),
    "an index into a range of fractional size": Term("index", (number(Fraction(1, 2)),), "i"),
    "a literal beyond its range": Term("literal", (n,), 1),
    "a literal before its range": Term("literal", (n,), -1),
    "a variable without a name": Term("variable", ()),
    "a loose bound variable": Term("add", (bound, number(1))),
    "a bound index as a number": Term("sum", (n, bound), None, ("i",)),
    "a sum over a real range": Term("sum", (a, number(1)), None, ("i",)),
    "a sum without a name": Term("sum", (n, number(1))),
    "a sum with two names": Term("sum", (n, number(1)), None, ("i", "j")),
    "a sum with a name of a fresh symbol": Term("sum", (n, number(1)), None, ("000i",)),
    "a family at the wrong range": Term("family", (p,), x),
    "a family at a number": Term("family", (a,), x),
    "a family without a family": Term("family", (i,), "x"),
    "a family with too many slots": Term("family", (i, i), x),
    "a map at a number": Term("map", (a,), permutation("pi", n)),
    "a permutation of two ranges": Term("map", (i,), IndexMap("pi", (n,), m, True)),
    "a delta of two ranges": Term("delta", (i, p)),
    "a delta of numbers": Term("delta", (a, a)),
    "a delta of one index": Term("delta", (i,)),
    "a sum of an index": Term("add", (a, i)),
    "an empty sum": Term("add", ()),
    "a power of three": Term("power", (a, a, a)),
    "an exponential of two": Term("exp", (a, a)),
    "a relation of two sorts": Term("relation", (a, i), "eq"),
    "an order of indices": Term("relation", (i, j), "le"),
    "an unknown relation": Term("relation", (a, a), "gt"),
    "a relation as a number": Term("add", (eq(a, 1), a)),
    "a condition that is a number": Term("when", (a, a, a)),
    "a condition that is universal": Term("when", (forall(i, eq(x[i], 0)), a, a)),
    "a table with a hole": Term("table", (a, a, Term("literal", (number(3),), 0)), (3,)),
    "a table at another range": Term("table", (a, a, Term("literal", (number(3),), 0)), (2,)),
    "a derivative at an index": Term("derivative", (bound, i), None, ("t",)),
    "a derivative of a proposition": Term("derivative", (eq(a, 1), a), None, ("t",)),
    "a limit to an index": Term("tends", (a, i, a), None, ("t",)),
    "a limit at a wrong infinity": Term("tends", (a, Term("infinity", (), 1), a), None, ("t",)),
    "infinity as a number": Term("add", (INFINITY, a)),
    "a domain as a number": Term("add", (ANY_REAL, a)),
    "a join of wrong sizes": Term("join", (i, p, n, m)),
    "a quotient by another size": Term("quotient", (index("c", n * m), m, n)),
    "an application without its sizes": Term("apply", share(x, i).args[1:], share),
    "an application to another range": Term("apply", (m, *share(x, i).args[1:]), share),
    "an application of a name": Term("apply", share(x, i).args, "share"),
    "an implication from a number": Term("implies", (a, eq(a, 1))),
    "a universal number": Term("forall", (n, a), None, ("i",)),
    "a sum over a space": Term("sum", (U, number(1)), None, ("u",)),
    "an expectation over a size": Term("expect", (n, number(1)), None, ("i",)),
    "an expectation over a number": Term("expect", (number(2), number(1)), None, ("i",)),
    "an expectation over the reals": Term("expect", (ANY_REAL, bound), None, ("t",)),
    "an expectation without a name": Term("expect", (U, number(1))),
    "an expectation of an outcome": Term("expect", (U, bound), None, ("u",)),
    "an expectation of a proposition": Term("expect", (U, eq(a, 1)), None, ("u",)),
    "an expectation of a loose outcome": Term("expect", (U, Term("family", (i, Term("bound", (), 1)), q)), None, ("u",)),
    "a space as a number": Term("mul", (U, a)),
    "a space alone": Term("relation", (U, U), "eq"),
    "a space with a minimum": Term("expect", (Term("space", (), ("U", 1)), a), None, ("u",)),
    "a space in a size": Term("sum", (Term("add", (U, n)), a), None, ("i",)),
    "an outcome as a number": Term("value", (u,)),
    "a delta of outcomes": Term("delta", (u, u)),
    "a relation of outcomes": Term("relation", (u, u), "ne"),
    "a literal outcome": Term("literal", (U,), 0),
    "an outcome in a join": Term("join", (u, i, n, U)),
    "an outcome in a table": Term("table", (a, a, u), (2,)),
    "a family at an outcome of another space": Term("family", (i, w), q),
    "a family at an index for an outcome": Term("family", (i, i), q),
    "a map into a space": Term("family", (i, Term("map", (i,), IndexMap("to", (n,), U))), q),
    "a permutation of a space": Term("family", (i, Term("map", (u,), IndexMap("pi", (U,), U, True))), q),
    "an application to a space": Term("apply", (U, *share(x, i).args[1:]), share),
    "a curve with a slope of its own": Term("family", (a,), Family("y", (ANY_REAL,), "real", Family("s", (ANY_REAL,)))),
}  # fmt: skip


@pytest.mark.parametrize("term", ILL_TYPED.values(), ids=ILL_TYPED)
def test_what_no_constructor_builds_is_refused(term: Term) -> None:
    with pytest.raises(TermError):
        check_entry(term)


def test_parts_under_binders_are_checked() -> None:
    with pytest.raises(TermError):
        check_entry({"difference": (a, Term("sum", (n, Term("family", (bound, bound), x)), None, ("i",)))})


@pytest.mark.parametrize("value", [object(), 0.5, {1, 2}, len, Loud("order")])
def test_other_things_have_no_place_in_a_proof(value: object) -> None:
    with pytest.raises(TermError, match="has no place in a proof"):
        check_entry(value)


def test_the_sort_of_an_index_is_its_range() -> None:
    assert sort(join(p, i)) == n * m
    assert sort(Term("bound", (), 0), (n, m)) == m
    assert sort(function(i, x[i])) == "function"
    assert sort(u) == U and sort(Term("bound", (), 1), (U, n)) == U


def test_a_space_may_be_the_value_of_a_space() -> None:
    check_entry({U: W})


def test_a_space_is_no_statement_and_no_side_of_one() -> None:
    for term in (U, u, Term("relation", (U, U), "eq"), Term("add", (U, a))):
        with pytest.raises(TermError):
            attempt(Term("relation", (a, term), "eq"), "ring")

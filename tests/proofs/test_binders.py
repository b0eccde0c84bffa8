"""Closing, opening and substitution, where capture would show."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.binders import (
    as_function,
    check_replacement,
    close,
    derivative,
    expectation,
    forall,
    function,
    instantiate,
    lift,
    opened,
    substitute,
    sum_,
    tends,
)
from proofs.evaluate import Point, evaluate
from proofs.notation import (
    INFINITY,
    choice,
    curve,
    delta,
    eq,
    exp,
    family,
    index,
    le,
    literal,
    outcome,
    permutation,
    size,
    space,
    variable,
)
from proofs.terms import ANY_REAL, IndexMap, Term, TermError, free, number

n, m = size("n"), size("m")
i, j, k = (index(name, n) for name in "ijk")
a, b, t = variable("a"), variable("b"), variable("t")
x, y, A = family("x", n), family("y", n), family("A", n, n)
U, W = space("U"), space("W")
u, v, o = (outcome(name, U) for name in "uvo")
q, r, f, hi = family("q", n, U), family("r", W), family("f", U, U), choice("hi", U, target=n)


def test_a_free_index_moves_under_a_binder_of_its_name() -> None:
    total = sum_(i, A[i, j])
    moved = substitute(total, {j: i})
    assert moved == sum_(k, A[k, i]) and moved != sum_(i, A[i, i])


def test_substitution_is_simultaneous() -> None:
    assert substitute(A[i, j], {i: j, j: i}) == A[j, i]
    assert substitute(a + b, {a: b, b: a}) == b + a


def test_a_family_is_instantiated_at_every_occurrence_under_binders() -> None:
    outer = sum_(i, x[i] * sum_(j, exp(x[j])))
    found = substitute(outer, {x: function(k, A[k, i])})
    assert found == sum_(j, A[j, i] * sum_(k, exp(A[k, i])))
    assert i in free(found)


def test_a_family_may_be_replaced_by_one_that_mentions_it() -> None:
    assert substitute(sum_(i, x[i]), {x: function(i, x[i] + a)}) == sum_(i, x[i] + a)


def test_sizes_are_replaced_in_ranges_too() -> None:
    found = substitute(sum_(i, x[i]), {n: m + 1})
    assert found == sum_(index("i", m + 1), family("x", m + 1)[index("i", m + 1)])


def test_a_permutation_is_replaced_by_a_permutation_only() -> None:
    pi, sigma = permutation("pi", n), permutation("sigma", n)
    assert substitute(x[pi(i)], {pi: sigma}) == x[sigma(i)]
    with pytest.raises(TermError, match="pi := "):
        check_replacement({pi: IndexMap("mu", (n,), n)}, "here")


def test_opening_undoes_closing() -> None:
    term = exp(A[i, j]) * x[i] + sum_(k, A[i, k])
    assert instantiate(close(term, (i,)), (i,)) == term
    assert instantiate(close(term, (i, j)), (i, j)) == term
    total = sum_(i, term)
    (symbol,), body = opened(total, lambda hint: "fresh" + hint)
    assert symbol == index("freshi", n) and close(body, (symbol,)) == total.args[1]


def test_lifting_leaves_inner_binders_alone() -> None:
    bound = Term("bound", (), 0)
    inner = Term("sum", (n, Term("family", (bound, Term("bound", (), 1)), A)), None, ("i",))
    lifted = lift(inner, 2)
    assert lifted.args[1].args[0] == bound and lifted.args[1].args[1].data == 3
    assert inner.loose == 1 and lifted.loose == 3


def test_values_of_nested_binders_agree_with_python() -> None:
    point = Point(3)
    term = sum_([i, j], A[i, j] * sum_(i, x[i] * delta(i, j)))
    count = point.size(n)
    entry = [[evaluate(substitute(A[i, j], {i: _at(p), j: _at(q)}), point) for q in range(count)] for p in range(count)]
    place = [evaluate(substitute(x[i], {i: _at(q)}), point) for q in range(count)]
    expected = sum(entry[p][q] * place[q] for p in range(count) for q in range(count))
    assert abs(evaluate(term, point) - expected) < 1e-40


def test_a_free_outcome_moves_under_an_expectation_of_its_name() -> None:
    mean = expectation(u, f[u, o])
    moved = substitute(mean, {o: u})
    assert moved == expectation(v, f[v, u]) and moved != expectation(u, f[u, u])
    assert u in free(moved) and u not in free(mean)
    assert substitute(expectation(u, q[i, u] * a), {a: q[j, u]}) == expectation(v, q[i, v] * q[j, u])
    assert substitute(mean, {f: function([u, v], q[i, u] * q[j, v])}) == expectation(v, q[i, v] * q[j, o])
    assert substitute(mean, {f: function([v, u], q[i, u] * q[j, v])}) == expectation(v, q[i, o] * q[j, v])


def test_spaces_are_replaced_in_ranges_and_families_too() -> None:
    w, moved = outcome("w", W), family("r", U)
    assert free(expectation(w, r[w])) == {r, W}
    assert substitute(expectation(w, r[w] * q[i, u]), {W: U}) == expectation(v, moved[v] * q[i, u])
    assert substitute(x[choice("lo", W, target=n)(w)], {W: U, w: u}) == x[choice("lo", U, target=n)(u)]
    assert free(substitute(expectation(w, r[w]), {W: U})) == {moved, U}


def test_opening_and_closing_an_expectation() -> None:
    body = f[u, v] * q[i, u]
    assert instantiate(close(body, (u, v)), (u, v)) == body
    (symbol,), opened_body = opened(expectation(u, body), lambda hint: "fresh" + hint)
    assert symbol == outcome("freshu", U) and close(opened_body, (symbol,)) == expectation(u, body).args[1]
    nested = expectation([u, v], f[u, v])
    (outer,), inner = opened(nested, lambda hint: hint + "1")
    assert inner == expectation(v, f[outer, v])


def _at(position: int) -> Term:
    return Term("literal", (n,), position)


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        ({x: function(index("p", m), 1)}, "x := .*: found slots \\(m,\\), needed slots \\(n,\\)"),
        ({x: a}, "x := a: found"),
        ({i: index("p", m)}, "i := p: found an index into a range of size m, needed an index into a range of size n"),
        ({a: i}, "a := i: found an index into a range of size n, needed of the sort real"),
        ({i: a}, "i := a: found of the sort real, needed an index into a range of size n"),
        ({n: i}, "n := i"),
        ({a: Term("bound", (), 0)}, "is not a closed term"),
        ({a + b: a}, "is not a symbol that can be replaced"),
        ({U: n}, "U := n: found of the sort real, needed of the sort space"),
        ({U: number(2)}, "U := 2: found of the sort real, needed of the sort space"),
        ({U: u}, "U := u: found an outcome of U, needed of the sort space"),
        ({n: U}, "n := U: found of the sort None, needed of the sort real"),
        ({u: outcome("w", W)}, "u := w: found an outcome of W, needed an outcome of U"),
        ({u: i}, "u := i: found an index into a range of size n, needed an outcome of U"),
        ({a: u}, "a := u: found an outcome of U, needed of the sort real"),
        ({q: function((i, i), a)}, "q := .*: found slots \\(n, n\\), needed slots \\(n, U\\)"),
        ({q: function((i, outcome("w", W)), a)}, "needed slots \\(n, U\\)"),
        ({U: W, q: function((i, u), a)}, "needed slots \\(n, W\\)"),
        ({hi: choice("lo", W, target=n)}, "hi := "),
    ],
)
def test_a_value_has_the_sort_of_its_symbol(replacement: dict[Any, Any], message: str) -> None:
    with pytest.raises(TermError, match=message):
        check_replacement(replacement, "here")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: sum_(a, a), "a is not an index, and cannot be summed over"),
        (lambda: sum_(literal(0, n), a), "cannot be summed over"),
        (lambda: derivative(i, x[i], 0), "i is not a variable"),
        (lambda: tends(variable("c", "positive"), a, INFINITY, 0), "c is not a real variable"),
        (lambda: forall(i, x[i]), "is not a proposition"),
        (lambda: forall(n, eq(a, b)), "n cannot be bound"),
        (lambda: as_function(a), "a is not a family"),
        (lambda: sum_(i, eq(a, b)), "is not a real number"),
        (lambda: sum_(u, q[i, u]), "u is not an index, and cannot be summed over"),
        (lambda: expectation(i, x[i]), "i is not an outcome, and has no expectation over it"),
        (lambda: expectation(a, a), "a is not an outcome"),
        (lambda: expectation(U, a), "U is not an outcome"),
        (lambda: expectation(u, eq(a, b)), "is not a real number"),
        (lambda: forall(U, eq(a, b)), "U cannot be bound"),
        (lambda: derivative(u, q[i, u], 0), "u is not a variable"),
    ],
)
def test_what_a_binder_takes(build: Any, message: str) -> None:
    with pytest.raises(TermError, match=message):
        build()


def test_binders_keep_ranges_and_names() -> None:
    assert function((i, t), x[i] * t).args[:-1] == (n, ANY_REAL)
    assert as_function(curve("z", n)).args[:-1] == (n, ANY_REAL)
    assert forall([i, j], le(A[i, j], a), where=[le(a, b)]).hints == ("i",)
    assert derivative(t, t**2, number(1)).args[1] == number(1)
    assert tends(t, t, 0, 0).args[1] == number(0)

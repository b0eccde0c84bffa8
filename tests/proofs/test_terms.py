"""Terms are typed where they are built, and nothing is rearranged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs.binders import expectation, sum_
from proofs.notation import (
    absolute,
    choice,
    curve,
    delta,
    eq,
    exp,
    family,
    index,
    join,
    literal,
    lt,
    maximum,
    outcome,
    permutation,
    rational,
    size,
    space,
    split,
    table,
    value_of,
    variable,
    when,
)
from proofs.terms import INFINITY, PI, Term, TermError, extent, free, is_outcome, least, number, relation, sort_of

n, m = size("n"), size("m")
i, j, p = index("i", n), index("j", n), index("p", m)
a, b = variable("a"), variable("b")
x, A, w = family("x", n), family("A", n, n), family("w", n, m)
U = space("U")
u, q = outcome("u", U), family("q", n, U)


def test_nothing_is_rearranged_on_construction() -> None:
    assert a + b != b + a
    assert 0 / a != number(0) and a / a != number(1)
    assert eq(A[i, j], A[j, i]).args[0] != eq(A[i, j], A[j, i]).args[1]


def test_bound_names_do_not_count() -> None:
    assert sum_(i, x[i]) == sum_(j, x[j])
    assert hash(sum_(i, x[i])) == hash(sum_(j, x[j]))
    assert sum_(i, x[i]).hints == ("i",)
    assert sum_(i, A[i, j]) != sum_(j, A[i, j])


def test_assumptions_and_ranges_belong_to_a_symbol() -> None:
    assert variable("a") != variable("a", "positive")
    assert index("i", n) != index("i", m)
    assert family("x", n) != family("x", n, domain="positive")
    assert size("n") != size("n", 2)


def test_a_term_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="a term cannot be changed"):
        a.op = "size"


def test_a_term_is_not_a_truth_value() -> None:
    with pytest.raises(TermError, match="a term is not true or false"):
        bool(eq(a, b))


@pytest.mark.parametrize("value", [0.5, 1e-3, True, "a", 1j, None])
def test_only_rational_numbers_enter(value: object) -> None:
    with pytest.raises(TermError, match="is not a rational number; a float has no place in a proof"):
        a + value


def test_numbers_are_exact() -> None:
    assert (a / 3).args[1] == number(3) ** -1
    assert rational(1, 3).data == Fraction(1, 3)
    assert -number(2) == number(-2)


@pytest.mark.parametrize("name", ["", "0a", "000j", "a b", "a-b", 3])
def test_names_are_identifiers(name: str) -> None:
    """A fresh name begins with a digit, so that none that is declared can meet it."""
    for declare in (variable, size, lambda s: index(s, n), lambda s: family(s, n), lambda s: permutation(s, n)):
        with pytest.raises(TermError, match="is not a name"):
            declare(name)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: x[p], "x: p is an index into a range of size m; needed an index into a range of size n"),
        (lambda: w[p, i], "w: p is an index into a range of size m; needed an index into a range of size n"),
        (lambda: x[i, j], "x has 1 slots, found 2 arguments"),
        (lambda: x[a], "x: a is of the sort real; needed an index into a range of size n"),
        (lambda: a + i, "i is not a real number, but an index into a range of size n"),
        (lambda: exp(eq(a, b)), "is not a real number, but of the sort proposition"),
        (lambda: a + INFINITY, "infinity is not a real number"),
        (lambda: delta(i, p), "delta: i is an index into a range of size n, but p is an index into a range of size m"),
        (lambda: delta(a, b), "delta: a is of the sort real"),
        (lambda: eq(i, p), "eq: i is an index into a range of size n, but p"),
        (lambda: lt(i, j), "i is not a real number"),
        (lambda: when(a, b, b), "a is not a relation"),
        (lambda: variable("a", "complex"), "a: 'complex' is not a domain; needed one of real, nonnegative, positive, integer"),
        (lambda: size("n", -1), "n: a size is at least 0, found the minimum -1"),
        (lambda: index("i", a), "a is not a size: needed a whole number, a size symbol, or a sum or product of them"),
        (lambda: index("i", rational(1, 2)), "1/2 is not a size"),
        (lambda: index("i", -1), "-1 is not a size"),
        (lambda: index("i", n**2), "is not a size"),
        (lambda: value_of(a), "a is not an index"),
        (lambda: split(i, 2), "i is an index into a range of size n; needed a range of 2 times another size"),
        (lambda: join(a, i), "a is not an index, but of the sort real"),
        (lambda: table([[a, b], [a]], 0, 0), "a matrix needs rows of one length"),
    ],
)  # fmt: skip
def test_an_ill_typed_term_is_refused_where_it_enters(build: object, message: str) -> None:
    with pytest.raises(TermError) as refusal:
        build()  # type: ignore[operator]
    assert message in str(refusal.value)


def test_sorts() -> None:
    assert sort_of(a) == sort_of(x[i]) == sort_of(PI) == sort_of(value_of(i)) == sort_of(delta(i, j)) == "real"
    assert sort_of(i) == sort_of(permutation("pi", n)(i)) == sort_of(literal(0, n)) == n
    assert sort_of(eq(a, b)) == "proposition"
    assert sort_of(join(i, p)) == m * n
    assert [sort_of(part) for part in split(index("c", m * n), m)] == [n, m]
    assert sort_of(choice("mu", m, target=n)(p)) == n


def test_a_range_of_literal_size_is_split_by_a_divisor() -> None:
    assert [sort_of(part) for part in split(index("c", 12), 4)] == [number(3), number(4)]
    with pytest.raises(TermError, match="needed a range of 5 times another size"):
        split(index("c", 12), 5)


@pytest.mark.parametrize(
    ("term", "smallest"),
    [(number(3), 3), (n, 1), (size("k", 0), 0), (n + 2, 3), (n * size("k", 4), 4), (n * size("k", 0), 0), (a, -1), (n + a, -1),
     (rational(1, 2), -1), (-n, -1), (n**2, -1)],
)  # fmt: skip
def test_the_least_value_of_a_size(term: Term, smallest: int) -> None:
    assert least(term) == smallest


@pytest.mark.parametrize(
    ("position", "whole"), [(0, size("k", 0)), (1, n), (-1, n), (3, number(3)), (2, n * size("k", 2) * 0 + n)]
)
def test_a_literal_index_is_known_to_be_in_its_range(position: int, whole: Term) -> None:
    with pytest.raises(TermError, match="is not"):
        literal(position, whole)


def test_literals_that_are_in_their_range() -> None:
    assert literal(2, size("k", 3)).data == 2
    assert literal(5, n + 5).data == 5
    assert x[0] == x[literal(0, n)]
    with pytest.raises(TermError, match="1 is not known to be an index into a range of size n"):
        x[1]


def test_free_symbols_bring_the_sizes_of_their_ranges() -> None:
    assert free(x[i]) == {x, i, n}
    assert free(sum_(i, A[i, j])) == {A, j, n}
    assert free(permutation("pi", m)(p)) == {permutation("pi", m), p, m}
    y = curve("y", n)
    assert y.derivative is not None and y.derivative.name == "d_y"


def test_extent_is_the_very_term() -> None:
    for whole in (n, n + m, 2 * n * m, number(0)):
        assert extent(whole) is whole


def test_relations_and_functions_print_what_they_are() -> None:
    assert repr(relation("le", a, b)) == "relation:le(a, b)"
    assert repr(maximum(a, absolute(b))) == "max(a, abs(b))"


def test_spaces_and_outcomes() -> None:
    assert space("U") == space("U") != space("V") and space("U") != size("U")
    assert outcome("u", U) == index_of("u", U) and outcome("u", U) != outcome("u", space("V")) != index("u", n)
    assert sort_of(u) == U and is_outcome(sort_of(u)) and not is_outcome(sort_of(i)) and not is_outcome("real")
    assert sort_of(q[i, u]) == sort_of(expectation(u, q[i, u])) == "real" and sort_of(U) is None
    assert sort_of(choice("hi", U, target=n)(u)) == n and x[choice("hi", U, target=n)(u)].op == "family"
    assert free(q[i, u]) == {q, i, u, n, U} and free(expectation(u, q[i, u])) == {q, i, n, U}
    assert least(U) == -1 and repr(expectation(u, q[i, u])) == "expect(U, q(i, bound:0))"


def index_of(name: str, range_: Term) -> Term:
    return Term("index", (range_,), name)


def test_an_expectation_is_not_rearranged_and_its_names_do_not_count() -> None:
    other = outcome("o", U)
    assert expectation(u, q[i, u]) == expectation(other, q[i, other]) and expectation(u, q[i, u]).hints == ("u",)
    assert expectation([u, other], q[i, u] * q[j, other]) != expectation([u, other], q[j, other] * q[i, u])
    assert expectation([u, other], q[i, u]) != expectation([u, other], q[i, other])
    assert expectation(u, a) != a and expectation((), a) == a
    assert expectation(u, q[i, u]).size_places() == range(1) and expectation(u, a).binders() == (0, 1)


def test_what_the_two_kinds_of_ranges_may_be_used_for() -> None:
    message = "u is not an index"
    for build in (lambda: value_of(u), lambda: sum_(u, a), lambda: join(u, i), lambda: join(i, u)):
        with pytest.raises(TermError, match=f"{message}|u is not an index, and cannot be summed over"):
            build()
    for build in (lambda: delta(u, u), lambda: eq(u, u), lambda: delta(u, i)):
        with pytest.raises(TermError, match="is an outcome of U"):
            build()
    for build in (lambda: index("h", U), lambda: size("h") * U, lambda: extent(U), lambda: permutation("h", U), lambda: curve("h", U),
                  lambda: literal(0, U), lambda: choice("h", n, target=U), lambda: family("h", n * 1 + U)):  # fmt: skip
        with pytest.raises(TermError):
            build()
    with pytest.raises(TermError, match="q: v is an outcome of V; needed an outcome of U"):
        q[i, outcome("v", space("V"))]
    with pytest.raises(TermError, match="q: i is an index into a range of size n; needed an outcome of U"):
        q[i, i]
    with pytest.raises(TermError, match="n is not a probability space"):
        outcome("u", n)
    with pytest.raises(TermError, match="is not a name"):
        space("0U")

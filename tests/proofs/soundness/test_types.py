"""Symbols and ranges: assumptions, sizes and transposed families."""

from __future__ import annotations

import pytest

from proofs.binders import sum_
from proofs.kernel import Script, Statement, check
from proofs.notation import (
    Definition,
    absolute,
    choice,
    cos,
    delta,
    eq,
    exp,
    family,
    index,
    join,
    literal,
    lt,
    permutation,
    size,
    sqrt,
    value_of,
    variable,
)  # fmt: skip
from proofs.terms import IndexMap, Term, TermError

from .attempts import A, a, attempt, c, i, j, l, m, n, none, proved, refuse, softmax, w, x, z


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
    r, minor, b6 = index("r", 6), index("s", 2), index("b", 6)
    refuse(eq(sum_([r, minor], delta(one, other) * value_of(minor)), value_of(b6)), "finite_sum")
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

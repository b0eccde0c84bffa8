"""Different terms do not print alike: random terms, terms that differ in one place, and traps picked by hand."""

from functools import cache
from itertools import combinations

import pytest

from proofs.notation import (
    delta,
    derivative,
    eq,
    expectation,
    forall,
    function,
    index,
    join,
    le,
    number,
    rational,
    sum_,
    t,
    value_of,
    when,
)
from proofs.render import Latex, Notation, Typst, Unicode
from proofs.terms import Term, literal
from proofs.well_typed import sort

from .edits import edited
from .random_terms import (
    FREE,
    SYMBOLS,
    J,
    M,
    R,
    Terms,
    U,
    W,
    both,
    d_k,
    delta_family,
    exp_named,
    f,
    gate,
    hi,
    mean,
    n,
    omega,
    onehot,
    path,
    pi_n,
    q,
    softmax,
    tied,
    w,
    x,
    x1,
    x_0,
    x_i,
    z,
    z_label,
)  # fmt: skip

PRINTERS = (Unicode, Latex, Typst)
PAGE = Notation(SYMBOLS, with_pi=True)


@cache
def drawn(seed, count):
    """Distinct random terms, well-typed."""
    source = Terms(seed)
    found = {}
    while len(found) < count:
        depth = source.random.choice([1, 1, 2, 2, 3])
        term = source.real(depth=depth) if source.random.random() < 0.75 else source.proposition()
        sort(term)
        found[term] = None
    return tuple(found)


@cache
def dense(seed, count):
    """Distinct small terms over few symbols."""
    source = Terms(seed)
    return tuple(dict.fromkeys(source.dense(source.random.choice([2, 3, 4])) for _ in range(count)))


def printed_alike(printer, terms):
    """Pairs of distinct terms with one text."""
    seen, pairs = {}, []
    for term in terms:
        other = seen.setdefault(printer(term), term)
        if other != term:
            pairs.append((other, term))
    return pairs


@pytest.mark.parametrize("printer", PRINTERS)
def test_random_terms(printer):
    terms = drawn(seed=1, count=1200)  # over 700,000 pairs
    assert printed_alike(printer(PAGE), terms) == []


@pytest.mark.parametrize("printer", PRINTERS)
def test_random_terms_over_few_symbols(printer):
    terms = dense(seed=1, count=5000)
    assert len(terms) > 2500
    assert printed_alike(printer(PAGE), terms) == []


@pytest.mark.slow
@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_random_terms(printer, seed):
    assert printed_alike(printer(PAGE), [*drawn(seed, count=8000), *dense(seed, count=30000)]) == []


@pytest.mark.parametrize("printer", PRINTERS)
def test_one_edit_shows(printer):
    """At least 2,000 pairs of terms that differ in one place."""
    prints, count = printer(PAGE), 0
    for term in drawn(seed=11, count=90):
        text = prints(term)
        for variant in edited(term):
            count += 1
            assert prints(variant) != text, (term, variant)
    assert count > 2000


@pytest.mark.parametrize("printer", PRINTERS)
def test_a_printer_without_brackets_is_caught(printer):
    class Careless(printer):
        def bracketed(self, text):
            return text

    assert printed_alike(Careless(PAGE), dense(seed=1, count=5000))


def test_a_printer_that_always_trusts_the_range_is_caught():
    class Careless(Unicode):
        def summed(self, name, size, last, told, body):
            return super().summed(name, size, last, True, body)

    assert printed_alike(Careless(PAGE), [sum_(index("l", n), number(1)), sum_(index("l", M), number(1))])


i, j, l = FREE[n]
m, a = FREE[M][0], FREE[number(2)][0]
(u, u_W), (v,) = FREE[U], FREE[W]
k, c = index("k", n), index("c", 2 * M)


def mul(*parts):
    return Term("mul", parts)


def inverse(term):
    return Term("power", (term, number(-1)))


TRAPS = {
    "a symbol x_i, and the entry i of x": [x_i, x[i], x1, x_0, x[0]],
    "a symbol z_q, its entry, and an entry of z": [z_label[i], z[i]],
    "a fraction, a quotient, an inverse": [
        rational(1, 2), inverse(number(2)), mul(number(1), inverse(number(2))), mul(number(1), number(1), inverse(number(2))),
        mul(rational(1, 2), number(1)),
    ],
    "where the factor stands": [
        mul(w, inverse(t), x1), mul(w, x1, inverse(t)), mul(mul(w, inverse(t)), x1), mul(w, inverse(mul(t, x1))),
        mul(w, inverse(t), inverse(x1)), mul(inverse(t), w, x1), mul(w, mul(inverse(t), x1)), mul(w, mul(x1, inverse(t))),
    ],
    "signs": [
        number(-2), mul(number(-1), number(2)), mul(number(-1), mul(number(1), number(2))), Term("add", (number(0), number(-2))),
    ],
    "signs of products": [
        mul(number(-2), w), mul(number(-1), number(2), w), mul(number(-1), mul(number(2), w)), mul(number(2), mul(number(-1), w)),
        mul(number(2), number(-1), w),
    ],
    "subtraction": [
        t - 2 * w, Term("add", (t, mul(number(-2), w))), Term("add", (t, mul(number(-1), mul(number(2), w)))), t + 2 * -w,
    ],
    "powers": [
        (w**2) ** 3, w ** (number(2) ** 3), w**6, -(w**2), (-w) ** 2, mul(number(2), w**2), (2 * w) ** 2, number(-2) ** 2,
        -(number(2) ** 2),
    ],
    "quotients in exponents": [
        w**e for e in (
            rational(1, 2), inverse(number(2)), mul(number(1), inverse(number(2))), mul(rational(1, 2), number(1)), mul(t, inverse(x1), x1),
            rational(3, 2), mul(number(3), inverse(number(2))), mul(number(3), rational(1, 2)), rational(-1, 2), -inverse(number(2)),
            mul(number(-1), rational(1, 2)), inverse(t), mul(number(1), inverse(t)), -inverse(t), mul(number(-1), mul(number(1), inverse(t))),
            mul(t, inverse(x1)), mul(t, x1, inverse(x1)), mul(t, mul(x1, inverse(x1))), mul(mul(t, x1), inverse(x1)), mul(t, inverse(x1 * x1)),
            mul(t, inverse(x1), inverse(x1)), inverse(inverse(t)), inverse(rational(1, 2)), inverse(inverse(number(2))), mul(t, inverse(number(2))),
            mul(t, rational(1, 2)), mul(rational(1, 2), t), t / 2 + 1, (t + 1) / 2, mul(number(3), t, inverse(number(2))), Term("exp", (t / x1,)),
            mul(t, number(3), inverse(number(2))), mul(t, rational(3, 2)), mul(number(2), number(3), inverse(number(2))), sum_(i, z[i] / t), sum_(i, z[i]) / t,
        )
    ],
    "how far a sum reaches": [
        sum_(i, z[i]) * w, sum_(i, z[i] * w), sum_(i, z[i]) + w, sum_(i, z[i] + w), w * sum_(i, z[i]), sum_(i, w * z[i]),
        sum_(i, z[i]) / w, sum_(i, z[i] / w), w / sum_(i, z[i]), inverse(sum_(i, z[i])), sum_(i, inverse(z[i])),
    ],
    "ranges that the body does not tell": [sum_(i, number(1)), sum_(m, number(1)), sum_(a, number(1)), sum_(c, number(1))],
    "ranges of sizes that are sums": [
        sum_(index("l", s), number(1)) for s in (n, n + 1, n + 2, n + M, n + M + 1, M + n + 1, 2 * n, 2 * n + 1, 2 * (n + 1), (n + 1) * n)
    ],
    "sizes with numbers at their ends": [
        Term("sum", (s, number(1)), None, ("l",)) for s in (
            number(0), number(1), number(3), n + 0, 1 + n, Term("add", (n, number(2), number(1))), n + 3, (n + 2) + 1, n + 0 + 1, 1 + (n + 1),
            Term("add", (number(2), number(1))), Term("add", (n, n + 1)), Term("add", (n + M, number(1))), Term("add", (n + M, number(2))),
        )
    ],
    "ranges of numbers": [sum_(i, value_of(i)), sum_(m, value_of(m)), sum_(a, value_of(a))],
    "the derivative of a product": [
        derivative(t, t * w, 0), derivative(t, t, 0) * w, w * derivative(t, t, 0), derivative(t, w * t, t), derivative(t, w * t, w),
    ],
    "sin(wt) cos(wk) keeps its order": [omega * t, t * omega, mul(omega, t, w), mul(t, omega, w)],
    "rows and columns": [delta(i, j), delta(j, i), delta_family[i, j], J(z, i, j), J(z, j, i), q[i, m]],
    "rows and columns under a sum": [sum_(i, J(z, i, j)), sum_(i, J(z, j, i)), sum_(l, J(z, l, j))],
    "an index, a number, and an index as a number": [
        value_of(join(m, a)), 2 * value_of(m) + value_of(a), value_of(literal(0, n)), value_of(literal(0, M)), number(0),
    ],
    "comparisons of indices and of numbers": [
        eq(i, j), eq(value_of(i), value_of(j)), eq(i, literal(0, n)), eq(value_of(i), 0), eq(value_of(i), value_of(literal(0, n))),
    ],
    "deltas of positions": [delta(literal(0, n), literal(0, n)), delta(literal(0, M), literal(0, M)), delta(a, literal(0, 2))],
    "functions of a name and products": [f[t], w * (t + 1), f[t + 1], path[i, t], z[i] * t, exp_named(t), Term("exp", (t,))],
    "functions as arguments": [
        mean(z), mean(function(l, z[l])), mean(function(l, z[i])), mean(function(l, z[l] + 0)), mean(function(l, softmax(z, l))),
        mean(function(l, J(z, i, l))), mean(function(l, J(z, l, i))), mean(function(l, J(z, l, l))),
    ],
    "permutations and pi": [z[pi_n(i)], z[i], value_of(pi_n(i)), Term("pi") * value_of(i), gate(Term("pi"), i)],
    "bars": [
        mul(Term("abs", (w,)), t, Term("abs", (x1,))), Term("abs", (mul(w, Term("abs", (t,)), x1),)), Term("abs", (Term("abs", (w,)),)),
    ],
    "roots": [Term("sqrt", (d_k,)), Term("sqrt", (d_k * t,)), Term("sqrt", (d_k,)) * t, Term("sqrt", (d_k**2,)), Term("sqrt", (d_k,)) ** 2],
    "branches": [
        when(eq(i, j), w, t), when(eq(i, j), t, w), when(eq(j, i), w, t), when(eq(i, j), w, t) + x1, when(eq(i, j), w, t + x1),
    ],
    "quantifiers": [
        forall(k, le(z[k], w), where=[Term("relation", (k, i), "ne")]), forall(k, le(z[k], w), where=[Term("relation", (i, k), "ne")]),
        forall(k, le(z[k], w)), forall(k, le(z[i], w)), forall(m, le(z[i], w)),
    ],
    "ranges that only the indices of a definition tell": [
        onehot(literal(0, n), literal(0, n)), onehot(literal(0, M), literal(0, M)), sum_(i, onehot(i, i)), sum_(m, onehot(m, m)),
        softmax(z, literal(0, n)), softmax(function(m, value_of(m)), literal(0, M)), softmax(function(i, value_of(i)), literal(0, n)),
    ],
    "how far an expectation reaches": [
        expectation(u, R[u]) * w, expectation(u, R[u] * w), w * expectation(u, R[u]), expectation(u, w * R[u]), expectation(u, R[u] + w),
        expectation(u, R[u]) + w, expectation(u, R[u]) ** 2, expectation(u, R[u] ** 2), expectation(u, inverse(R[u])), inverse(expectation(u, R[u])),
        expectation(u, expectation(u_W, R[u] * R[u_W])), expectation(u, R[u] * expectation(u, R[u])), expectation(u, R[u]) * R[u],
    ],
    "spaces that the body does not tell": [
        expectation(u, number(1)), expectation(v, number(1)), sum_(i, number(1)), expectation(u, R[u]), expectation(v, R[u]),
        expectation(u, R[u_W]), expectation([u, v], both[u, v]), expectation([v, u], both[u, v]), expectation([u, v], both[u_W, v]),
    ],
    "a mean, a sum, and an outcome": [
        expectation(u, R[u]), sum_(i, z[i]), R[u], R[u_W], expectation(u, R[u_W]), z[hi(u)], expectation(u, z[hi(u)]), sum_(i, z[hi(u)]),
        value_of(hi(u)), value_of(hi(u_W)),
    ],
    "statements about all outcomes": [
        forall(u, le(R[u], w)), forall(u, le(R[u_W], w)), le(R[u], w), forall(v, le(R[u], w)), forall(i, le(z[i], w)),
    ],
    "2 m + a as an index and as a number": [
        eq(join(m, a), join(FREE[M][1], a)), eq(2 * value_of(m) + value_of(a), 2 * value_of(FREE[M][1]) + value_of(a)),
        eq(join(m, a), literal(0, 2 * M)), eq(2 * value_of(m) + value_of(a), 0), eq(literal(0, 2 * M), join(m, a)),
        eq(join(m, a), FREE[2 * M][0]), eq(value_of(join(m, a)), 0),
    ],
    "a negative fraction before a bar": [
        mul(number(1), rational(-2, 3), inverse(w)), number(1) - mul(rational(2, 3), inverse(w)), mul(rational(-2, 3), inverse(w)),
        mul(number(1), mul(rational(-2, 3), inverse(w))), Term("add", (w, mul(rational(-2, 3), inverse(w)))),
    ],
    "functions that do not tell their ranges": [
        mean(function(l, gate(w, l))), mean(function(m, gate(w, m))), mean(function(l, onehot(l, l))), mean(function(m, onehot(m, m))),
    ],
    "maps in subscripts": [z[pi_n(i)], z[pi_n(j)], value_of(tied(i)), z[pi_n(pi_n(i))]],
}  # fmt: skip


@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("trap", TRAPS)
def test_trap(printer, trap):
    prints = printer(PAGE)
    for one, other in combinations(TRAPS[trap], 2):
        assert one == other or prints(one) != prints(other), (one, other)


@pytest.mark.parametrize("printer", PRINTERS)
def test_names_of_bound_variables_do_not_count(printer):
    prints = printer(PAGE)
    assert prints(sum_(k, z[k])) == prints(sum_(index("k", n), z[index("k", n)]))
    assert mean(z) == mean(function(l, z[l]))
    assert prints(mean(z)) == prints(mean(function(k, z[k])))

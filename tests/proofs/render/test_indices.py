"""Indices counted from 0 or from 1: how they look, and that no two are alike and each is read as what it is."""

from itertools import combinations

import pytest

from proofs.notation import (
    delta,
    eq,
    forall,
    function,
    index,
    join,
    le,
    lt,
    number,
    split,
    sum_,
    value_of,
)
from proofs.render import Latex, Typst, Unicode
from proofs.render.inverse import fragment, latex, typst
from proofs.render.latex import LatexFromOne
from proofs.render.typst import TypstFromOne
from proofs.render.unicode import UnicodeFromOne
from proofs.terms import Term, literal
from proofs.well_typed import sort

from .inverse.spelled_table import table_of
from .random_indices import Indices
from .random_terms import FREE, M, c, n, omega, pairs, pi_n, q, softmax, w, z
from .test_injective import PAGE, TRAPS, dense, drawn, printed_alike

PRINTERS = (Unicode, UnicodeFromOne, Latex, LatexFromOne, Typst, TypstFromOne)
READ = {
    Latex: (latex.read, 0), LatexFromOne: (latex.read, 1), Typst: (typst.read, 0), TypstFromOne: (typst.read, 1),
}  # fmt: skip
i, j, l = FREE[n]
m, a, column = FREE[M][0], FREE[number(2)][0], FREE[pairs][0]
b = index("b", n)
four = number(4)


def said(text, printer):
    read, first = READ[printer]
    return fragment(text, table_of(PAGE, first), read)


def mul(*parts):
    return Term("mul", parts)


def add(*parts):
    return Term("add", parts)


quotient, remainder = split(column, 2)
LOOKS = {  # how each term looks where indices are counted from 1
    value_of(i): "i − 1",
    2 * value_of(i): "2 (i − 1)",
    -value_of(i): "−(i − 1)",
    value_of(i) + w: "(i − 1) + w",
    w - value_of(i): "w − (i − 1)",
    value_of(i) / n: "(i − 1) / n",
    w ** value_of(i): "w^(i − 1)",
    z[i]: "z[i]",
    omega * value_of(pi_n(i)): "ω (π'(i) − 1)",
    z[literal(0, n)]: "z[1]",
    value_of(literal(0, n)): "1_n − 1",
    c[join(m, a)]: "c[2 (m − 1) + a]",
    c[join(m, literal(0, 2))]: "c[2 (m − 1) + 1]",
    c[join(m, literal(1, 2))]: "c[2 (m − 1) + 2]",
    c[join(literal(0, M), a)]: "c[2 · 0 + a]",
    value_of(join(literal(0, M), a)): "[2 (1_M − 1) + (a − 1)]",
    c[join(quotient, remainder)]: "c[2 ⌊(c_i − 1) / 2⌋ + ((c_i − 1) mod 2) + 1]",
    c[join(m, remainder)]: "c[2 (m − 1) + ((c_i − 1) mod 2) + 1]",
    q[i, quotient]: "q_(i, ⌊(c_i − 1) / 2⌋ + 1)",
    value_of(quotient): "⌊(c_i − 1) / 2⌋",
    value_of(remainder): "[(c_i − 1) mod 2]",
    value_of(join(m, a)): "[2 (m − 1) + (a − 1)]",
    2 * value_of(m) + value_of(a): "2 (m − 1) + (a − 1)",
    le(value_of(j), value_of(i)): "j ≤ i",
    lt(value_of(literal(0, n)), value_of(i)): "1_n < i",
    le(value_of(quotient), value_of(m)): "⌊(c_i − 1) / 2⌋ ≤ m − 1",
    le(0, value_of(i)): "0 ≤ i − 1",
    eq(value_of(i), value_of(j)): "i − 1 = j − 1",
    eq(i, j): "i = j",
    eq(i, literal(0, n)): "i = 1",
    eq(quotient, literal(0, M)): "(⌊(c_i − 1) / 2⌋ + 1)_M = 1",
    eq(remainder, a): "((c_i − 1) mod 2) + 1 = a",
    sum_(b, number(1)): "Σ_(b ≤ n) 1",
    forall(index("b", M), le(w, 1)): "∀ b ≤ M: w ≤ 1",
    function(index("b", M), w): "b ≤ M ↦ w",
    sum_(b, value_of(b)): "Σ_(b ≤ n) (b − 1)",
    softmax(z, literal(0, n)): "softmax(z)_1",
}  # fmt: skip


@pytest.mark.parametrize("term", LOOKS, ids=LOOKS.get)
def test_how_it_looks(term):
    assert UnicodeFromOne(PAGE)(term) == LOOKS[term]


FROM_ONE = {
    sum_(b, z[b]): r"\sum_{b=1}^{n} z_{b}",
    sum_(index("b", 3), w): r"\sum_{b=1}^{3} w",
    sum_(index("b", n + 1), w): r"\sum_{b=1}^{n + 1} w",
    value_of(i) / n: r"\frac{i - 1}{n}",
    w * value_of(i) / n: r"\frac{w (i - 1)}{n}",
    w ** (value_of(i) / n): "w^{(i - 1)/n}",
    c[
        join(quotient, remainder)
    ]: r"c_{2 \lfloor (c_{\mathrm{i}} - 1) / 2 \rfloor + ((c_{\mathrm{i}} - 1) \bmod 2) + 1}",
}


@pytest.mark.parametrize("term", FROM_ONE, ids=FROM_ONE.get)
def test_latex(term):
    assert LatexFromOne(PAGE)(term) == FROM_ONE[term]


first, second = literal(0, number(2)), literal(1, number(2))
PLACES = {
    "an index less 1, and a sum": [
        value_of(i), add(value_of(i), number(-1)), add(value_of(i), number(1)), value_of(literal(0, n)), number(0),
        add(value_of(literal(0, n)), number(-1)), add(value_of(literal(0, n)), number(1)),
    ],
    "joins of literals": [
        value_of(join(first, first)), value_of(join(first, second)), value_of(join(second, first)), value_of(literal(1, four)),
        add(mul(number(2), number(0)), number(1)), add(mul(number(2), number(1)), number(0)), add(mul(number(2), value_of(first)), value_of(second)),
    ],
    "joins of literals, compared": [
        eq(join(first, first), literal(0, four)), eq(join(first, second), literal(1, four)), eq(join(second, first), literal(2, four)),
        eq(add(mul(number(2), number(0)), number(1)), number(1)), eq(add(mul(number(2), number(0)), number(2)), number(2)),
        eq(add(mul(number(2), number(1)), number(1)), number(3)), eq(literal(0, four), join(first, first)),
    ],
    "a quotient and one more": [
        eq(quotient, literal(0, M)), eq(add(value_of(quotient), number(1)), number(1)), eq(value_of(quotient), number(0)),
        eq(literal(0, M), quotient), eq(number(1), add(value_of(quotient), number(1))), eq(quotient, quotient),
        eq(add(value_of(quotient), number(1)), add(value_of(quotient), number(1))), eq(value_of(quotient), value_of(quotient)),
        eq(quotient, m), eq(value_of(quotient), value_of(m)), eq(add(value_of(quotient), number(1)), value_of(m)),
    ],
    "a remainder and one more": [
        eq(remainder, a), eq(value_of(remainder), value_of(a)), eq(add(value_of(remainder), number(1)), value_of(a)), eq(remainder, first),
        eq(remainder, split(column, 2)[1]), eq(value_of(remainder), number(0)), eq(add(value_of(remainder), number(1)), number(1)),
    ],
    "bare comparisons": [
        le(value_of(i), value_of(j)), le(add(value_of(i), number(1)), add(value_of(j), number(1))), eq(i, j), eq(value_of(i), value_of(j)),
        le(add(value_of(i), number(-1)), add(value_of(j), number(-1))), lt(value_of(i), value_of(j)), le(value_of(i), add(value_of(j), number(1))),
        le(value_of(i), add(value_of(j), number(-1))), le(value_of(i), number(0)), le(value_of(i), value_of(literal(0, n))), le(value_of(i), n),
    ],
    "parts of parts": [
        c[join(split(join(m, a), 2)[0], split(column, 2)[1])], c[join(split(column, 2)[0], split(join(m, a), 2)[1])], c[column],
        c[join(quotient, remainder)], c[join(split(join(quotient, remainder), 2)[0], remainder)], c[join(m, remainder)], c[join(quotient, a)],
    ],
    "quotients of positions": [
        delta(split(literal(k, pairs), 2)[part], split(literal(o, pairs), 2)[part]) for k in range(2) for o in range(2) for part in range(2)
    ],
}  # fmt: skip


@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("trap", PLACES)
def test_trap(printer, trap):
    for one, other in combinations(PLACES[trap], 2):
        sort(one)
        assert one == other or printer(PAGE)(one) != printer(PAGE)(other), (one, other)


@pytest.mark.parametrize("printer", READ)
@pytest.mark.parametrize("trap", PLACES)
def test_trap_is_read(printer, trap):
    assert [said(printer(PAGE)(term), printer) for term in PLACES[trap]] == PLACES[trap]


@pytest.mark.parametrize("printer", PRINTERS)
def test_random_terms(printer):
    terms = Indices(1).some(1500)
    assert len(terms) > 900 and printed_alike(printer(PAGE), terms) == []


@pytest.mark.parametrize("printer", READ)
def test_random_terms_are_read(printer):
    prints = printer(PAGE)
    assert [(t, prints(t)) for t in Indices(2).some(300) if said(prints(t), printer) != t] == []


@pytest.mark.parametrize("printer", [UnicodeFromOne, LatexFromOne, TypstFromOne])
def test_traps_of_all_kinds(printer):
    """Those that have little to do with indices."""
    prints = printer(PAGE)
    for terms in TRAPS.values():
        assert printed_alike(prints, terms) == []
        assert printer not in READ or [said(prints(term), printer) for term in terms] == list(terms)


@pytest.mark.slow
@pytest.mark.parametrize("printer", [UnicodeFromOne, LatexFromOne, TypstFromOne])
def test_many_random_terms_of_all_kinds(printer):
    prints, terms = printer(PAGE), [*drawn(2, count=6000), *dense(2, count=12000)]
    assert printed_alike(prints, terms) == []
    assert printer not in READ or [(t, prints(t)) for t in terms if said(prints(t), printer) != t] == []


@pytest.mark.slow
@pytest.mark.parametrize("printer", READ)
def test_many_random_terms(printer):
    prints, terms = printer(PAGE), Indices(3).some(30000)
    assert len(terms) > 10000 and printed_alike(prints, terms) == []
    assert [(t, prints(t)) for t in terms if said(prints(t), printer) != t] == []

"""What Typst gets: text by text, and what Typst makes of it."""

import json
import re

import pytest

from proofs.notation import (
    ANY_REAL,
    INFINITY,
    PI,
    Definition,
    absolute,
    curve,
    delta,
    derivative,
    eq,
    erf,
    exp,
    expectation,
    family,
    forall,
    function,
    i,
    index,
    j,
    join,
    l,
    le,
    log,
    n,
    ne,
    number,
    outcome,
    permutation,
    rational,
    size,
    space,
    split,
    sqrt,
    sum_,
    t,
    table,
    tends,
    value_of,
    variable,
    when,
    z,
)  # fmt: skip
from proofs.registry import all_claims
from proofs.render import Notation, RenderError, Typst
from proofs.render.page_formulas import formulas_of
from proofs.render.theorem import page
from proofs.render.typst import SYMBOLS
from proofs.theorems.softmax import softmax as s

from .test_injective import PAGE, TRAPS, dense, drawn, mul

M, d_k, U = size("M"), size("d_k"), space("U")
a, m, column = index("a", 2), index("m", M), index("c", 2 * M)
b, c = variable("b"), variable("c")
x, W, u = curve("x", n), family("W_Q", n, n), outcome("u", U)
R, pos, primed = family("R", U), variable("pos"), Definition("exp", [variable("w")], variable("w"))
log_softmax = Definition("log_softmax", [z, i], z[i] - log(sum_(l, exp(z[l]))))
long_sum = sum(z[k] for k in (i, j, l) * 5)

TEXTS = {
    "frac(upright(e)^(z_(i)), sum_(l = 0)^(n - 1) upright(e)^(z_(l)))": exp(z[i]) / sum_(l, exp(z[l])),
    '"softmax"(z)_(i) (delta_(i j) - "softmax"(z)_(j))': s(z, i) * (delta(i, j) - s(z, j)),
    '"log-softmax"(z)_(i)': log_softmax(z, i),
    '"softmax"(j |-> z_(j) + c)_(i)': s(function(j, z[j] + c), i),
    "\"exp\"'(b)": primed(b),
    "sum_(a = 0)^(1) a": sum_(a, value_of(a)),
    "frac(b c, t)": b * c / t,
    "frac(b, c) t": b / c * t,
    "(frac(b, c))^(2)": (b / c) ** 2,
    "frac(1, b) c": mul(1 / b, c),
    "inline(frac(1, 2)) frac(b, c)": rational(1, 2) * b / c,
    "2 dot inline(frac(1, 2)) b": number(2) * rational(1, 2) * b,
    "b^((1 slash 2) c)": b ** (rational(1, 2) * c),
    "b^(-2 c slash t)": b ** (-2 * c / t),
    "-inline(frac(2, 3))": rational(-2, 3),
    "2 dot frac(upright(d), upright(d) t) [t b]_(t = 0)": number(2) * derivative(t, t * b, 0),
    'b thin "softmax"(z)_(i)': b * s(z, i),
    'italic("pos") thin b': pos * b,
    "frac(1, sqrt(d_(\"k\")))": 1 / sqrt(d_k),
    "exp(frac(b, c))": exp(b / c),
    "(upright(e)^(b))^(2)": exp(b) ** 2,
    '"erf"(b)': erf(b),
    "abs(b)": absolute(b),
    'W_("Q", i j)': W[i, j],
    "dot(x)_(i)(t)": x.derivative[i, t],
    "omega": variable("omega"),
    "2 pi": 2 * PI,
    "z_(pi(i))": z[permutation("pi", n)(i)],
    "[2 m + a]": value_of(join(m, a)),
    "[c mod 2]": value_of(split(column, 2)[1]),
    "floor(c slash 2)": value_of(split(column, 2)[0]),
    'mat(delim: "[", b, c; t, 0)_(a a)': table([[b, c], [t, 0]], a, a),
    "cases(b comma quad & i = j, c comma quad & i != j)": when(eq(i, j), b, c),
    "cases(b comma quad & b <= c, c comma quad & b > c)": when(le(b, c), b, c),
    "frac(upright(d), upright(d) t) [t b]_(t = 0)": derivative(t, t * b, 0),
    "lim_(b -> infinity) (b + c) = 0": tends(b, b + c, INFINITY, 0),
    "forall j != i: c <= z_(j)": forall(j, le(c, z[j]), where=[ne(j, i)]),
    "EE_(u in U) [R_(u)^(2)] - EE_(u in U) [R_(u)]^(2)": expectation(u, R[u] ** 2) - expectation(u, R[u]) ** 2,
    "f(b)": family("f", ANY_REAL)[b],
}  # fmt: skip


def printed(term):
    return Typst(Notation.of(term))(term)


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert printed(TEXTS[text]) == text


def test_long_exponents_are_no_superscripts():
    assert printed(exp(z[i] + z[j])).startswith("upright(e)^(")
    assert printed(exp(long_sum)).startswith("exp(0 + z_(i) + ")


@pytest.mark.parametrize("name", ["größe", "変数"])
def test_other_letters_are_refused(name):
    with pytest.raises(RenderError, match=f"no Typst for the name '{name}'"):
        printed(variable(name))


# --- what Typst makes of it

NAMES = re.compile(r"\b(frac|sqrt|abs|floor|mat|cases|italic|upright|inline|dot)\(")


def understood(texts):
    """The structure of each formula, as Typst tells it."""
    typst = pytest.importorskip("typst")
    source = "\n".join(f"#metadata(repr(${text}$)) <formula>" for text in texts)
    found = typst.query(source.encode(), "<formula>", field="value", ignore_system_fonts=True)
    return json.loads(found)


def counted(text):
    """Subscripts and exponents, fractions and roots, and brackets that have to be seen, in what the printer wrote."""
    calls = len(NAMES.findall(text))
    hidden = text.count("_(") + text.count("^(") + calls
    return (text.count("_("), text.count("frac("), text.count("sqrt("), text.count("(") - hidden)


def seen(structure):
    return (
        len(re.findall(r"\bb: ", structure)), structure.count("frac("), structure.count("root("), structure.count("[(]"),
    )  # fmt: skip


def check(texts):
    wrong = [(t, counted(t), seen(u)) for t, u in zip(texts, understood(texts), strict=True) if counted(t) != seen(u)]
    assert wrong == []


def test_typst_sees_what_was_written():
    """Every subscript hangs on something, no fraction takes more, and no bracket is swallowed."""
    prints = Typst(PAGE)
    traps = [term for terms in TRAPS.values() for term in terms]
    check([*TEXTS, *map(prints, [*drawn(1, 1200)[:400], *dense(1, 5000)[:400], *traps])])


def test_what_typst_reads_otherwise_is_caught():
    for text in ("y_i(t)", "frac(1, 2)/(b + c)", "1/(b + c)", "b/c (t)", "x_(i)(t)/b"):
        (structure,) = understood([text])
        assert counted(text) != seen(structure), (text, structure)


def test_a_subscript_hangs_on_its_name():
    (structure,) = understood(['y_(i)(t) + "softmax"(z)_(j)'])
    assert "attach(base: [y], b: [i])" in structure
    assert "lr(body: sequence([(], [t], [)]))" in structure


def test_greek_names_are_typst_names():
    structures = understood(SYMBOLS.values())
    assert all(re.search(r"\[(.)\]", structure)[1] for structure in structures)
    assert len(set(structures)) == len(structures)


@pytest.mark.slow
def test_typst_sees_every_formula_of_the_catalogue():
    check(sorted({f for claim in all_claims() for f in formulas_of(page(claim.theorem, Typst))}))

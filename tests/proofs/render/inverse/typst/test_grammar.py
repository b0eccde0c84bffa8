"""The grammar takes what is printed, in one spelling; of anything else it says what is wrong, and where."""

import pytest

from proofs.render.inverse import UnreadableError
from proofs.render.inverse.forms import FORMS
from proofs.render.inverse.tree import (
    Ascribed,
    Bracket,
    Call,
    Cases,
    Derivative,
    Domain,
    Floor,
    ForAll,
    Fraction,
    Function,
    Implies,
    Limit,
    Matrix,
    Mean,
    Members,
    Modulo,
    Name,
    Number,
    Place,
    Power,
    Product,
    Ratio,
    Relation,
    Squared,
    Sum,
    Summation,
    Symbol,
)  # fmt: skip
from proofs.render.inverse.typst import read

from ..mutations import bare

x, n, i = Name("x"), Name("n"), Name("i")


def name(base, **looks):
    return Symbol(0, Name(base, **looks))


def number(value):
    return Number(0, value)


TREES = {
    "omega": name("ω"),
    'italic("pos")': name("pos"),
    'd_("k")': name("d", label="k"),
    'd_("k", i)': Symbol(0, Name("d", "k"), (name("i"),)),
    "z_(i j)": Symbol(0, Name("z"), (name("i"), name("j"))),
    "z_(i' j)": Symbol(0, Name("z"), (name("i", primes=1), name("j"))),
    "z_(0, j)": Symbol(0, Name("z"), (number(0), name("j"))),
    "z'_(i)": Symbol(0, Name("z", primes=1), (name("i"),)),
    "dot(y)_(i)(t)": Symbol(0, Name("y", dotted=True), (name("i"),), (name("t"),)),
    '"log-softmax"\'(z)_(i)': Symbol(0, Name("log_softmax", primes=1, upright=True), None, (name("z"),), (name("i"),)),
    '"J"\'_(i)': Symbol(0, Name("J", primes=1, upright=True), None, None, (name("i"),)),
    "sigma(z)_(i)": Symbol(0, Name("σ"), None, (name("z"),), (name("i"),)),
    "2 dot 3": Product(0, (number(2), number(3))),
    "x (n + 1)": Product(0, (name("x"), Bracket(0, Sum(0, ((False, name("n")), (False, number(1))))))),
    "x(n)": Symbol(0, x, None, (name("n"),)),
    'x thin "J"': Product(0, (name("x"), name("J", upright=True))),
    "-x": Sum(0, ((True, name("x")),)),
    "frac(1, x)": Fraction(0, None, name("x")),
    "inline(frac(1, 2)) frac(x, n)": Product(0, (Ratio(0, 1, 2), Fraction(0, name("x"), name("n")))),
    "x^(1 slash 2)": Power(0, name("x"), Ratio(0, 1, 2, slashed=True)),
    "x^(-2 n slash i)": Power(
        0, name("x"), Sum(0, ((True, Fraction(0, Product(0, (number(2), name("n"))), name("i"), slashed=True)),))
    ),
    "x^(2^(-1))": Power(0, name("x"), Fraction(0, None, number(2))),
    "upright(e)^(x)": Call(0, "exp", (name("x"),), raised=True),
    "exp(frac(1, x))": Call(0, "exp", (Fraction(0, None, name("x")),)),
    "max(x, n)": Call(0, "max", (name("x"), name("n"))),
    '"erf"(x)': Call(0, "erf", (name("x"),)),
    "abs(x)": Call(0, "abs", (name("x"),)),
    "(x')^(2)": Power(0, Bracket(0, name("x", primes=1)), number(2)),
    "0_(n)": Ascribed(0, number(0), name("n")),
    "[i]": Squared(0, name("i")),
    "[c mod 2]": Squared(0, Modulo(0, name("c"), number(2))),
    "floor(c slash 2)": Floor(0, name("c"), number(2)),
    'mat(delim: "[", x, n; 0, 1)_(i i)': Matrix(
        0, ((name("x"), name("n")), (number(0), number(1))), (name("i"), name("i"))
    ),
    "cases(x comma quad & i <= n, 0 comma quad & i > n)": Cases(
        0, name("x"), Relation(0, "le", name("i"), name("n")), number(0), Relation(0, "gt", name("i"), name("n"))
    ),
    "sum_(i = 0)^(n - 1) x": Summation(0, i, 0, Sum(0, ((False, name("n")), (True, number(1)))), name("x")),
    "EE_(u in U) [x]": Mean(0, Name("u"), name("U"), name("x")),
    "frac(upright(d), upright(d) t) [x]_(t = 0)": Derivative(0, Name("t"), name("x"), number(0)),
    "x <= n": Relation(0, "le", name("x"), name("n")),
    "x = n => n != x": Implies(0, Relation(0, "eq", name("x"), name("n")), Relation(0, "ne", name("n"), name("x"))),
    "forall i != n: x < n": ForAll(0, Place(0, i), name("n"), Relation(0, "lt", name("x"), name("n"))),
    "lim_(x -> 0) x = n": Limit(0, x, number(0), name("x"), name("n")),
}
ALONE = {
    ("argument", "i |-> x"): Function(0, (Place(0, i),), name("x")),
    ("argument", "(i < n, x in RR) |-> x"): Function(
        0, (Place(0, i, name("n"), "lt"), Place(0, x, Domain(0, "real"), "in")), name("x")
    ),
    ("members", "x, n in RR_(>= 0)"): Members(0, (name("x"), name("n")), "in", Domain(0, "nonnegative")),
    ("members", "i < n"): Members(0, (name("i"),), "lt", name("n")),
    ("members", "i <= n"): Members(0, (name("i"),), "le", name("n")),
}
WRONG = {
    "z_(i,j)": "needed a space before 'j'",
    "z_(i, j)": "letters in a subscript stand side by side",
    "lim_(x -> 0)x = n": "needed a space",
    "frac(upright(d), upright(d)t) [x]": "needed a space",
    "x -n": "needed a space",
    "x- n": "needed a space",
    "cases(x comma quad & i >n, 0 comma quad & i <= n)": "needed a space",
    "cases(x & i = n, 0 & i != n)": "needed 'comma'",
    "x > n": "found '>', needed the end",
    "inline(frac(01, 2))": "01 is not how a number is written",
    "sum_(i = 0)^(1)x": "needed a space",
    "EE_(u in U)[x]": "needed a space",
    "RR_(>0)": "needed a space",
    "z_(ij)": "no formula has the word 'ij'",
    "z_i": "found 'i', needed '('",
    "z _(i)": "found a space before '_'",
    "z_( i)": "found a space before 'i'",
    "x(n )": "found a space before ')'",
    "2 3": "dot between these factors",
    "x dot n": "nothing between these factors",
    "x thin n": "nothing between these factors",
    'x "J"': "thin between these factors",
    "x  n": "no formula has ' ' here",
    "x +n": "needed a space before 'n'",
    "- x": "no space behind a minus in front",
    "1/x": "no formula has '/' here",
    "(x)": "nothing needs these brackets",
    "x'^(2)": "a prime is a superscript too",
    "exp(x)": "the exponential of what is neither tall nor long is a power of e",
    "upright(e)^(frac(1, x))": "e to the power of what is tall or long is written with exp",
    "x^(inline(frac(1, 2)))": "a bar in an exponent is written as a slash",
    "x^(frac(i, n))": "a bar in an exponent is written as a slash",
    "1 slash 2": "found 'slash', needed the end",
    "x^(i slash n slash 2)": "found 'slash', needed ')'",
    "x^(i (1 slash n))": "this quotient is written with a slash",
    "x^(i slash 2 n)": "found 'n', needed ')'",
    "script(frac(1, 2))": "no formula has the word 'script' with a bracket",
    'mat(delim: "(", x)_(i)': "[ in quotes",
    'cases(x comma quad & i = n, 0 comma quad & "otherwise")': "needed a sign of a relation",
    "frac(upright(d), upright(d) t) [x]_(x = 0)": "needed t at a point",
    "sum_(i = 2)^(n - 1) x": "needed '0'",
    "z_(00)": "00 is not how a number is written",
    "01": "01 is not how a number is written",
    'italic("x")': "a single letter needs no font",
    "gamma_(": "needed a term",
    "x ": "a formula neither starts nor ends with a space",
    "": "needed a term",
    "#x": "no formula has '#' here",
    "op(x)": "no formula has the word 'op' with a bracket",
    "forall i : x = n": "found a space before ':'",
}


@pytest.mark.parametrize("text", TREES)
def test_tree(text):
    assert bare(read(text)) == bare(TREES[text])


@pytest.mark.parametrize(("form", "text"), ALONE)
def test_what_stands_alone(form, text):
    assert bare(read(text, form)) == bare(ALONE[form, text])


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text):
    with pytest.raises(UnreadableError) as caught:
        read(text)
    assert WRONG[text] in str(caught.value)


def test_places_are_those_of_the_text():
    with pytest.raises(UnreadableError, match=r"found '<', needed a term, at character 9: x \+ n \+  >>> < 2"):
        read("x + n + < 2")


def test_every_form_is_there():
    texts = ("x = n", "x", "x", "x, n", "x < n", "i < n, x", "x := n")
    assert all(read(text, form) for text, form in zip(texts, FORMS, strict=True))


def test_depth():
    with pytest.raises(UnreadableError, match="too deep to be read"):
        read("sqrt(" * 3000 + "x" + ")" * 3000)

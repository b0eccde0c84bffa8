"""The grammar takes what is printed, in one spelling; of anything else it says what is wrong, and where."""

import pytest

from proofs.render.inverse import UnreadableError
from proofs.render.inverse.forms import FORMS
from proofs.render.inverse.front_ends import knowing
from proofs.render.inverse.tree import (
    Ascribed,
    Bracket,
    Call,
    Cases,
    Derivative,
    Domain,
    Floor,
    Fraction,
    Function,
    Limit,
    Matrix,
    Mean,
    Members,
    Name,
    Number,
    Place,
    Power,
    Product,
    Ratio,
    Relation,
    Squared,
    Sum,
    Symbol,
    Total,
)  # fmt: skip
from proofs.render.inverse.unicode import read as read_alone

from ..mutations import bare

x, z, i, t = (Name(letter) for letter in "xzit")
J, primed = Name("J", upright=True), Name("exp", primes=1, upright=True)
NAMES = (x, z, Name("W", "Q"), Name("d", "k"), Name("z", primes=1), Name("y", dotted=True), J, primed, Name("pos"))
read = knowing(read_alone, NAMES)


def name(base, **looks):
    return Symbol(0, Name(base, **looks))


def at(symbol, *subscripts):
    return Symbol(0, symbol, subscripts)


def one(value):
    return Number(0, value)


TREES = {
    "x": name("x"),
    "d_k": name("d", label="k"),
    "z_ij": at(z, name("i"), name("j")),
    "z_i'j": at(z, name("i", primes=1), name("j")),
    "z'_i": at(Name("z", primes=1), name("i")),
    "z_0": at(z, one(0)),
    "z_(0, j)": at(z, one(0), name("j")),
    "z[i, j]": at(z, name("i"), name("j")),
    "W_Q_ij": at(Name("W", "Q"), name("i"), name("j")),
    "ẏ_i(t)": Symbol(0, Name("y", dotted=True), (name("i"),), (name("t"),)),
    "J(z)_ij": Symbol(0, J, None, (name("z"),), (name("i"), name("j"))),
    "exp'_i": Symbol(0, primed, None, None, (name("i"),)),
    "exp(x)": Call(0, "exp", (name("x"),)),
    "unknown_i": name("unknown", label="i"),
    "δ_ij": at(Name("δ"), name("i"), name("j")),
    "Σ_l z_l": Total(0, Place(0, Name("l")), at(z, name("l"))),
    "Σ_(l < n) 1": Total(0, Place(0, Name("l"), name("n"), "lt"), one(1)),
    "Σ_(pos) z_(pos)": Total(0, Place(0, Name("pos")), at(z, name("pos"))),
    "𝔼_u[x]": Mean(0, Name("u"), None, name("x")),
    "𝔼_(u ∈ U)[x]": Mean(0, Name("u"), name("U"), name("x")),
    "d/dt [x]_(t = 0)": Derivative(0, t, name("x"), one(0)),
    "lim_(t → 0) x = 1": Limit(0, t, one(0), name("x"), one(1)),
    "x²": Power(0, name("x"), one(2)),
    "x⁻³": Power(0, name("x"), Sum(0, ((True, one(3)),))),
    "x^z": Power(0, name("x"), name("z")),
    "x^(1/2)": Power(0, name("x"), Ratio(0, 1, 2, slashed=True)),
    "(z_i')²": Power(0, Bracket(0, at(z, name("i", primes=1))), one(2)),
    "z'_i²": Power(0, at(Name("z", primes=1), name("i")), one(2)),
    "√d_k": Call(0, "sqrt", (name("d", label="k"),)),
    "√(x + 1)": Call(0, "sqrt", (Sum(0, ((False, name("x")), (False, one(1)))),)),
    "|x|": Call(0, "abs", (name("x"),)),
    "abs(|x| + 1)": Call(0, "abs", (Sum(0, ((False, Call(0, "abs", (name("x"),))), (False, one(1)))),)),
    "1/2 · x": Product(0, (Ratio(0, 1, 2, slashed=True), name("x"))),
    "1 / x": Fraction(0, None, name("x"), slashed=True),
    "x / z / 2": Product(0, (name("x"), Fraction(0, None, name("z")), Fraction(0, None, one(2)))),
    "x · 2": Product(0, (name("x"), one(2))),
    "0_n": Ascribed(0, one(0), name("n")),
    "0_(2 n)": Ascribed(0, one(0), Product(0, (one(2), name("n")))),
    "[i]": Squared(0, name("i")),
    "[x, 1; 0, z]_ij": Matrix(0, ((name("x"), one(1)), (one(0), name("z"))), (name("i"), name("j"))),
    "⌊c / 2⌋": Floor(0, name("c"), one(2)),
    "{i < n: x; i ≥ n: 0}": Cases(
        0, name("x"), Relation(0, "lt", name("i"), name("n")), one(0), Relation(0, "ge", name("i"), name("n")), True
    ),
}  # fmt: skip
ALONE = {
    ("argument", "i ↦ x"): Function(0, (Place(0, i),), name("x")),
    ("argument", "(i < n, t ∈ ℝ) ↦ x"): Function(
        0, (Place(0, i, name("n"), "lt"), Place(0, t, Domain(0, "real"), "in")), name("x")
    ),
    ("members", "x_i, c ∈ ℝ≥0"): Members(0, (name("x", label="i"), name("c")), "in", Domain(0, "nonnegative")),
}
WRONG = {
    "x+1": "a space",
    "x +1": "a space",
    "− x": "no space behind a minus in front",
    "x  z": "no formula has ' ' here",
    "x ": "neither starts nor ends with a space",
    "x=1": "needed a space before '='",
    "z_(i,0)": "needed a space before '0'",
    "z_( i, 0)": "found a space before 'i'",
    "z_(i, j)": "letters in a subscript, or one number, need no brackets",
    "z_(0)": "letters in a subscript, or one number, need no brackets",
    "z_00": "00 is not how a number is written",
    "x^(2)": "this exponent needs no brackets",
    "x^(z)": "this exponent needs no brackets",
    "x^d_k": "found 'd_k', needed a name of letters, or brackets",
    "x⁰²": "02 is not how a number is written",
    "z'²": "a prime is a superscript too",
    "(z'_i)²": "nothing needs these brackets",
    "√(d_k)": "a word needs no brackets here",
    "√J(z)_i": "needed brackets around more than a word",
    "0_(n)": "a word needs no brackets here",
    "Σ_(l) 1": "just a range, or more than a letter, stands in brackets",
    "Σ_pos 1": "just a range, or more than a letter, stands in brackets",
    "Σ_(u ∈ U) 1": "a sum runs over the indices below a size",
    "𝔼_(l < n)[x]": "needed a probability space",
    "abs(x)": "needed bars around what has none in it",
    "|x |": "needed a term",
    "| x|": "needed no space behind a bar",
    "|x + |z||": "abs(...) around what has bars in it",
    "(1/2) x": "nothing needs these brackets",
    "x 1/2": "needed ·",
    "x (1 / z)": "this factor belongs behind a slash",
    "1 / x / z": "needed brackets around 1 / ... here",
    "1/ 2": "needed a whole number",
    "x/z": "needed a space",
    "x · z": "needed no · here",
    "x 2": "needed ·",
    "[x, 1]": "needed the subscripts of a table",
    "{i = n: x; else: 0}": "needed a sign of a relation",
    "z_'": "no name is",
    "x → 1": "found '→', needed the end",
    "#x": "no formula has '#' here",
    "": "needed a term",
}  # fmt: skip


@pytest.mark.parametrize("text", TREES)
def test_tree(text):
    assert bare(read(text)) == bare(TREES[text])


@pytest.mark.parametrize(("form", "text"), ALONE)
def test_what_stands_alone(form, text):
    assert bare(read_alone(text, form)) == bare(ALONE[form, text])


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text):
    with pytest.raises(UnreadableError) as caught:
        read(text)
    assert WRONG[text] in str(caught.value)


def test_only_names_tell_where_subscripts_start():
    assert bare(knowing(read_alone, [Name("z", "q")])("z_q")) == bare(name("z", label="q"))
    assert bare(knowing(read_alone, [z])("z_q")) == bare(at(z, name("q")))
    assert bare(knowing(read_alone, [z])("d/dz_q [z_q]")) == bare(
        Derivative(0, Name("z", "q"), name("z", label="q"), None)
    )


def test_what_is_declared_ends_in_the_letters_of_its_places():
    (entry,) = knowing(read_alone, [i, Name("j")])("W_Q_ij ∈ ℝ", "members").entries
    assert (entry.name, bare(entry.subscripts)) == (Name("W", "Q"), bare((name("i"), name("j"))))
    (entry,) = knowing(read_alone, [i])("f__i ∈ ℝ", "members").entries
    assert entry.subscripts is None
    (entry,) = knowing(read_alone, [t])("d_k(t) ∈ ℝ", "members").entries
    assert (entry.name, entry.subscripts) == (Name("d", "k"), None)


def test_every_form_is_there():
    texts = ("x = 1", "x", "x", "x, 1", "x < n", "i < n, x", "x := 1")
    assert all(read(text, form) for text, form in zip(texts, FORMS, strict=True))


def test_depth():
    with pytest.raises(UnreadableError, match="too deep to be read"):
        read("√(" * 3000 + "x" + ")" * 3000)

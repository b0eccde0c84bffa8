"""Which symbol a name stands for."""

import pytest

from proofs.notation import ANY_REAL, curve, family, index, size, variable
from proofs.render import Notation
from proofs.render.inverse.symbol_table import Table
from proofs.render.inverse.symbols import DeclarationError, Declared, defined_like, looks_like, matched, nameless
from proofs.render.inverse.tree import Name
from proofs.render.names import GREEK, stem
from proofs.terms import Family, IndexMap, Term

from ..random_terms import SYMBOLS, exp_named, softmax
from ..test_injective import PAGE
from .spelled_table import table_of

n = size("n")


def test_names_look_like_their_symbols():
    for name, symbol in table_of(PAGE).entries.items():
        alike = looks_like if isinstance(symbol, Term | Family | IndexMap) else defined_like
        assert alike(name, symbol)
        assert alike(name._replace(primes=name.primes + 1), symbol)
        assert not alike(name._replace(label=name.label + "b"), symbol)
        assert not alike(name._replace(upright=not name.upright), symbol)
    assert len(table_of(PAGE).entries) == len(SYMBOLS)


@pytest.mark.parametrize("word", GREEK)
def test_greek_words(word):
    assert looks_like(Name(stem(word)), variable(word))
    assert looks_like(Name(stem(word), "k"), variable(f"{word}_k"))
    assert not looks_like(Name(word), variable(word))


def test_a_made_up_name_may_look_like_any_letter():
    made_up = Term("index", (n,), "001i")
    assert looks_like(Name("i"), made_up) and looks_like(Name("k"), made_up)
    assert not looks_like(Name("i", "k"), made_up)


def test_the_derivative_of_a_curve():
    path = curve("V_t", n)
    assert looks_like(Name("V", "t", dotted=True), path.derivative)
    assert not looks_like(Name("d", "V_t"), path.derivative)
    assert looks_like(Name("d", "V"), family("d_V", n))
    assert not looks_like(Name("V", dotted=True), family("d_V", n))


def test_definitions_are_upright():
    assert defined_like(Name("softmax", upright=True), softmax)
    assert defined_like(Name("exp", primes=1, upright=True), exp_named)
    assert not defined_like(Name("softmax"), softmax)


def test_names_that_look_alike():
    one, other, third = variable("omega"), variable("ω"), variable("omega", "positive")
    spelled = Notation([one, other, third])
    names = table_of(spelled).entries
    kinds = [Declared(name, nameless(symbol)) for name, symbol in names.items()]
    assert matched(kinds, [third, other, one]) == names
    with pytest.raises(DeclarationError, match="ω is declared as a variable in the domain real"):
        matched(kinds[:1] * 2, [one, other])


def test_a_name_for_two_things():
    table = Table({Name("i"): index("i", n)})
    assert table.with_({Name("i"): index("i", n)}) == table
    with pytest.raises(DeclarationError, match="i would stand for two things"):
        table.with_({Name("i"): index("i", size("M"))})
    assert nameless(curve("y", n)) == Family("", (n, ANY_REAL), "real", Family("", (n, ANY_REAL)))

"""The lines that define names."""

import pytest

from proofs.definitions import Definition
from proofs.notation import eq, exp, family, index, lt, ne, size, sum_, variable
from proofs.registry import all_claims
from proofs.render import Latex, Notation
from proofs.render.declared import defined, definitions_used
from proofs.render.inverse import DeclarationError, Table, UnreadableError
from proofs.render.inverse.definitions import defined_name, local_table, table_of, wanted
from proofs.render.inverse.formulas import formula
from proofs.render.inverse.tree import Name
from proofs.render.parts import Formula

n = size("n")
i, l, z, x = index("i", n), index("l", n), family("z", n), variable("x")
softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])))
share = Definition("share", [z, i, x], x * softmax(z, i), requires=[lt(0, x), ne(x, 1)])
crowded = Definition("n", [variable("n"), family("i", n), i], variable("n") * family("i", n)[i] / n)
NAMES = {Name("softmax", upright=True): softmax, Name("share", upright=True): share}


def line(definition, notation=None):
    parts = defined(definition, Latex, notation or Notation([definition, *definitions_used([definition.body])]))
    return [part.text for part in parts if isinstance(part, Formula)]


def read(texts, definition, names=NAMES):
    own = local_table(texts, definition, Table({**names, defined_name(texts[0], Table({})): definition}))
    return tuple(formula(text, own) for text in texts)


@pytest.mark.parametrize("definition", [softmax, share, crowded])
def test_a_line(definition):
    assert read(line(definition), definition) == wanted(definition)


def test_what_a_line_has_to_say():
    assert wanted(share) == (eq(share(z, i, x), x * softmax(z, i)), lt(0, x), ne(x, 1))


@pytest.mark.slow
def test_every_definition_of_the_catalogue():
    terms = [t for c in all_claims() for t in (c.theorem.conclusion, *(s.after for s in c.theorem.steps))]
    found = definitions_used(terms)
    assert len(found) > 100
    for definition in found:
        used = Notation([definition, *definitions_used([definition.body, *definition.requires])])
        texts = line(definition, used)
        names = {Name(used[d].stem, primes=used[d].primes, upright=True): d for d in used.symbols()}
        assert read(texts, definition, names) == wanted(definition)


def test_a_changed_line_says_something_else():
    (text,) = line(softmax)
    assert "z_{l}" in text
    assert read([text.replace("z_{l}", "z_{i}")], softmax) != wanted(softmax)


@pytest.mark.parametrize(
    "text",
    [
        r"\operatorname{softmax}(z)_{i}",
        r"\operatorname{softmax}(z)_{i} \le z_{i}",
        r"\operatorname{softmax}(i)_{z} = 1",
        r"\operatorname{softmax}(z_{i})_{i} = 1",
        r"\operatorname{softmax}(x)_{i} = 1",
        r"\operatorname{softmax}_{i} = 1",
    ],
)
def test_no_line_of_this_definition(text):
    with pytest.raises(UnreadableError):
        read([text], softmax)


def test_names_of_a_page():
    texts = [line(softmax)[0], line(share)[0]]
    assert table_of(texts, [share, softmax], Table({})).entries == NAMES
    with pytest.raises(DeclarationError, match="not defined: share"):
        table_of(texts[:1], [share, softmax], Table({}))
    with pytest.raises(DeclarationError, match="share is defined, and the theorem speaks of no such definition"):
        table_of(texts, [softmax], Table({}))
    with pytest.raises(DeclarationError, match="softmax is defined"):
        table_of([texts[0]] * 2, [softmax], Table({}))

"""What is printed or read once and kept is what would be printed or read anew: of this printer, these names, this page."""

import pytest

from proofs.definitions import Definition
from proofs.notation import i, j, l, sum_, variable, z
from proofs.registry import all_claims
from proofs.render import Latex, Notation, Typst, Unicode
from proofs.render.catalogues import in_language, languages
from proofs.render.declared import defined
from proofs.render.gate import GateError, checked
from proofs.render.inverse import Table
from proofs.render.inverse.definitions import reader
from proofs.render.inverse.tree import Name
from proofs.render.latex import LatexFromOne
from proofs.render.page_items import items
from proofs.render.parts import Formula
from proofs.render.theorem import page, pages
from proofs.render.typst import TypstFromOne
from proofs.render.unicode import UnicodeFromOne

from .kept import forget

PRINTERS = (Latex, LatexFromOne, Typst, TypstFromOne, Unicode, UnicodeFromOne)
CATALOGUES = [in_language(language) for language in languages()]
c = variable("c")
softmax = next(claim.theorem for claim in all_claims() if claim.name == "softmax.positive")


def formulas(parts):
    return [part.text for part in parts if isinstance(part, Formula)]


@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_a_page_is_the_same_whatever_was_printed_before(claim):
    theorem, fresh = claim.theorem, {}
    for printer in PRINTERS:
        for catalogue in CATALOGUES:
            forget()
            fresh[printer, catalogue] = page(theorem, printer, catalogue)
    for catalogue in reversed(CATALOGUES):
        for printer in reversed(PRINTERS):
            assert page(theorem, printer, catalogue) == fresh[printer, catalogue]
    for printer in PRINTERS:
        assert pages(theorem, printer, CATALOGUES) == [fresh[printer, catalogue] for catalogue in CATALOGUES]


def test_formulas_are_printed_once_for_all_languages(monkeypatch):
    printed = []
    piece = Latex.piece

    def told(self, term, scope):
        if not scope:
            printed.append(term)
        return piece(self, term, scope)

    monkeypatch.setattr(Latex, "piece", told)
    pages(softmax, Latex, CATALOGUES[:1])
    once = len(printed)
    forget()
    printed.clear()
    pages(softmax, Latex, CATALOGUES)
    assert len(CATALOGUES) > 1 and once < len(printed) < 1.5 * once  # the ranges of declarations are said in each


def test_a_printer_keeps_what_this_very_term_is():
    """Equal terms may have bound variables of other names."""
    one, other = sum_(j, z[j]), sum_(l, z[l])
    printer = Unicode(Notation.of(one))
    assert one == other
    assert [printer(one), printer(other), printer(one)] == ["Σ_j z_j", "Σ_l z_l", "Σ_j z_j"]


def test_a_printer_of_more_symbols():
    printer = Unicode(Notation.of(z[i]))
    assert printer.extended(z[i]) is printer
    assert printer.extended(z[i], symbols=[z]) is printer
    more = printer.extended(z[j])
    assert more is not printer and type(more) is Unicode
    assert more.notation == Notation.of(z[i]).extended(z[j]) != printer.notation
    assert isinstance(LatexFromOne(Notation.of(z[i])).extended(z[j]), LatexFromOne)


def test_tables_are_equal_where_they_spell_the_same():
    assert Notation.of(z[i]) == Notation.of(z[i]) != Notation.of(z[j])
    assert hash(Notation.of(z[i])) == hash(Notation.of(z[i]))
    assert Notation([i, z]) != Notation([z, i])  # they are declared in another order
    one, other = Definition("f", [c], c), Definition("f", [c], c)
    assert Notation([one, other]).only([other]) != Notation([other])  # there it has a prime


def test_a_definition_is_named_as_on_this_page():
    one, other = Definition("f", [c], c + 1), Definition("f", [c], c + 2)
    above = Definition("g", [c], one(c) * other(c))
    for _ in range(2):
        assert formulas(defined(above, Unicode, Notation([one, other, above]))) == ["g(c) = f(c) f'(c)"]
        assert formulas(defined(above, Unicode, Notation([other, one, above]))) == ["g(c) = f'(c) f(c)"]
        assert formulas(defined(above, Latex, Notation([other, one, above])))[0].startswith(r"\operatorname{g}(c) = ")


def test_an_index_is_counted_from_where_the_printer_counts():
    first = Definition("total", [z], sum_(l, z[l]))
    for _ in range(2):
        zero, one = (formulas(defined(first, p, Notation([first])))[0] for p in (Latex, LatexFromOne))
        assert "l=0" in zero and "l=1" in one


# --- what is read


def line(name, body):
    return rf"\operatorname{{{name}}}(c) = {body}"


def test_a_line_is_read_with_the_definitions_of_this_page():
    one, other = Definition("f", [c], c + 1), Definition("f", [c], c + 2)
    above, below = Definition("g", [c], one(c)), Definition("g", [c], other(c))
    f, g = Name("f", upright=True), Name("g", upright=True)
    text = line("g", r"\operatorname{f}(c)")
    for _ in range(2):
        assert reader([text], above, Table({f: one, g: above}))(text).args == (above(c), one(c))
        assert reader([text], below, Table({f: other, g: below}))(text).args == (below(c), other(c))
        assert reader([text], above, Table({f: other, g: above}))(text).args == (above(c), other(c))


def test_a_line_is_read_with_the_numbering_of_this_page():
    total = Definition("total", [z], sum_(l, z[l]))
    table = Table({Name("total", upright=True): total})
    wanted = (total(z), total.body)
    texts = {p: formulas(defined(total, p, Notation([total]))) for p in (Latex, LatexFromOne)}
    for _ in range(2):
        for first, printer in enumerate((Latex, LatexFromOne)):
            own = table._replace(first=first)
            assert reader(texts[printer], total, own)(texts[printer][0]).args == wanted
            other = texts[LatexFromOne if printer is Latex else Latex]
            with pytest.raises(ValueError, match="the first index is"):
                reader(other, total, own)(other[0])


def test_another_text_in_a_known_line_is_read_anew():
    """The line was read on an earlier page; a change of one of its texts is seen all the same."""
    jacobian = next(claim.theorem for claim in all_claims() if claim.name == "softmax_jacobian.jacobian")
    found = page(jacobian, Latex)
    for _ in range(2):
        assert checked(found, jacobian) > 0
        (line_, *rest) = found.definitions
        changed = tuple(
            p._replace(text=p.text.replace("z_{l}", "z_{i}")) if isinstance(p, Formula) else p for p in line_
        )
        assert changed != line_
        with pytest.raises(GateError, match=r"says relation|and what was proved is|needed"):
            checked(found._replace(definitions=(changed, *rest)), jacobian)


def test_an_exchanged_text_of_a_declaration_introduces_something_else():
    for item in items(page(softmax, Latex), softmax):
        if item.where.endswith("for all") and item.text.startswith("1"):
            assert item.read(item.text) == item.needed
            assert item.read(item.text.replace("1", "2")) != item.needed
            break
    else:
        pytest.fail("no size is declared")

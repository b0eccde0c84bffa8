"""The source of a document: everything that a page has, in order, and nothing that the gate has not seen."""

import re
from functools import cache

import pytest

from proofs.axioms import AXIOMS
from proofs.claims import CLAIMS
from proofs.registry import all_claims
from proofs.render import RenderError, Typst
from proofs.render.catalogues import in_language
from proofs.render.document import book, source
from proofs.render.document.family_pages import alike
from proofs.render.document.theorem_pages import defined_name
from proofs.render.page_formulas import formulas_of
from proofs.render.page_items import GateError
from proofs.render.parts import Formula, Words
from proofs.render.theorem import page

FAMILIES = ("softmax", "relative_position", "softmax_jacobian")


@cache
def theorems():
    return [c.theorem for c in all_claims() if c.family in FAMILIES]


@pytest.fixture(scope="module", params=["en", "ko"])
def printed(request):
    done = []
    return source(theorems(), in_language(request.param), progress=lambda k, of: done.append((k, of))), done


def test_every_formula_is_there(printed):
    found, _ = printed
    for theorem in theorems():
        assert all(f"${formula}$" in found.text for formula in formulas_of(page(theorem, Typst)))


def test_counts_and_progress(printed):
    found, done = printed
    assert found.counts.theorems == len(theorems()) and found.counts.families == 4
    assert found.counts.steps == sum(len(t.steps) for t in theorems())
    assert found.counts.refusals == sum(len(t.near_misses) for t in theorems())
    assert found.counts.formulas > 500
    whole = len(theorems()) + len(AXIOMS)  # relative positions rest on both
    assert done[0] == (0, whole) and done[-1] == (whole, whole)


def test_chapters_are_numbered(printed):
    found, _ = printed
    chapters = re.findall(r'^#chapter\("[^"]*", "(\d)", "(\w+)"', found.text, re.MULTILINE)
    assert chapters == [("1", "relative_position"), ("2", "softmax"), ("3", "softmax_jacobian"), ("4", "axioms")]
    assert '#theorem("3.1", "softmax_jacobian.jacobian"' in found.text


def test_claims_and_index(printed):
    found, _ = printed
    names = {t.name for t in theorems()}
    decided = [c for c in CLAIMS if names & set(c.theorems)]
    assert decided and all(f'("{c.id}", ' in found.text for c in decided)
    assert all(f'("{n.partition(".")[2]}", "{n.partition(".")[0]}", "{n}", )' in found.text for n in names)


def test_only_theorems_of_the_document_are_linked(printed):
    found, _ = printed
    labelled = set(re.findall(r'^#theorem\("[\d.]+", "([\w.]+)"', found.text, re.MULTILINE))
    linked = set(re.findall(r'(?:cited|with-page)\("([\w.]+)"\)', found.text))
    assert linked <= labelled and 'code("position_similarity' in found.text


def test_a_formula_that_was_not_set_is_refused(monkeypatch):
    monkeypatch.setattr(book.FamilyPages, "chapter", lambda *_: iter(()))
    with pytest.raises(RenderError, match=r"the document lacks .* of softmax\.at_most_one"):
        source([t for t in theorems() if t.name == "softmax.at_most_one"])


def test_a_page_that_says_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(Typst, "minus", "+")
    with pytest.raises(GateError, match="softmax"):
        source([t for t in theorems() if t.name == "softmax_jacobian.jacobian"])


def test_definitions_that_read_alike_are_printed_once():
    one, two, other = ((Formula(f'"{n}"(z)_(i) = {v}'),) for n, v in (("s", 1), ("t", 2), ("t", 3)))
    assert alike([(one, two), (other, one)]) == [one]
    assert defined_name((Formula('"log-softmax"\'(z)_(i) = 1'), Words(", where"))) == "log-softmax'"
    assert defined_name((Formula("sigma_(i) = 1"),)) == "sigma"

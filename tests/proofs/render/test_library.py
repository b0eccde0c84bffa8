"""What is on a site, and what rests on what there."""

import pytest

from proofs.commands import graph
from proofs.registry import all_claims
from proofs.render.chapters import CHAPTERS, chapters
from proofs.render.library import Library
from proofs.render.names import RenderError

CLAIMS = all_claims()


def theorems(*families):
    return [c.theorem for c in CLAIMS if c.family in families]


def test_it_has_the_axioms_that_its_theorems_rest_on():
    library = Library(theorems("relative_position"))
    assert "axioms.pi_irrational" in library.theorems
    assert library.link("axioms.pi_irrational") == "axioms.html#pi_irrational"


def test_citations_are_those_of_the_graph_command():
    found = Library(theorems("softmax", "softmax_jacobian", "relative_position"))
    whole = graph.reached(found.theorems.values())
    assert set(found.citations) == {e for e in graph.edges(whole) if e[1] in found.theorems}


def test_claims_that_a_failed_proof_leaves_open_are_left_out(monkeypatch):
    softmax = theorems("softmax_jacobian")
    assert [claimed.id for claimed in Library(softmax).claims] == ["C11", "C12", "C13"]
    monkeypatch.setattr("proofs.claims._holds", lambda claim: claim.name != "softmax_jacobian.vjp")
    library = Library(softmax)
    assert [claimed.id for claimed in library.claims] == ["C11", "C12"]
    assert library.decided["softmax_jacobian.gradient_is_jacobian_times_cotangent"] == []


def test_only_what_is_there_is_linked():
    library = Library(theorems("softmax_jacobian"))
    assert library.link("softmax_jacobian.jvp") == "softmax_jacobian.html#jvp"
    assert library.link("softmax.positive") is None
    assert library.link("by the laws of finite sums") is None


def test_a_site_of_nothing_is_refused():
    with pytest.raises(RenderError, match="at least one theorem"):
        Library([])


def test_every_family_has_a_chapter():
    families = {c.family for c in CLAIMS} | {"axioms"}
    named = [name for _, names in CHAPTERS for name in names.split()]
    assert sorted(named) == sorted(families)


def test_a_family_of_no_chapter_comes_last():
    assert list(chapters(["softmax", "mine"])) == [("softmax", ["softmax"]), ("others", ["mine"])]


@pytest.mark.slow
def test_all_citations_are_those_of_the_graph_command():
    found = Library([c.theorem for c in CLAIMS])
    assert found.citations == graph.edges(graph.reached(c.theorem for c in CLAIMS))

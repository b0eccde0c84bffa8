"""Markdown: formulas where Markdown leaves them alone, links, and a text that is read back."""

import re

import pytest

from proofs.axioms import AXIOMS
from proofs.claims import CLAIMS
from proofs.registry import all_claims
from proofs.render import markdown
from proofs.render.catalogues import in_language, languages
from proofs.render.gate import GateError

from .tex.samples import NAMES, theorem

JACOBIAN = "softmax_jacobian.jacobian"
CITING = "online_softmax.online_softmax_equals_softmax"


def test_a_section():
    found = markdown.section(theorem(JACOBIAN))
    assert found.formulas == 21
    assert found.text.startswith(
        "## jacobian\n\n*The Jacobian of softmax, derived from its definition.*\n\nFor all $`1 "
    )
    assert "**2.** by the rules of differentiation\n\n```math\n= \\frac{" in found.text
    assert r"\mathop{\text{J}}\nolimits(z)_{i j}" in found.text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", languages())
def test_nothing_that_github_does_not_allow(name, language):
    text = markdown.section(theorem(name), (), in_language(language)).text
    assert not re.search(r"\\(operatorname|mbox|!|rlap)|\$\$", text)
    assert not re.search(r"\w\$`|`\$[^\W_]", re.sub(r"```math.*?```", "", text, flags=re.DOTALL))


def test_cited_theorems_are_links_where_they_are_written_too():
    cited = "online_softmax.online_softmax_recurrence"
    link = r"[online\_softmax.online\_softmax\_recurrence](online_softmax.md#online_softmax_recurrence)"
    assert f"by {link} at" in markdown.section(theorem(CITING), {cited}).text
    assert f"by `{cited}` at" in markdown.section(theorem(CITING)).text


def test_a_family_and_the_index():
    sections = [markdown.section(theorem(name)) for name in NAMES[:2]]
    text = markdown.family_file("softmax_jacobian", sections)
    assert text.startswith("# Softmax: Jacobian\n")
    assert text.count("\n## ") == 2
    assert "[Bridle 1990](https://doi.org/10.1007/978-3-642-76153-9_28)" in text
    index = markdown.index({"softmax_jacobian": sections})
    assert "## [Softmax: Jacobian](softmax_jacobian.md)" in index
    assert r"- [softmax\_jacobian.jacobian](softmax_jacobian.md#jacobian): The Jacobian of softmax" in index


def test_claims():
    text = markdown.claims_file(CLAIMS, {JACOBIAN})
    assert re.findall(r"^## (C\d+)$", text, re.MULTILINE) == [claimed.id for claimed in CLAIMS]
    assert "## C14\n\n**proved as corrected.** The source says: as the entries of s approach 0 or 1" in text
    assert (
        "*What holds:* For any n ≥ 1.\n\n*Decided by:* [softmax\\_jacobian.jacobian](softmax_jacobian.md#jacobian)\n"
        in text
    )
    assert "*Counterexample:* two equal logits: J<sub>00</sub> = 1/4 at every scale" in text
    assert "`softmax_bounds.entries_near_vertex`" in text
    index = markdown.index({"softmax_jacobian": [markdown.section(theorem(JACOBIAN))]}, CLAIMS[10:11])
    assert "- [C11](claims.md#c11), proved: ds<sub>i</sub>/dz<sub>j</sub> = " in index
    assert "**바로잡아 증명됨.** 원본의 말: " in markdown.claims_file(CLAIMS, (), in_language("ko"))


def test_axioms_have_their_source():
    found = markdown.section(AXIOMS[0].theorem)
    assert "Cited, and not proved here: Lambert 1761; [Niven 1947](https://doi.org/" in found.text
    assert "# Axioms" in markdown.family_file("axioms", [found])


def test_a_formula_that_is_lost_or_changed_is_refused(monkeypatch):
    block = markdown._block
    for wrong in (lambda f, s="": block(f, s).replace("+", "-"), lambda f, s="": "" if s else block(f, s)):
        monkeypatch.setattr(markdown, "_block", wrong)
        with pytest.raises(GateError, match=f"{JACOBIAN}, formula \\d+ in Markdown, is another one or is missing"):
            markdown.section(theorem(JACOBIAN))


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
def test_every_theorem(language):
    names = {claim.name for claim in all_claims()}
    found = [markdown.section(claim.theorem, names, in_language(language)) for claim in all_claims()]
    assert sum(s.formulas for s in found) > 10_000

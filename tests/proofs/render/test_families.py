"""What a family says of itself, read off the header of its file."""

import pytest

from proofs.axioms import AXIOMS
from proofs.registry import families
from proofs.render import RenderError
from proofs.render.catalogues import files
from proofs.render.families import about, sections, source_of
from proofs.theorems.softmax import positive


def test_about_a_family():
    found = about("softmax_jacobian")
    assert found.title == "Softmax: Jacobian"
    assert found.introduction == "The Jacobian of softmax and its products with vectors, from the definition."
    assert found.scope.startswith(
        "Any n >= 1, real logits; a partial derivative is the derivative along z_l + t delta_lj"
    )
    assert found.reference.endswith("Propositions 1 and 2; Vaswani et al. 2017, section 3.2.1.")
    assert found.hypothesis is None
    assert about("relative_position").hypothesis.startswith("(H) for every integer u != 0 some w_m u")


def test_about_the_axioms():
    found = about("axioms")
    assert found.title == "Axioms" and found.scope is None and found.reference is None
    assert found.introduction.startswith("Facts that are cited and not proved here")
    assert source_of(AXIOMS[0].theorem).startswith("Lambert 1761")


@pytest.mark.parametrize("family", families())
def test_every_family_has_its_sections(family):
    found = sections(family)
    assert found["introduction"].endswith(".") and found["scope"].endswith(".") and found["reference"].endswith(".")
    assert "  " not in "".join(found.values())


def test_every_family_has_a_title_and_no_two_the_same():
    titles = {key.removeprefix("titles."): t for key, t in files.messages("en").items() if key.startswith("titles.")}
    assert set(titles) == {*families(), "axioms"}
    assert len(set(titles.values())) == len(titles)
    korean = [text for key, text in files.messages("ko").items() if key.startswith("titles.")]
    assert len(set(korean)) == len(titles)


def test_what_is_no_family_or_no_axiom_is_refused():
    with pytest.raises(RenderError, match="no family 'magic' in proofs/theorems"):
        about("magic")
    with pytest.raises(RenderError, match=r"softmax\.positive is proved here and has no source"):
        source_of(positive.theorem)

"""What math-core spells otherwise is mended."""

from xml.etree.ElementTree import fromstring, tostring

import pytest

pytest.importorskip("math_core", reason="formulas become MathML by math-core")

from proofs.render.names import RenderError
from proofs.render.site.font import covered, drawn, require_covered
from proofs.render.site.mathml import _written, mathml


def tokens(latex, tag):
    return [e.text for e in fromstring(mathml(latex)).iter(tag)]


def test_a_hyphen_in_a_name_is_no_minus():
    assert tokens(r"\operatorname{layer-norm}(x)", "mi")[0] == "layer-norm"
    assert tokens(r"K_{\mathrm{Q\text{-}Z}, i}", "mtext") == ["Q-Z"]
    assert "\u2212" in tokens("x - y", "mo")


def test_a_colon_is_a_sign_with_space_after_it():
    (colon,) = [e for e in fromstring(mathml(r"\forall j\colon p")).iter("mo") if e.text == ":"]
    assert colon.attrib["rspace"] == "0.2778em"


def test_a_function_in_a_table_is_a_name():
    assert "sin" in tokens(r"\begin{bmatrix} \sin(x) & 0 \end{bmatrix}_{i j}", "mi")


def test_a_limit_is_not_applied_to_the_next_letter():
    math = fromstring(mathml(r"\lim_{t \to \infty} f(t) = c"))
    assert "\u2061" not in "".join(math.itertext())


def test_cases_have_no_bracket_at_the_right():
    latex = r"\begin{cases} a, & i = j \\ b, & i \ne j \end{cases}"
    assert [t for t in tokens(latex, "mo") if t not in "{=≠,"] == []


def test_scripts_of_a_bracket_stand_as_those_of_a_letter():
    assert [e[0].text for e in fromstring(mathml("f(x)_{i}")).iter("mpadded")] == [")"]


def test_nothing_of_a_document_stands_in_a_formula():
    for latex in (r"\label{eq:1} x", r"\tag{1} x", r"\href{https://example.org}{x}"):
        with pytest.raises(RenderError):
            mathml(latex)


@pytest.mark.parametrize(
    ("latex", "letter"), [("x", "\U0001d465"), ("h", "ℎ"), (r"\delta", "\U0001d6ff"), (r"\mathrm{d}", "d"), ("2", "2")]
)
def test_a_letter_alone_is_drawn_in_italics(latex, letter):
    (token,) = [e for e in fromstring(mathml(latex)).iter() if e.text]
    assert drawn(token) == letter
    assert letter in covered()


def test_a_letter_without_a_glyph_is_refused():
    math = fromstring("<math><mi>\u0416</mi></math>")
    with pytest.raises(
        RenderError, match=r"the bundled font has no Ж \(U\+0416\), which x needs; add it with proofs/render"
    ):
        require_covered(math, "x")


def test_elements_are_written_as_elementtree_does():
    for latex in (r"\frac{x_{i}}{2} < \sqrt{y}", r"\begin{bmatrix} a & b \\ 0 & 1 \end{bmatrix}_{i j}"):
        assert mathml(latex) == tostring(fromstring(mathml(latex)), encoding="unicode")
    hard = fromstring('<math a="&lt;&quot;&amp;"><mo b="1">&lt;&amp;&gt;"</mo><mspace/><mrow><mn>2</mn></mrow></math>')
    assert _written(hard) == tostring(hard, encoding="unicode")
    assert _written(hard[1]) == "<mspace />"

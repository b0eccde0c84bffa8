"""Formulas and words in running text."""

import pytest

from proofs.render.catalogues import ENGLISH, in_language
from proofs.render.names import RenderError
from proofs.render.parts import Formula, Words
from proofs.render.tex.inline import inline
from proofs.render.tex.layouts import LAYOUTS
from proofs.render.tex.prose import Voice, words
from proofs.render.tex.unlaid import tokens_of, unlaid

from .samples import NAMES, formulas

VOICE = Voice(LAYOUTS["column"], ENGLISH, frozenset({"softmax.sums_to_one", "softmax.sums"}))


def test_a_short_formula_stays_as_it_is():
    assert inline("i < n", 100.0) == r"\(i < n\)"


def test_a_long_one_may_break_after_commas_and_between_factors():
    found = inline(r"W_{\mathrm{K}, j k}, W_{\mathrm{Q}, j k} \in \mathbf{R}", 100.0)
    assert found == r"\(W_{\mathrm{K}, j k},\allowbreak W_{\mathrm{Q}, j k} \in \mathbf{R}\)"


def test_places_that_are_no_good_are_used_where_nothing_else_fits():
    found = inline(r"\operatorname{average}(\operatorname{normalised}(x, \varepsilon))", 75.0)
    assert (
        found
        == r"\(\operatorname{average}(\allowbreak \operatorname{normalised}(\allowbreak x,\allowbreak \varepsilon))\)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_inline_says_the_same(name):
    for formula in formulas(name):
        assert unlaid(tokens_of(inline(formula, 110.0))[1:-1]) == unlaid(tokens_of(formula))


def test_words():
    assert words("a_b & 100% of {x}") == r"a\_b \& 100\% of \{x\}"
    assert words("x < y, sin²") == r"x \ensuremath{<} y, sin\ensuremath{^2}"
    assert words("by rms_norm.jacobian now") == r"by rms\_\allowbreak{}norm.\allowbreak{}jacobian now"
    assert words("정의에 의해") == "정의에 의해"
    with pytest.raises(RenderError, match=r"no LaTeX for '⇒' in running text; add it in proofs/render/tex/prose.py"):
        words("a ⇒ b")


def test_a_cited_theorem_has_its_number_where_the_document_has_it():
    found = VOICE.running((Words("by "), Words("softmax.sums_to_one"), Words(" at "), Formula("z := y")))
    assert found == (
        r"by \ifcsname r@thm:softmax.sums_to_one\endcsname Theorem~\ref{thm:softmax.sums_to_one}"
        r"\else \texttt{softmax.\allowbreak{}sums\_\allowbreak{}to\_\allowbreak{}one}\fi{} at \(z := y\)"
    )
    assert "정리~" in Voice(LAYOUTS["column"], in_language("ko")).named("softmax.sums_to_one")


def test_the_longer_of_two_names_is_meant():
    found = VOICE.naming("the left side of softmax.sums_to_one does not occur")
    assert found.startswith(r"the left side of \ifcsname r@thm:softmax.sums_to_one\endcsname")
    assert found.endswith(r"\fi{} does not occur")

"""Whole pages in Korean: the same formulas in the same places, and no English around them."""

import re

import pytest

from proofs.registry import all_claims
from proofs.render import Latex, Typst, Unicode
from proofs.render.catalogues import CatalogueError, in_language
from proofs.render.declared import definitions_used
from proofs.render.page_formulas import formulas_of
from proofs.render.parts import Formula, Words, plain
from proofs.render.source import latex_source
from proofs.render.theorem import page
from proofs.theorems.attention_scores import score_mean_is_zero
from proofs.theorems.softmax import permutation_equivariance, positive
from proofs.theorems.softmax_jacobian import along_a_curve, jacobian
from proofs.theorems.softmax_saturation import jacobian_vanishes

from .wording import foreign

KOREAN = in_language("ko")


def lines(found):
    """Every line of prose on a page."""
    return [*(d.parts for d in found.symbols), *found.definitions, *(line.reason for line in found.lines)]


def formulas(found):
    return [[part for part in line if isinstance(part, Formula)] for line in lines(found)]


@pytest.mark.parametrize("printer", [Unicode, Latex])
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_formulas_are_the_same_in_both_languages(claim, printer):
    english, korean = page(claim.theorem, printer), page(claim.theorem, printer, KOREAN)
    assert formulas(english) == formulas(korean)
    assert [d.kind for d in english.symbols] == [d.kind for d in korean.symbols]
    assert (english.conclusion, english.hypotheses, english.start) == (
        korean.conclusion,
        korean.hypotheses,
        korean.start,
    )
    assert [r.residue for r in english.refusals] == [r.residue for r in korean.refusals]
    terms = [claim.theorem.conclusion, *claim.theorem.hypotheses, *(s.after for s in claim.theorem.steps)]
    names = {named.name for named in (*claim.theorem.uses, *definitions_used(terms))}
    for line in [*lines(korean), *((Words(r.message),) for r in korean.refusals)]:
        words = "".join(part.text for part in line if isinstance(part, Words))
        for name in sorted(names, key=len, reverse=True):
            words = words.replace(name, "")
        assert foreign("exp log sin cos", words) == []


@pytest.mark.parametrize("printer", [Unicode, Latex, Typst])
@pytest.mark.parametrize("name", ["softmax_saturation.jacobian_vanishes", "attention_scores.tail_is_at_most_pairs"])
def test_no_formula_has_words_of_a_language(name, printer):
    """Neither a limit nor a choice between two branches: signs say it, the same in all of them."""
    (found,) = (claim.theorem for claim in all_claims() if claim.name == name)
    words = [re.findall(r"\b(?:if|else|otherwise|as|and|for|where)\b", f) for f in formulas_of(page(found, printer))]
    assert len(words) > 10 and not any(words)


def test_declarations_in_korean():
    assert [plain(d.parts) for d in page(along_a_curve.theorem, Unicode, KOREAN).symbols] == [
        "1 ≤ n", "i < n", "t ∈ ℝ", "x_j(u) ∈ ℝ (j < n, u ∈ ℝ), u에 대해 미분 가능, 도함수는 ẋ",
    ]  # fmt: skip
    kinds = {d.kind: plain(d.parts) for d in page(permutation_equivariance.theorem, Unicode, KOREAN).symbols}
    assert kinds["permutation"] == "π(j) < n (j < n), 일대일대응"
    kinds = {d.kind: plain(d.parts) for d in page(score_mean_is_zero.theorem, Unicode, KOREAN).symbols}
    assert kinds["space"].endswith(": 확률공간") and kinds["random"].endswith(", 이차 적률은 유한")


def test_reasons_in_korean():
    found = page(jacobian.theorem, Unicode, KOREAN)
    assert found.says == "정의로부터 유도한, 소프트맥스의 야코비안."
    reasons = [plain(line.reason) for line in found.lines]
    assert reasons[0].startswith("정의에 의해: ") and "미분법에 의해" in reasons
    last = page(jacobian_vanishes.theorem, Unicode, KOREAN).lines[-1]
    assert plain(last.reason).startswith("조임 정리에 의해: 아래에서 ")


def test_source_in_korean():
    text = latex_source(positive.theorem, KOREAN)
    assert text.startswith("% softmax.positive: 모든 가중치는 양수이다.\n모든 \\(")
    assert "% 증명되지 않는 명제: " in text and "For " not in text


def test_a_theorem_of_a_user_has_no_korean_sentence():
    with pytest.raises(CatalogueError, match=r"no theorems\.own"):
        KOREAN.theorem("mine.own", "One of mine.")

"""Sentences in Korean: one for each in English, of that very sentence, with its formulas and the words of the glossary."""

import re

import pytest

from proofs.axioms import AXIOMS
from proofs.claims import CLAIMS
from proofs.registry import all_claims, families
from proofs.render.catalogues import CatalogueError, files, in_language
from proofs.render.families import AXIOMS as AXIOMS_FAMILY
from proofs.render.families import about, sections, source_of

from .wording import HANGUL, foreign, lost, missing_terms

KOREAN = in_language("ko")
AXIOM_THEOREMS = [axiom.theorem for axiom in AXIOMS]


def english() -> dict[tuple[str, str], str]:
    """Every sentence that is written in the sources, by the file and the name that a translation has."""
    found = {}
    for family in [*families(), AXIOMS_FAMILY]:
        found |= {(family, name): text for name, text in sections(family).items()}
    for said in [*all_claims(), *AXIOM_THEOREMS]:
        family, _, name = said.name.partition(".")
        found[family, f"theorems.{name}"] = " ".join(said.says.split())
    for axiom in AXIOM_THEOREMS:
        found[AXIOMS_FAMILY, f"sources.{axiom.name.partition('.')[2]}"] = axiom.source
    for claim in CLAIMS:
        parts = {p: getattr(claim, p) for p in ("claim", "sentence", "counterexample")}
        found |= {("claims", f"{claim.id}.{part}"): text for part, text in parts.items() if text}
    return found


ENGLISH = english()
TRANSLATED = {
    (group, name): sentence for group in files.groups("ko") for name, sentence in files.sentences("ko", group).items()
}


def test_every_sentence_is_translated_and_no_other():
    assert set(TRANSLATED) == set(ENGLISH)
    assert sum(name.startswith("theorems.") for _, name in ENGLISH) == len(all_claims()) + len(AXIOMS)


def test_each_translates_the_sentence_that_is_there_now():
    assert {key: sentence.english for key, sentence in TRANSLATED.items()} == ENGLISH


def test_formulas_and_numbers_are_kept():
    assert {key: found for key, s in TRANSLATED.items() if (found := lost(s.english, s.translated))} == {}


def test_no_english_is_left():
    assert {key: found for key, s in TRANSLATED.items() if (found := foreign(s.english, s.translated))} == {}


def test_terms_are_those_of_the_glossary():
    assert {key: found for key, s in TRANSLATED.items() if (found := missing_terms(s.english, s.translated))} == {}


def test_each_is_korean_unless_it_is_a_formula_or_a_citation():
    bare = {key for key, s in TRANSLATED.items() if not HANGUL.search(s.translated)}
    assert bare == {("claims", "C11.claim"), ("axioms", "sources.pi_irrational"), ("loss_bounds", "reference")}


def test_plain_style():
    assert [key for key, s in TRANSLATED.items() if re.search("[습합입됩갑][니]다|[세아어]요", s.translated)] == []


def test_words_of_a_page():
    assert KOREAN.theorem("softmax.positive", "Every weight is positive.") == "모든 가중치는 양수이다."
    assert about("softmax_jacobian", KOREAN).title == "소프트맥스: 야코비안"
    assert about("relative_position", KOREAN).hypothesis.startswith("(H) 모든 정수 u != 0에 대해")
    assert source_of(AXIOM_THEOREMS[1], KOREAN).endswith("4.14절과 표 4.17.1")
    assert in_language("en").theorem("softmax.positive", "As it\nis.") == "As it\nis."


def test_a_missing_or_outdated_translation_is_an_error():
    with pytest.raises(
        CatalogueError, match=r'softmax.toml has no theorems.own: add \[theorems.own\] with en = "New."'
    ):
        KOREAN.theorem("softmax.own", "New.")
    with pytest.raises(CatalogueError, match=r'it says "Each weight is positive\." now: mend both'):
        KOREAN.theorem("softmax.positive", "Each weight is positive.")


@pytest.mark.parametrize(
    ("translated", "fault"),
    [
        ("d_k개의 가중치의 합은 1이다.", []),
        ("d_k개의 가중치의 합은 2이다.", ["1", "2"]),
        ("가중치의 합은 1이다.", ["d_k"]),
        ("d_k개의 가중치의 합은 <= 1이다.", ["<="]),
    ],
)
def test_a_changed_formula_is_seen(translated, fault):
    assert lost("The d_k weights sum to 1.", translated) == fault


def test_english_words_and_other_terms_are_seen():
    assert foreign("The weights sum to log n.", "weights의 합은 log n이다.") == ["weights"]
    assert foreign("The loss.", "ReLU의 손실.") == ["ReLU"]
    assert foreign("Bridle 1990.", "Bridle 1990.") == []
    assert missing_terms("The gradient of two queries.", "두 질의의 그래디언트.") == ["gradient", "query"]
    assert missing_terms("softmax(z) as a subgradient", "서브그래디언트 softmax(z)") == []

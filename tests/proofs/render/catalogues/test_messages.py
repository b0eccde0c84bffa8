"""Messages: the same in every language but for the words, and said as the kernel's own tables say it."""

import re

import pytest

from proofs.render.catalogues import files, in_language, languages
from proofs.render.catalogues.templates import template
from proofs.rules import LIMIT_RULES, RULES

from .wording import HANGUL, after_a_place, foreign

ENGLISH = files.messages("en")
OTHERS = [language for language in languages() if language != "en"]


def test_english_and_korean_are_there():
    assert languages() == ("en", "ko")


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_in_every_language(language):
    found = files.messages(language)
    assert set(found) == set(ENGLISH)
    assert [key for key, text in found.items() if not text.strip()] == []


@pytest.mark.parametrize("language", OTHERS)
def test_places_stand_in_the_same_order(language):
    found = files.messages(language)
    both = {key: (template(text).places, template(found[key]).places) for key, text in ENGLISH.items()}
    assert {key: pair for key, pair in both.items() if pair[0] != pair[1]} == {}


def test_rules_are_said_as_the_kernel_says_them():
    says = {name: rule.says for name, rule in RULES.items()} | dict(LIMIT_RULES)
    assert {key.removeprefix("rules."): text for key, text in ENGLISH.items() if key.startswith("rules.")} == says


HEADINGS = {
    "for_all": "For all", "where": "where", "if": "if", "then": "then", "holds": "holds", "proof": "Proof",
    "near_miss": "Near miss, which the same steps refuse", "if_instead": "if {hypotheses}", "no_hypothesis": "with no hypothesis",
    "rests_on": "Rests on", "rules": "rules", "axioms": "axioms", "earlier_theorems": "earlier theorems", "none": "none",
    "every_size": "for every size", "instance": "an instance",
}  # fmt: skip
SOURCE = {
    "for_all": "For {symbols}:", "for_all_where": "For {symbols}, where", "if": "If", "then": "then",
    "refused": "refused: {conclusion}", "refused_if": "refused: {conclusion} if {hypotheses}", "nothing_is_given": "nothing is given",
}  # fmt: skip


@pytest.mark.parametrize(("file", "texts"), [("headings", HEADINGS), ("source", SOURCE)])
def test_english_around_a_theorem_is_letter_for_letter(file, texts):
    assert {name: ENGLISH[f"{file}.{name}"] for name in texts} == texts


def test_korean_messages_have_no_english_words():
    korean = files.messages("ko")
    left = {key: found for key, text in korean.items() if (found := foreign(ENGLISH[key], template_words(text)))}
    assert {key: found for key, found in left.items() if not key.startswith(("site.", "document."))} == {}


def template_words(text):
    return " ".join(words for words, _ in template(text).pieces)


def test_korean_messages_have_words_where_english_ones_do():
    worded = {key for key, text in ENGLISH.items() if re.search("[a-z]", template_words(text))}
    bare = {key for key in worded if not HANGUL.search(files.messages("ko")[key])}
    signs = {
        "declarations.families",
        "declarations.map",
        "reasons.definition",
        "reasons.cases",
        "lists.last",
        "lists.and",
    }
    assert bare == signs | {"titles.training"}


def test_no_particle_depends_on_a_formula_before_it():
    assert {key: found for key, text in files.messages("ko").items() if (found := after_a_place(text))} == {}
    assert after_a_place("{lower}를 아래에서") and after_a_place("{cited}(으)로") and after_a_place("{a}와 {b}")
    assert after_a_place("{cited}에 의해, {index}의 값") == []


def test_a_list():
    said = in_language("ko").listed
    assert [part.text for part in said(["a", "b", "c"])] == ["a", ", ", "b", ", ", "c"]
    assert [part.text for part in in_language("en").listed(["a", "b", "c"])] == ["a", ", ", "b", " and ", "c"]
    assert [part.text for part in said(["a"])] == ["a"]

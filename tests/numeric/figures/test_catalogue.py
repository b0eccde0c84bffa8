"""Both languages say the same: keys, numbers, markup."""

import re
from pathlib import Path

import pytest

import numeric.figures
from numeric.checker.verdict import Verdict
from numeric.figures.catalogue import LANGUAGES, Words
from numeric.figures.collection import names

ENGLISH, KOREAN = LANGUAGES["en"], LANGUAGES["ko"]
SOURCE = "".join(path.read_text(encoding="utf-8") for path in Path(numeric.figures.__file__).parent.glob("*.py"))


def test_the_keys_are_the_same_and_in_the_same_order():
    assert list(ENGLISH) == list(KOREAN)


@pytest.mark.parametrize("key", ENGLISH)
def test_the_numbers_and_formulas_are_the_same(key):
    for part in (r"\{(\w+)\}", r"\*([^*]+)\*|([_^]\[[^\]]*\])"):
        found = [sorted(set(re.findall(part, messages[key]))) for messages in (ENGLISH, KOREAN)]
        assert found[0] == found[1], key


@pytest.mark.parametrize("key", [key for key in KOREAN if not key.endswith(".start")])
def test_korean_is_korean_and_english_is_not(key):
    assert re.search("[가-힣]", KOREAN[key])
    assert not re.search("[가-힣]", ENGLISH[key])


def test_every_figure_has_its_three_texts_and_every_verdict_its_word():
    assert {f"{name}.{part}" for name in names() for part in ("title", "caption", "alt")} <= ENGLISH.keys()
    assert {f"verdict.{verdict}" for verdict in Verdict} <= ENGLISH.keys()


def test_every_message_is_used():
    fixed = [
        key for key in ENGLISH if not key.endswith((".title", ".caption", ".alt")) and not key.startswith("verdict.")
    ]
    for key in fixed:
        name, _, part = key.partition(".")
        by_pattern = re.search(rf'words\(f"{name}\.\{{\w+\}}"', SOURCE) and f'"{part}"' in SOURCE
        assert f'words("{key}"' in SOURCE or by_pattern, key


def test_a_message_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        Words("en")("nothing")
    with pytest.raises(KeyError):
        Words("en")("position_similarity.start")

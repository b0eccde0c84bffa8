"""Every combination of answers is gone through, and once."""

from collections import Counter

from numeric.agreement.choices import Choices, every_reading


def test_a_question_that_nobody_asks_has_one_reading():
    assert list(every_reading(lambda choices: 7)) == [("", 7)]


def test_all_combinations_are_read_once():
    def read(choices):
        first = choices.choose("a", ("x", "y", "z"))
        assert choices.choose("a", ("x", "y", "z")) == first  # the answer stays
        return first + choices.choose("b", ("0", "1"))

    found = dict(every_reading(read))
    assert sorted(found.values()) == ["x0", "x1", "y0", "y1", "z0", "z1"]
    assert found["a: y, b: 1"] == "y1"


def test_a_question_that_only_one_answer_raises_is_asked_there_only():
    def read(choices):
        return "plain" if choices.choose("a", ("x", "y")) == "x" else choices.choose("b", ("0", "1"))

    assert Counter(value for _, value in every_reading(read)) == Counter(["plain", "0", "1"])


def test_given_answers_are_kept():
    choices = Choices({"a": "y"})
    assert choices.choose("a", ("x", "y")) == "y"
    assert choices.open == []

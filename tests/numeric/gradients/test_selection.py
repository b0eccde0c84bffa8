import pytest

from numeric.gradients.run import all_cases
from numeric.gradients.selection import UsageError, selected

CASES = all_cases()


def names(expression):
    return {case.name for case in selected(CASES, expression)}


def test_names_are_joined_by_words():
    assert names(None) == {case.name for case in CASES}
    softmax = names("softmax")
    assert "softmax.rows" in softmax and "log_softmax.rows" in softmax
    assert names("softmax and not log") == {"softmax.rows", "softmax.columns_cooler"}
    assert names("SOFTMAX and (cooler or warmer)") == {"softmax.columns_cooler", "log_softmax.columns_warmer"}
    assert names("rotary or dropout.quarter") == {"rotary.positions", "dropout.quarter"}


@pytest.mark.parametrize("expression", ["", "and", "softmax and", "(softmax", "softmax rows", "not", "()", "a, b"])
def test_what_is_no_expression_is_refused(expression):
    with pytest.raises(UsageError, match=r"is no expression; needed names with and, or, not and brackets|matches none"):
        selected(CASES, expression)


def test_what_matches_nothing_is_told():
    with pytest.raises(
        UsageError, match=r"-k 'sofmax' matches none of the \d+ cases; there are cases of softmax, log_"
    ):
        selected(CASES, "sofmax")

import numpy as np
import pytest

from numeric.checker.failing import failing_where
from numeric.checker.record import Record


def records(*rows):
    return [Record(name, (), options, None, (), (), (), failed) for name, options, failed in rows]


@pytest.mark.parametrize(
    ("rows", "phrase"),
    [
        ([("a", {}, True)], ""),
        ([("a", {}, False)], ""),
        ([("a", {"t": 1.0}, False), ("b", {"t": 0.5}, True), ("c", {"t": 3.0}, True)], "just those with t=0.5 or 3.0"),
        ([("a, draw 0", {}, True), ("a, draw 1", {}, True), ("b", {}, False)], "just 'a'"),
        ([("a", {"t": 1}, True), ("a", {"t": 2}, True), ("b", {"t": 1}, False), ("c", {"t": 1}, True)], "just 'a' and 'c'"),
        ([("a, draw 0", {}, True), ("a, draw 1", {}, False)], "all but 'a, draw 1'"),
        (
            [("generic, 0", {"t": 1}, True), *((f"generic, {k}", {"t": k % 2 + 1}, False) for k in range(6))],
            "all of them with t=1",
        ),
        (  # structured probes are run at few values, so that theirs say nothing
            [("ties, 0", {"t": 1}, True), *((f"ties, {k}", {"t": k % 2 + 1}, False) for k in range(6))],
            "such as 'ties'",
        ),
        ([("a, 0", {}, True), ("b, 0", {}, True), *((f"a, {k}", {}, False) for k in range(6))], "such as 'a' and 'b'"),
        (
            [("a", {"mask": np.ones(2)}, True), ("b", {"mask": None}, False)],
            "just those with mask=an array",
        ),
    ],
)  # fmt: skip
def test_the_pattern_of_what_fails(rows, phrase):
    assert failing_where(records(*rows)) == phrase


def test_many_kinds_are_cut():
    rows = [(f"{letter}, 0", {}, True) for letter in "abcdefg"] + [(f"{letter}, 1", {}, False) for letter in "abcdefg"]
    assert failing_where(records(*rows)) == "such as 'a', 'b', 'c', 'd' and 3 other kinds"

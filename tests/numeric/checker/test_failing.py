import numpy as np
import pytest

from numeric.checker import check
from numeric.checker.failing import failing_where
from numeric.checker.record import Record, kind_of


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
        (  # a comma in brackets is none between the kind and its draw
            [
                ("generic (3, 5, 7), draw 0", {}, True),
                ("generic (3, 5, 7), axis=0, draw 1", {}, True),
                ("ties", {}, True),
                ("generic (4, 33), draw 0", {}, False),
            ],
            "just 'generic (3, 5, 7)' and 'ties'",
        ),
        ([("24 x 40, 48 columns", {}, True), ("24 x 40, causal", {}, False)], "just '24 x 40, 48 columns'"),
        (
            [("a", {"mask": np.ones(2)}, True), ("b", {"mask": None}, False)],
            "just those with mask=an array",
        ),
    ],
)  # fmt: skip
def test_the_pattern_of_what_fails(rows, phrase):
    assert failing_where(records(*rows)) == phrase


@pytest.mark.parametrize(
    ("probe", "kind"),
    [
        ("generic (3, 5, 7), draw 0", "generic (3, 5, 7)"),
        ("generic (2, 3), base=500.0, eps=1e-05, draw 12", "generic (2, 3)"),
        ("generic ids (2, 3, 5), table (13, 6), scale=None, draw 2", "generic ids (2, 3, 5)"),
        ("generic, 3", "generic"),
        ("one axis (11,)", "one axis (11,)"),
        ("wide (2, 128), hidden 24", "wide (2, 128), hidden 24"),
        ("12 tokens, 12 columns", "12 tokens, 12 columns"),
        ("ties", "ties"),
    ],
)
def test_kinds_of_probes(probe, kind):
    assert kind_of(probe) == kind


def test_the_probes_of_a_run_are_told_by_whole_kinds():
    def wrong_in_three_dimensions(z):
        p = np.exp(z - z.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) * (1.5 if z.ndim == 3 else 1.0)

    probes = ("generic (3, 5, 7)*draw 0", "generic (4, 33)*draw 0", "ties")
    report = check("softmax", wrong_in_three_dimensions, probes=probes)
    assert "1 of 3 probes fail, just 'generic (3, 5, 7)'.\n" in report.finding("values").message


def test_many_kinds_are_cut():
    rows = [(f"{letter}, 0", {}, True) for letter in "abcdefg"] + [(f"{letter}, 1", {}, False) for letter in "abcdefg"]
    assert failing_where(records(*rows)) == "such as 'a', 'b', 'c', 'd' and 3 other kinds"

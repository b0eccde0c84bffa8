"""Verdicts and sentences from numbers."""

import math

import numpy as np
import pytest

from numeric.checker.comparison import Tally, Worst
from numeric.checker.contract import Property
from numeric.checker.telling import (
    finding_of_calls,
    finding_of_property,
    finding_of_repetition,
    finding_of_tally,
    listed,
)

WORST = Worst(0.5, "a", (0,), 1.0, 1.0, 0.5, 1.0)
VANISHES = Property("sum", "softmax.sums_to_one", "does not sum to 1", lambda bench, rng: (np.zeros(1), np.zeros(1)))


def tally(**changes):
    plain = {"worst": WORST, "probes": 3, "entries": 9, "survivors": set()}
    return Tally(**(plain | changes))


def test_within_rounding():
    finding = finding_of_tally("values", tally(), None, [])
    assert (finding.verdict, finding.message) == (
        "pass",
        "within rounding at 3 probes, 9 entries; largest error 0.5 allowances",
    )


def test_beyond_the_typical_bound_passes_with_a_note():
    finding = finding_of_tally("values", tally(typical_ratio=1.7), None, [])
    assert finding.verdict == "pass"
    assert finding.message.endswith("; 1.7 times the typical bound, still within the worst case")


def test_entries_without_a_bound_are_told():
    finding = finding_of_tally("values", tally(unbounded=4), None, [])
    assert finding.message.endswith("; 4 entries have no bound and decide nothing")


@pytest.mark.parametrize(
    ("changes", "unenclosed", "verdict", "message"),
    [
        ({"survivors": {"zeros"}}, [], "inconclusive", "these probes cannot decide: zeros would have passed"),
        ({}, ["b"], "inconclusive", "no exact reference at 'b'"),
        ({"worst": None}, ["b"], "inconclusive", "no exact reference at 'b'"),
        (
            {"failed": ["a"], "survivors": {"zeros"}},
            ["b"],
            "fail",
            "1 of 3 probes fail, as 'a'.\nWorst: index (0,), probe 'a'",
        ),
        ({"failed": ["a"], "not_a_number": ["a"]}, [], "fail", "1 of 3 probes fail, as 'a'; NaN at 'a'.\nWorst:"),
    ],
)
def test_what_is_no_pass(changes, unenclosed, verdict, message):
    finding = finding_of_tally("values", tally(**changes), "softmax_jacobian.vjp", unenclosed)
    assert finding.verdict == verdict
    assert finding.message.startswith(message)
    assert finding.theorem == "softmax_jacobian.vjp"


@pytest.mark.parametrize(
    ("residual", "allowed", "verdict", "ratio"),
    [
        ([0.0, 0.5], [0.0, 1.0], "pass", 0.5),
        ([0.0, -3.0], [1.0, 1.0], "fail", 3.0),
        ([math.nan, 0.0], [1.0, 1.0], "fail", math.inf),
        ([math.inf, 0.0], [math.inf, 1.0], "fail", math.inf),
        ([5.0, 0.0], [math.inf, 1.0], "pass", 0.0),
    ],
)
def test_a_property_in_allowances(residual, allowed, verdict, ratio):
    finding = finding_of_property(VANISHES, [(np.zeros(2), np.ones(2)), (np.array(residual), np.array(allowed))])
    assert (finding.verdict, finding.evidence["ratio"]) == (verdict, ratio)
    if verdict == "fail":
        assert finding.message.startswith("does not sum to 1: index (")
    assert finding.theorem == "softmax.sums_to_one"


@pytest.mark.parametrize(
    ("difference", "verdict"), [(0.0, "pass"), (2.0, "pass"), (2.1, "inconclusive"), (math.inf, "inconclusive")]
)
def test_two_calls(difference, verdict):
    assert finding_of_repetition([0.0, difference]).verdict == verdict


def test_the_commonest_way_to_break_comes_first():
    broken = [("a", "one"), ("b", "two"), ("c", "two")]
    finding = finding_of_calls(9, broken, None)
    assert finding.message == "two (2 of 9 calls, first at 'b'); also: one"
    assert finding.verdict == "error"
    assert finding_of_calls(9, [], "it did not return").verdict == "error"
    assert finding_of_calls(9, [], None).verdict == "pass"


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcde")) == "'a', 'b', 'c' and 2 more"

import math

import numpy as np
import pytest

from numeric.checker.comparison import Tally
from numeric.checker.enclosure import Exact
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.rounding import Rounded

DOUBLE = FORMATS["float64"]


def tally_of(found, truth, allowed):
    truth = np.asarray(truth, dtype=float)
    tally = Tally()
    bound = Rounded(
        truth,
        np.broadcast_to(np.asarray(allowed, dtype=float), truth.shape),
        np.zeros(truth.shape),
        precision_of("float64"),
    )
    tally.add("a probe", np.asarray(found, dtype=float), Exact(truth, 0 * truth, 0 * truth), bound, DOUBLE)
    return tally


def test_the_worst_entry_is_worst_in_units_of_its_allowance():
    tally = tally_of([1.5, 2.001], [1.0, 2.0], [1.0, 1e-6])
    assert tally.worst.index == (1,)
    assert tally.worst.ratio == pytest.approx(1000, rel=1e-5)
    assert tally.failed == ["a probe"]
    text = "index (1,), probe 'a probe': found 2.001, exact 2, error 0.001, allowance 1e-06, ratio 1e+03"
    assert str(tally.worst) == text


def test_within_the_allowance_nothing_fails():
    tally = tally_of([1.5, 2.0], [1.0, 2.0], [1.0, 1e-6])
    assert tally.passed
    assert tally.worst.ratio == pytest.approx(0.5, rel=1e-5)


def test_not_a_number_fails_even_where_nothing_is_bounded():
    tally = tally_of([math.nan, 2.0], [1.0, 2.0], math.inf)
    assert tally.failed == tally.not_a_number == ["a probe"]
    assert tally.unbounded == 2


def test_power_is_what_would_have_been_seen():
    tally = tally_of([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [1e-3, 1e-3, 1e-3])
    assert tally.seen == pytest.approx(0.25e-3, rel=1e-5)
    off = tally_of(np.array([1.0, 2.0, 4.0]) * (1 + 1.01 * tally.seen), [1.0, 2.0, 4.0], [1e-3, 1e-3, 1e-3])
    assert off.failed
    near = tally_of(np.array([1.0, 2.0, 4.0]) * (1 + 0.99 * tally.seen), [1.0, 2.0, 4.0], [1e-3, 1e-3, 1e-3])
    assert near.passed


def test_impostors_that_would_have_passed_are_named():
    assert tally_of([1.0, 2.0], [1.0, 2.0], 1e-6).survivors == set()
    assert tally_of([2.0, 2.0], [2.0, 2.0], 1e-6).survivors == {"constants", "noise"}
    assert tally_of([1e-9, -1e-9], [1e-9, -1e-9], 1e-6).survivors == {"zeros", "constants", "noise"}
    both = tally_of([2.0, 2.0], [2.0, 2.0], 1e-6)
    both.add(
        "b",
        np.zeros(2),
        Exact(np.zeros(2), np.zeros(2), np.zeros(2)),
        Rounded.exact(np.zeros(2), precision_of("float64")),
        DOUBLE,
    )
    assert "zeros" not in both.survivors


def test_a_constant_is_one_that_would_have_passed_at_every_probe():
    def add(tally, truth):
        exact = np.array(truth)
        bound = Rounded(exact, np.array(1e-6), np.array(0.0), precision_of("float64"))
        tally.add("a probe", exact, Exact(exact, 0 * exact, 0 * exact), bound, DOUBLE)

    tally = Tally()
    add(tally, 2.0)
    assert tally.survivors == {"constants"}
    add(tally, 2.0)
    assert tally.survivors == {"constants"}
    add(tally, 3.0)
    assert tally.survivors == set()

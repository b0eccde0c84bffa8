"""The reference is the truth to about 30 digits, and what cannot be enclosed is no reference."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import to_balls
from numeric.checker.contracts import contract_named
from numeric.checker.enclosure import Exact, NoEnclosure, References, deviation, enclose
from numeric.checker.formats import FORMATS

DOUBLE = FORMATS["float64"]


def test_thirty_digits_of_a_softmax():
    z = np.array([[1.0, 2.0, 3.0]])
    exact = References().value(
        contract_named("softmax"), (z,), {"axis": -1, "temperature": 0.5}, np.full((1, 3), 1e-15)
    )
    with mpmath.workdps(50):
        weights = [mpmath.exp(2 * x) for x in (1, 2, 3)]
        for found, low, radius, weight in zip(*(part[0] for part in exact), weights, strict=True):
            truth = weight / sum(weights)
            assert abs(mpmath.mpf(float(found)) + mpmath.mpf(float(low)) - truth) < mpmath.mpf("1e-31")
            assert radius < 1e-31


def test_cancellation_is_met_with_more_bits():
    def cancels(bits):
        one = to_balls(np.array([1e-60]))
        return (np.exp(one) - 1 - one,)  # 5e-121, of which 128 bits show nothing

    [exact] = enclose(cancels, [np.array([1e-130])])
    assert exact.high[0] == pytest.approx(5e-121, rel=1e-12)


def test_what_stays_wide_is_refused():
    with pytest.raises(NoEnclosure, match="could not be enclosed with 4096 bits"):
        enclose(lambda bits: (np.array([arb(1, 0.5)], dtype=object),), [np.array([1e-10])])


def test_deviation_is_a_lower_bound():
    exact = Exact(np.array([1.0]), np.array([1e-20]), np.array([1e-3]))
    allowed = np.array([1e-9])
    assert deviation(np.array([1.5]), exact, allowed, DOUBLE)[0] == pytest.approx(0.499)
    assert deviation(np.array([1.0005]), exact, allowed, DOUBLE)[0] == 0


def test_deviation_keeps_the_low_part():
    exact = Exact(np.array([1.0]), np.array([1e-17]), np.array([0.0]))
    assert deviation(np.array([1.0]), exact, np.array([1.0]), DOUBLE)[0] == 1e-17


def test_not_a_number_and_infinity_are_infinitely_far():
    exact = Exact(np.array([1.0, 1.0]), np.zeros(2), np.zeros(2))
    assert deviation(np.array([math.nan, math.inf]), exact, np.ones(2), DOUBLE).tolist() == [math.inf, math.inf]


def test_infinity_stands_for_an_overflow():
    half = FORMATS["float16"]
    exact = Exact(np.array([70000.0, 70000.0, 60000.0]), np.zeros(3), np.zeros(3))
    found = np.array([math.inf, -math.inf, math.inf])
    assert deviation(found, exact, np.ones(3), half).tolist() == [0.0, math.inf, math.inf]


def test_a_reference_is_computed_once():
    softmax, calls = contract_named("softmax"), []

    class Counted(type(softmax)):
        def exact(self, *inputs, **options):
            calls.append(inputs)
            return super().exact(*inputs, **options)

    references, z, options = References(), np.array([[1.0, 2.0]]), {"axis": -1, "temperature": 1.0}
    for _ in range(3):
        references.value(Counted(), (z,), options, np.full((1, 2), 1e-15))
        references.gradients(Counted(), np.ones((1, 2)), (z,), options, [np.full((1, 2), 1e-15)])
    assert len(calls) == 1
    references.value(Counted(), (z,), options, np.full((1, 2), 1e-60))  # asks for more than was enclosed
    assert len(calls) > 1

"""Points are exact, meet the hypotheses, and go through sizes and patterns of indices."""

from fractions import Fraction

import pytest

from numeric.agreement.points import ExactPoint, points
from proofs.evaluate import NoSample, evaluate
from proofs.kernel import Statement
from proofs.notation import M, delta, eq, family, i, index, j, l, le, lt, n, ne, r, sum_, variable, z
from proofs.terms import size

m, a, b = index("m", M), index("a", 2), index("b", 2)
COLUMNS = index("c", size("columns", 7))


def as_fraction(number):
    sign, mantissa, exponent, _ = number._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** exponent


@pytest.mark.parametrize(
    ("domain", "low", "high"),
    [("real", -2, 2), ("nonnegative", 0, 2), ("positive", Fraction(1, 128), 2), ("integer", -5, 5)],
)
def test_numbers_are_short_binary_fractions_of_their_domain(domain, low, high):
    numbers = [as_fraction(ExactPoint(seed).number(domain)) for seed in range(300)]
    assert all(low <= number <= high and 128 % number.denominator == 0 for number in numbers)
    assert len(set(numbers)) > (8 if domain == "integer" else 100)
    assert domain != "integer" or all(number.denominator == 1 for number in numbers)


def test_the_same_seed_gives_the_same_point():
    first, again, other = (ExactPoint(seed) for seed in (3, 3, 4))
    for point in (first, again, other):
        evaluate(sum_(l, z[l]) + variable("x"), point)
    assert repr(first) == repr(again) != repr(other)
    assert repr(first).startswith(f"n = {first.sizes['n']}, z(0,) = ")


def test_sizes_are_gone_through():
    assert [ExactPoint(seed).size(n) for seed in range(6)] == [5, 2, 4, 3, 1, 5]
    assert ExactPoint(0).size(COLUMNS.args[0]) == 7
    two = ExactPoint(0)
    assert (two.size(n), two.size(M), two.size(n)) == (5, 2, 5)


def test_indices_into_one_range_are_distinct_or_equal_in_every_combination():
    patterns = set()
    for seed in range(4):
        point = ExactPoint(seed)
        into_n, into_two = [point.index(each) for each in (i, j, r)], [point.index(each) for each in (a, b)]
        assert len(set(into_n)) in (1, min(3, point.size(n)))
        patterns.add((len(set(into_n)) > 1, len(set(into_two)) > 1))
        assert [point.index(each) for each in (i, j, r)] == into_n
    assert len(patterns) == 4


def test_hypotheses_are_met_exactly():
    statement = Statement(eq(z[i], 0), (le(z[i], z[j]), lt(0, z[i]), ne(i, j)))
    found = list(points(statement, 20))
    assert len(found) == 20
    for point in found:
        first, second = (as_fraction(point.family(family("z", n), [point.index(each)])) for each in (i, j))
        assert 0 < first <= second
        assert point.index(i) != point.index(j)


def test_hypotheses_that_nothing_meets_raise():
    with pytest.raises(NoSample, match="none of 2000 random points meets the hypotheses; give a witness"):
        list(points(Statement(eq(z[i], 0), (lt(z[i], z[i]),)), 1))


def test_a_hypothesis_that_is_undefined_somewhere_is_tried_elsewhere():
    statement = Statement(eq(z[i], 0), (lt(0, 1 / delta(i, j)),))
    assert all(point.index(i) == point.index(j) for point in points(statement, 4))


def test_sizes_that_must_be_equal_come_to_be():
    first, second, third = size("n_1"), size("n_2"), size("n_3")
    for point in points(Statement(eq(z[i], 0), (eq(first, second),)), 4):
        assert point.sizes["n_1"] == point.sizes["n_2"]
    for point in points(Statement(eq(z[i], 0), (eq(first, second + third),)), 4):
        assert point.sizes["n_1"] == point.sizes["n_2"] + point.sizes["n_3"]

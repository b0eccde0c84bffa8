"""Ranges that are found by use."""

import pytest

from proofs.notation import number, size
from proofs.render.inverse.problems import Complaint
from proofs.render.inverse.sizes import Sizes

n, M = size("n"), size("M")


def test_two_unknown_ranges_become_one():
    sizes = Sizes()
    one, other = sizes.fresh(0), sizes.fresh(1)
    sizes.same(one, other, 0)
    sizes.same(other, n, 0)
    assert sizes.known(one) == sizes.known(other) == n
    sizes.settle()


def test_a_part_of_a_product():
    sizes = Sizes()
    unknown = sizes.fresh(0)
    sizes.same(2 * M, (2 * M).rebuilt((number(2), unknown)), 0)
    assert sizes.known(unknown) == M


def test_products_are_solved_in_any_order():
    for known_first in (True, False):
        sizes = Sizes()
        major, whole, inner = sizes.fresh(0), sizes.fresh(1), sizes.fresh(2)
        if known_first:
            sizes.same(whole, number(8), 0)
        sizes.product(number(2), inner, major, 0)
        sizes.product(number(2), major, whole, 0)
        if not known_first:
            sizes.same(whole, number(8), 0)
        sizes.settle()
        assert (sizes.known(major), sizes.known(inner)) == (number(4), number(2))


def test_a_whole_that_is_found_by_its_parts():
    sizes = Sizes()
    whole = sizes.fresh(0)
    sizes.product(number(2), M, whole, 0)
    sizes.settle()
    assert sizes.known(whole) == 2 * M


def test_what_cannot_be():
    sizes = Sizes()
    with pytest.raises(Complaint, match="this index is of another range: found n, needed M"):
        sizes.same(n, M, 3)
    sizes.product(number(3), sizes.fresh(5), number(8), 4)
    with pytest.raises(Complaint, match="a range of size 8 is no range of 3 times another size"):
        sizes.settle()


def test_what_nothing_tells():
    sizes = Sizes()
    sizes.fresh(7)
    with pytest.raises(Complaint, match="nothing tells the range of this index") as found:
        sizes.settle()
    assert found.value.at == 7
    waiting = Sizes()
    waiting.product(number(2), waiting.fresh(0), waiting.fresh(1), 0)
    with pytest.raises(Complaint, match="nothing tells"):
        waiting.settle()

"""Which process proves what: everything once, and little twice."""

import pytest

from proofs.commands.shares import _cost, _needed, shared_out
from proofs.notation import eq, i, z
from proofs.registry import all_claims, theorem

CLAIMS = all_claims()


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
def test_every_claim_has_one_place(jobs):
    shares = shared_out(CLAIMS, jobs)
    given = [claim for share in shares for piece in share for claim in piece]
    assert len(shares) == jobs
    assert sorted(c.name for c in given) == sorted(c.name for c in CLAIMS)


def test_more_processes_than_work():
    assert len(shared_out(CLAIMS[:3], 8)) == 1
    assert shared_out([], 2) == []


def test_two_processes_have_about_half_each():
    """With all that they have to prove again, neither has more than two thirds."""
    whole = _cost(CLAIMS)
    for share in shared_out(CLAIMS, 2):
        assert _cost(_needed(claim for piece in share for claim in piece)) < whole * 2 / 3


def test_a_family_keeps_its_order():
    for share in shared_out(CLAIMS, 2):
        for piece in share:
            places = [CLAIMS.index(claim) for claim in piece]
            assert places == list(range(places[0], places[0] + len(places)))


def test_what_is_needed_is_closed_under_citation():
    needed = _needed(c for c in CLAIMS if c.name == "softmax_jacobian.jvp")
    assert {c.name for c in needed} >= {"softmax_jacobian.jvp", "softmax_jacobian.jacobian"}
    assert all(cited in needed for claim in needed for cited in claim.cited)


def test_a_script_that_fails_is_shared_out_all_the_same():
    @theorem(eq(z[i] + z[i], 2 * z[i]), near_miss=z[i])
    def broken(proof):
        "Broken."
        raise ValueError("broken")

    ((piece,),) = shared_out([broken], 2)
    assert piece == [broken]

"""The claims of the source documents: each has a verdict, its theorems exist and hold, its numbers are right."""

import pytest

from proofs.claims import CLAIMS, decided
from proofs.evaluate import mp
from proofs.registry import all_claims

DECIDED_HERE = {"C1", "C2", "C3", "C4", "C6", "C10", "C11", "C12", "C13", "C14", "C22"}


def test_there_are_22_claims_in_order():
    assert [c.id for c in CLAIMS] == [f"C{k}" for k in range(1, 23)]


@pytest.mark.parametrize("row", decided(), ids=lambda r: r.claimed.id)
def test_verdict(row):
    assert row.failed == ()
    assert row.verdict == row.claimed.verdict
    assert (row.verdict == "open") == (row.claimed.id not in DECIDED_HERE)
    assert bool(row.claimed.theorems) == (row.verdict != "open")
    assert row.claimed.sentence


def test_theorems_of_claims_exist():
    names = {c.name for c in all_claims()}
    assert {name for c in CLAIMS for name in c.theorems} <= names


def test_a_claim_fails_with_its_theorem(monkeypatch):
    broken = CLAIMS[0]._replace(theorems=("softmax.positive",))
    monkeypatch.setattr("proofs.claims.CLAIMS", (broken,))
    monkeypatch.setattr("proofs.claims._holds", lambda claim: False)
    (row,) = decided()
    assert row.verdict == "failed"
    assert row.failed == ("softmax.positive",)


def _middle_weight(scale):
    large, middle, small = (mp.exp(scale * z) for z in (mp.mpf(2), mp.mpf(3) / 2, mp.mpf(0)))
    return middle / (large + middle + small)


def test_numbers_of_the_middle_entry():
    shown = [mp.nstr(_middle_weight(mp.mpf(b)), 4) for b in (0, 0.5, 10)]
    assert shown == ["0.3333", "0.3628", "0.006693"]
    assert ".3333" in CLAIMS[9].counterexample
    assert ".3628" in CLAIMS[9].counterexample
    assert ".0067" in CLAIMS[9].counterexample


def test_numbers_of_the_surviving_gradient():
    s = [1 / (1 + mp.exp(40)), 1 / (1 + mp.exp(-40))]
    jacobian = [[s[i] * ((i == j) - s[j]) for j in range(2)] for i in range(2)]
    entry = max(abs(x) for row in jacobian for x in row)
    norm = 2 * entry  # of [[a, -a], [-a, a]]
    gradient = [sum(jacobian[i][j] * (-(j == 0) / s[j]) for j in range(2)) for i in range(2)]
    assert mp.nstr(norm, 1) in ("8.0e-18", "8e-18")
    assert [round(float(x), 12) for x in gradient] == [-1, 1]


def test_numbers_of_the_repeating_frequency():
    assert mp.almosteq(mp.cos(mp.pi / 2 * 4), 1)
    assert mp.almosteq(mp.sin(mp.pi / 2 * 4) + 1, 1)

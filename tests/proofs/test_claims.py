"""The claims of the source documents: each has a verdict, its theorems exist and hold, its numbers are right."""

import pytest

from proofs.claims import CLAIMS, decided
from proofs.evaluate import mp
from proofs.registry import all_claims


def test_there_are_22_claims_in_order():
    assert [c.id for c in CLAIMS] == [f"C{k}" for k in range(1, 23)]


@pytest.fixture(scope="module")
def rows():
    return {row.claimed.id: row for row in decided()}


@pytest.mark.parametrize("name", [claimed.id for claimed in CLAIMS])
def test_verdict(name, rows):
    row = rows[name]
    assert row.failed == ()
    assert row.verdict == row.claimed.verdict
    assert row.verdict in ("proved", "proved as corrected", "refuted")
    assert row.claimed.theorems
    assert row.claimed.sentence
    assert row.claimed.counterexample or row.verdict == "proved"


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


def test_claims_of_some_theorems():
    assert [row.claimed.id for row in decided({"softmax_jacobian.jacobian"})] == ["C11"]
    assert [row.claimed.id for row in decided({"softmax_jacobian.symmetric", "no.theorem"})] == ["C12"]
    assert decided(set()) == ()


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


def _shown(claim_id):
    return next(c for c in CLAIMS if c.id == claim_id).counterexample


def _softmax(z, weights=None):
    raised = [w * mp.exp(x) for x, w in zip(z, weights or [1] * len(z), strict=True)]
    return [r / sum(raised) for r in raised]


def test_numbers_of_the_order_that_a_causal_mask_tells():
    def causal(x):
        return [
            sum(w * v for w, v in zip(_softmax([x[i] * k for k in x[: i + 1]]), x[: i + 1], strict=True))
            for i in (0, 1)
        ]

    assert [mp.nstr(o, 4) for o in causal([0, 1])] == ["0.0", "0.7311"]
    assert [mp.nstr(o, 4) for o in causal([1, 0])] == ["1.0", "0.5"]
    assert "(0, .7311)" in _shown("C5")
    assert "(1, .5)" in _shown("C5")


def test_numbers_of_the_typeset_formula():
    assert _softmax([mp.mpf(5)]) == [1]
    assert "V = (5): the output is 5" in _shown("C9")


def test_numbers_of_the_sparse_scores():
    probability, score = mp.mpf(1) / 64, 8 * 8
    assert probability * score**2 == 64
    assert 1 - probability == mp.mpf(63) / 64
    assert "variance 64, yet it is 0 with probability 63/64" in _shown("C15")


def test_numbers_of_multiplied_masks():
    scores = [mp.mpf(x) for x in (".43", "-.21", ".99", "0", "0", "0")]
    assert mp.nstr(_softmax(scores)[3], 4) == "0.1244"
    assert mp.nstr(_softmax([mp.mpf(1), mp.mpf(2), mp.mpf(6)], [1, 1, mp.mpf("1e-3")])[2], 3) == "0.0384"
    assert ".1244" in _shown("C18")
    assert ".0384" in _shown("C18")


def test_numbers_of_the_frequency():
    frequency = mp.mpf(10000) ** (-mp.mpf(2) / 8)
    assert mp.almosteq(frequency, mp.mpf(1) / 10)
    assert [mp.nstr(2 * mp.pi / f, 4) for f in (frequency, 1 / frequency)] == ["62.83", "0.6283"]
    assert ".1, the wavelength 62.83; its inverse 10 would give .6283" in _shown("C22")

"""Rows of plain data, from one process or several."""

import json
from pathlib import Path

from proofs.commands.outcomes import axioms_of, earlier_of, located, proved_rows, row
from proofs.notation import eq, i, n, sum_, z
from proofs.registry import all_claims, claims_in_file, theorem
from proofs.theorems.softmax import softmax

CLAIMS = {c.name: c for c in all_claims()}


def test_row_of_a_theorem():
    found = row(CLAIMS["relative_position.only_the_offset_attains_the_maximum"])
    assert found["status"] == "proved"
    assert found["general"] is True
    assert found["axioms"] == ["axioms.cosine_is_one_at_full_turns_only"]
    assert found["uses"] == [t.name for t in CLAIMS[found["name"]].theorem.uses]
    assert found["seconds"] > 0
    assert "message" not in found
    json.dumps(found)


def test_axioms_are_the_transitive_ones():
    claim = CLAIMS["relative_position.positions_are_distinct"].theorem
    assert not any(t.is_axiom for t in claim.uses)
    assert [a.name for a in axioms_of(claim)] == ["axioms.cosine_is_one_at_full_turns_only"]
    earlier = earlier_of(claim)
    assert len(set(earlier)) == len(earlier)
    assert {t for cited in earlier for t in cited.uses} <= set(earlier)


def claim_with(write):
    return theorem(eq(sum_(i, softmax(z, i)), 1), near_miss=n)(write)


def test_row_of_a_proof_that_does_not_close():
    def wrong(proof):
        "Wrong."
        proof.closes("ring")

    found = row(claim_with(wrong))
    assert (found["status"], found["general"], found["near_misses"]) == ("failed", None, 0)
    assert found["message"] == "test_outcomes.wrong: what is left over: −1 + Σ_i softmax(z)_i"


def test_row_of_a_proof_that_raises():
    def broken(proof):
        "Broken."
        proof.closes("ring", of=softmaxx)  # noqa: F821

    found = row(claim_with(broken))
    line = broken.__code__.co_firstlineno + 2
    assert found["status"] == "failed"
    assert f"{__file__}, line {line}: NameError: name 'softmaxx' is not defined" in found["message"]
    assert 'proof.closes("ring", of=softmaxx)' in found["message"]


def test_error_elsewhere_has_no_line():
    assert located(ValueError("bad"), "/nowhere.py") == "/nowhere.py: ValueError: bad"


def test_two_processes_find_what_one_finds():
    claims = [c for c in CLAIMS.values() if c.family == "rotary"]
    alone, together = ({r["name"]: r for r in proved_rows(claims, jobs, None)} for jobs in (1, 2))
    assert alone.keys() == together.keys() == {c.name for c in claims}
    for name in alone:
        timeless = [{k: v for k, v in rows[name].items() if "seconds" not in k} for rows in (alone, together)]
        assert timeless[0] == timeless[1]


def test_two_processes_on_a_file(tmp_path: Path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from proofs import theorem\nfrom proofs.notation import eq, variable\n\nx = variable('x')\n\n\n"
        "@theorem(eq(x + x, 2 * x), near_miss=3 * x)\ndef doubled(proof):\n    'Doubled.'\n    proof.closes('ring')\n",
        encoding="utf-8",
    )
    (found,) = proved_rows(claims_in_file(path), 2, path)
    assert (found["name"], found["status"]) == ("mine.doubled", "proved")

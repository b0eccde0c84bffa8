"""`check`: the table, the JSON, a file of one's own, failures, interruption."""

import json
import re

import pytest

from proofs.claims import CLAIMS
from proofs.registry import all_claims

from .command_line import GOOD, WRONG, file_of, run


def test_no_command_checks():
    plain, named = (run(*arguments, "-k", "rotary").stdout for arguments in ((), ("check",)))
    timeless = [re.sub(r"\d+\.\d+", "", text) for text in (plain, named)]
    assert timeless[0] == timeless[1]
    assert "rotary, 6 of 6 proved" in plain
    assert re.search(r"^  isometry +general +\d\.\d{3} +-$", plain, re.MULTILINE)
    assert "\n    Σ_m Σ_a rotated(ω, x, p)_ma² = Σ_m Σ_a x_ma²\n" in plain
    refused = sum(len(c.theorem.near_misses) for c in all_claims() if c.family == "rotary")
    assert f"6 proved, 0 failed; {refused} near misses refused" in plain
    assert re.search(r"proofs \d+\.\d\d s, near misses \d+\.\d\d s, elapsed \d+\.\d\d s", plain)


@pytest.mark.parametrize("words", ["jacobian", pytest.param("", marks=pytest.mark.slow)], ids=["some", "all"])
def test_check_in_json(words):
    chosen = [c.name for c in all_claims() if words in c.name]
    found = json.loads(run("--json", *(["-k", words] if words else [])).stdout)
    assert [t["name"] for t in found["theorems"]] == chosen
    assert found["summary"]["proved"] == len(chosen) > 10
    assert found["summary"]["failed"] == 0
    assert [c["id"] for c in found["claims"]] == [c.id for c in CLAIMS if {*c.theorems} <= {*chosen}] != []
    assert all(set(c) == {"id", "verdict", "theorems"} for c in found["claims"])
    keys = {"name", "family", "statement", "general", "status", "seconds", "near_misses", "rules", "axioms", "uses"}
    assert all(set(t) == keys for t in found["theorems"])


def test_claims_of_a_selection_are_those_it_decides():
    found = json.loads(run("-k", "softmax_jacobian", "--json").stdout)
    decided = [c["id"] for c in found["claims"] if c["verdict"] != "open"]
    assert "C11" in decided
    assert "C1" not in decided


def test_axioms_and_instances_are_marked():
    text = run("-k", "positions_are_distinct or instance_of_two").stdout
    assert re.search(r"positions_are_distinct +general +\d+\.\d+ +1$", text, re.MULTILINE)
    assert re.search(r"instance_of_two +instance ", text)
    assert "rests on axioms.cosine_is_one_at_full_turns_only: 1 theorem\n" in text


def test_own_file(tmp_path):
    path = file_of(tmp_path, GOOD)
    text = run("check", path).stdout
    assert "mine, 2 of 2 proved" in text
    assert "softmax, " not in text  # its theorems only
    found = json.loads(run("check", path, "--json", "-k", "doubled").stdout)
    assert [t["statement"] for t in found["theorems"]] == ["x + x = 2 x"]
    assert found["claims"] == []


def test_failing_theorem(tmp_path):
    path = file_of(tmp_path, GOOD + WRONG)
    text = run("check", path, code=1).stdout
    assert "mine, 2 of 3 proved" in text
    assert re.search(r"^  wrong_rule +failed ", text, re.MULTILINE)
    assert "FAILED mine.wrong_rule\n  mine.wrong_rule: what is left over: −exp(2 x) + exp(x)²" in text
    assert "2 proved, 1 failed" in text
    found = json.loads(run("check", path, "--json", code=1).stdout)
    assert found["summary"]["failed"] == 1
    assert found["theorems"][2]["message"] == "mine.wrong_rule: what is left over: −exp(2 x) + exp(x)²"


def test_two_processes(tmp_path):
    path = file_of(tmp_path, GOOD + WRONG)
    alone, together = (json.loads(run("check", path, "--jobs", jobs, "--json", code=1).stdout) for jobs in (1, 2))
    assert [(t["name"], t["status"]) for t in alone["theorems"]] == [
        (t["name"], t["status"]) for t in together["theorems"]
    ]
    assert alone["theorems"][2]["message"] == together["theorems"][2]["message"]


def test_interrupted_in_one_process(tmp_path):
    stopped = "\n\n@theorem(eq(3 * x, x + 2 * x), near_miss=x)\ndef stopped(proof):\n    'Stopped.'\n    raise KeyboardInterrupt\n"
    path = file_of(tmp_path, GOOD + stopped + WRONG)
    text = run("check", path, code=130).stdout
    assert "mine, 2 of 2 proved" in text
    assert "interrupted: 2 theorems not tried, the first is mine.stopped" in text
    found = json.loads(run("check", path, "--json", code=130).stdout)
    assert found["summary"]["interrupted"] is True
    assert [t["name"] for t in found["theorems"]] == ["mine.doubled", "mine.scaled_sum"]

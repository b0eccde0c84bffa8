"""`list`, `show`, `trust` and `claims`."""

import json
import re

import pytest
from rich.cells import cell_len

from proofs.registry import all_claims
from proofs.render import Unicode

from .command_line import run


def test_list_proves_nothing(monkeypatch):
    monkeypatch.setattr("proofs.registry.prove", lambda *a, **k: pytest.fail("list must not prove"))
    text = run("list").stdout
    assert all(f"  {c.name.rpartition('.')[2]}\n" in text for c in all_claims())
    assert f"{len(all_claims())} theorems" in text
    found = json.loads(run("list", "-k", "isometry", "--json").stdout)
    assert [t["name"] for t in found["theorems"]] == ["rotary.isometry"]
    assert found["theorems"][0]["statement"] == "Σ_m Σ_a rotated(ω, x, p)_ma² = Σ_m Σ_a x_ma²"


def test_show():
    text = run("show", "softmax_jacobian.symmetric").stdout
    for part in (
        "softmax_jacobian.symmetric (for every size)", "1 ≤ n; i, j < n; z_k ∈ ℝ for k < n", "J(z)_ij = J(z)_ji",
        "  1.   = softmax(z)_i (δ_ij − softmax(z)_j)\n           by softmax_jacobian.jacobian", "  2.   = softmax(z)_j (δ_ji",
        "Near miss, which the same steps refuse\n  J(z)_ij = −J(z)_ji", "rules: finite_sum", "axioms: none",
    ):  # fmt: skip
        assert part in text, part
    assert run("show", "quadratic_form_is_variance").stdout.startswith("softmax_jacobian.quadratic_form_is_variance")


def test_show_hypotheses():
    text = run("show", "preserves_order").stdout
    assert "if\n  z_i ≤ z_j\n\nthen\n  softmax(z)_i ≤ softmax(z)_j\n" in text


def test_show_latex_and_json():
    source = run("show", "trace", "--latex").stdout
    assert (
        r"\sum_{i=0}^{n - 1} \operatorname{J}(z)_{i i} = 1 - \sum_{i=0}^{n - 1} \operatorname{softmax}(z)_{i}^{2}"
        in source
    )
    found = json.loads(run("show", "trace", "--json").stdout)
    assert found["conclusion"] == "Σ_i J(z)_ii = 1 − Σ_i softmax(z)_i²"
    assert found["steps"][0]["reason"] == "by softmax_jacobian.jacobian"
    assert found["near_misses"][0]["residue"] == "1 − n"
    latex = json.loads(run("show", "trace", "--json", "--latex").stdout)
    assert latex["steps"][1]["relation"] == "="
    assert r"\sum" in latex["start"]


def test_show_from_one():
    text = run("show", "causal_alignments_agree", "--notation", "one-based").stdout
    assert "1 ≤ n_k; 1 ≤ n_q; i ≤ n_q; j ≤ n_k" in text
    assert "upper_left_ij = {j ≤ i: 1; j > i: 0}" in text and "(j − 1) + n_q ≤ (i − 1) + n_k" in text
    assert r"\sum_{l=1}^{n}" in run("show", "softmax_jacobian.jacobian", "--notation", "one-based", "--latex").stdout
    found = json.loads(run("show", "softmax_jacobian.jacobian", "--notation", "one-based", "--json").stdout)
    assert found["notation"] == "one-based" and "i, j ≤ n" in found["symbols"]
    problem = run("show", "trace", "--notation", "one-basd", code=2).stderr
    assert "--notation one-basd: needed zero-based or one-based; did you mean one-based?" in problem


def test_show_refuses_what_is_not_what_was_proved(monkeypatch):
    monkeypatch.setattr(Unicode, "minus", "+")
    for arguments in ((), ("--json",)):
        text = run("show", "softmax_jacobian.jacobian", *arguments, code=1).stdout
        assert "softmax_jacobian.jacobian, then: J(z)_ij = softmax(z)_i (δ_ij + softmax(z)_j) says " in " ".join(
            text.split()
        )
        assert "refused" in text.casefold() and "symbols" not in text and "For all" not in text


def test_show_in_korean():
    text = run("show", "softmax_jacobian.symmetric", "--lang", "ko").stdout
    for part in (
        "softmax_jacobian.symmetric (모든 크기에 대해)\n  야코비안은 대칭이다.", "1 ≤ n; i, j < n; z_k ∈ ℝ (k < n)",
        "           softmax_jacobian.jacobian에 의해", "한 끗 차이로 거짓인 명제", "규칙: finite_sum", "공리: 없음",
    ):  # fmt: skip
        assert part in text, part
    assert run("show", "softmax.positive", "--lang", "ko", "--latex").stdout.startswith(
        "% softmax.positive: 모든 가중치는"
    )
    assert json.loads(run("show", "trace", "--lang", "ko", "--json").stdout)["steps"][1]["reason"].endswith("에 의해")


def test_korean_lines_are_no_wider_than_the_terminal():
    text = run("show", "block_is_forced", "--lang", "ko").stdout
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "t = 0과 사분의 일 바퀴에서만이라도 pair(t)를 pair(t + k)로 보내는 행렬은" in " ".join(text.split())


def test_show_in_an_unknown_language():
    assert "no catalogue for 'fr'; there is one for en, ko" in run("show", "trace", "--lang", "fr", code=2).stderr


def test_trust():
    text = run("trust", "positions_are_distinct").stdout
    for part in (
        "relative_position.positions_are_distinct rests on", "rules", "axioms.cosine_is_one_at_full_turns_only", "Functions, section 4.14",
        "relative_position.gap_is_positive", "Trusted in every proof, ", "proofs/terms.py", "proofs/binders.py", "proofs/definitions.py",
        "proofs/kernel.py", "proofs/axioms.py", "proofs/rules/__init__.py",
    ):  # fmt: skip
        assert part.replace("Functions, section 4.14", "section 4.14") in text, part
    found = json.loads(run("trust", "positions_are_distinct", "--json").stdout)
    assert found["axioms"][0]["source"].startswith("NIST Digital Library")
    assert {"name": "ring", "says": "by expanding and collecting"} in found["rules"]
    assert "axioms: none" in run("trust", "softmax.positive").stdout


def test_claims():
    text = run("claims").stdout
    assert re.search(r"^C1 +proved ", text, re.MULTILINE)
    assert "22 claims: " in text
    rows = json.loads(run("claims", "--json").stdout)["claims"]
    assert [r["id"] for r in rows] == [f"C{k}" for k in range(1, 23)]
    assert all(set(r) == {"id", "claim", "verdict", "sentence", "theorems", "counterexample"} for r in rows)


def test_claims_in_korean():
    text = run("claims", "--lang", "ko").stdout
    assert re.search(r"^C1 +증명됨 +PE의 짝수 열은 사인이고", text, re.MULTILINE)
    assert "주장 22개: 15개 증명됨, 6개 바로잡아 증명됨, 1개 반박됨" in text
    (row,) = (r for r in json.loads(run("claims", "--lang", "ko", "--json").stdout)["claims"] if r["id"] == "C5")
    assert row["verdict"] == "proved as corrected"  # a word for programs
    assert row["counterexample"].startswith("인과 마스크")


def test_list_and_trust_in_korean():
    assert "softmax(z)_j (가정: z_i ≤ z_j)\n" in run("list", "-k", "softmax.preserves_order", "--lang", "ko").stdout
    (entry,) = json.loads(run("list", "-k", "isometry", "--json", "--lang", "ko").stdout)["theorems"]
    assert entry["says"] == "회전은 모든 벡터의 길이를 보존한다."
    text = run("trust", "positions_are_distinct", "--lang", "ko").stdout
    for part in (
        "positions_are_distinct의 근거",
        "ring: 전개하고 동류항을 모아서",
        "4.14절과 표 4.17.1",
        "앞선 정리",
        "모든 증명에서 믿어야 하는 코드",
    ):
        assert part in text, part
    assert "공리: 없음" in run("trust", "softmax.positive", "--lang", "ko").stdout
    for command in (["claims"], ["list"], ["trust", "softmax.positive"]):
        assert "no catalogue for 'fr'" in run(*command, "--lang", "fr", code=2).stderr


def test_failing_claim(monkeypatch):
    monkeypatch.setattr("proofs.claims._holds", lambda claim: claim.name != "softmax_jacobian.symmetric")
    text = run("claims", code=1).stdout
    assert re.search(r"^C12 +failed ", text, re.MULTILINE)
    assert not re.search(r"^C11 +failed ", text, re.MULTILINE)


def test_failed_theorem_of_the_catalogue(monkeypatch):
    """Where a theorem of the catalogue fails, show and trust say so, and check counts the claims that it decides."""
    claim = next(c for c in all_claims() if c.name == "softmax_jacobian.symmetric")
    monkeypatch.setattr(claim, "_theorem", None)
    monkeypatch.setattr(claim, "_failure", None)

    def broken(proof):
        "Broken."
        proof.closes("ring")

    broken.__module__ = claim.write.__module__
    monkeypatch.setattr(claim, "write", broken)
    for written in ("_written", "cited"):
        monkeypatch.delitem(vars(claim), written, raising=False)
    text = run("show", "softmax_jacobian.symmetric", code=1).stdout
    assert "FAILED softmax_jacobian.symmetric" in text
    assert "what is left over: J(z)_ij − J(z)_ji" in text
    found = json.loads(run("-k", "softmax_jacobian", "--json", code=1).stdout)
    assert [c["verdict"] for c in found["claims"] if c["id"] == "C12"] == ["failed"]

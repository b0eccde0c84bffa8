import json
import math

import numpy as np
import pytest

from numeric.checker import CheckFailed, Finding, Report, UsageError, Verdict, check, checks_of
from numeric.checker.run import name_of
from numeric.checker.verdict import worst


def report_of(*findings, accepted=()):
    power = {"values": {"smallest_relative_error_seen": 1e-7, "would_have_passed": []}}
    return Report("softmax", "a.softmax", "numpy", "float32", "float32 throughout", {}, 0, findings, power, accepted)


PASSED = Finding("values", Verdict.PASS, "within rounding")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
    return p / p.sum(axis, keepdims=True)


def wrong(z, axis=-1, temperature=1.0):
    return softmax(z, 0, temperature)


def test_verdicts_are_ordered_and_none_is_no_pass():
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE]) == "inconclusive"
    assert worst([Verdict.INCONCLUSIVE, Verdict.VARIANT, Verdict.PASS]) == "variant"
    assert worst([Verdict.ERROR, Verdict.FAIL, Verdict.VARIANT]) == "error"
    assert worst([]) == "inconclusive"
    assert [verdict.exit_code for verdict in Verdict] == [0, 3, 1, 1, 1]


def test_a_check_that_did_not_run_neither_passes_nor_fails():
    assert report_of(PASSED, Finding("gradients", "not run", "no backward")).verdict == "pass"
    assert report_of(Finding("gradients", "not run", "no backward")).verdict == "inconclusive"
    assert report_of(Finding("shift invariance", Verdict.PASS, "")).verdict == "inconclusive"


def test_a_variant_passes_only_when_accepted():
    variant = Finding("values", Verdict.VARIANT, "base two", mistake="softmax.base_two")
    assert report_of(variant).verdict == "variant"
    assert report_of(variant, accepted=("softmax.base_two",)).verdict == "pass"
    assert report_of(variant, accepted=("softmax.other",)).verdict == "variant"
    assert report_of(variant).mistakes == ("softmax.base_two",)


def test_the_diagnosis_is_the_message_of_the_exception():
    report = check("softmax", wrong, probes=("generic*draw 0",))
    with pytest.raises(CheckFailed) as error:
        report.raise_if_failed()
    first, *rest = str(error.value).splitlines()
    assert first.endswith("test_report.wrong as softmax in float64: fail")
    reason, count, worst = report.finding("values").message.splitlines()
    assert rest == [f"  values: fail: {reason}", f"    {count}", f"    {worst}"]


def test_one_check_may_be_asked_for():
    report = check("softmax", wrong, probes=("generic*draw 0", "slices sum to 1", "shift invariance"))
    report.raise_if_failed("calls")
    with pytest.raises(CheckFailed, match="slices do not sum to 1"):
        report.raise_if_failed("slices sum to 1")
    with pytest.raises(CheckFailed, match="gradients: not run: no backward was given"):
        report.raise_if_failed("gradients")
    with pytest.raises(UsageError, match="unknown check 'slices sum to one'; did you mean 'slices sum to 1'"):
        report.raise_if_failed("slices sum to one")


@pytest.mark.parametrize("contract", ["softmax", "log_softmax", "positional_encoding", "rotary"])
def test_checks_of_are_the_findings_of_a_run(contract):
    report = check(contract, lambda *inputs: None)
    assert [each.check for each in report.findings if not each.check.startswith("option")] == checks_of(contract)


def test_json_is_strict_and_has_its_shape():
    def broken(z, axis=-1, temperature=1.0):
        return softmax(z, axis, temperature) * np.nan

    report = check("softmax", broken, options={"axis": -1}, probes=("generic*draw 0",))
    data = json.loads(report.to_json(), parse_constant=pytest.fail)
    assert list(data) == [
        "contract", "subject", "adapter", "dtype", "precision", "options", "seed",
        "accepted", "verdict", "mistakes", "findings", "power",
    ]  # fmt: skip
    assert [list(finding) for finding in data["findings"]] == [
        ["check", "verdict", "mistake", "message", "theorem", "evidence"]
    ] * len(data["findings"])
    values = next(finding for finding in data["findings"] if finding["check"] == "values")
    assert values["evidence"]["worst"]["found"] == "nan"
    assert values["evidence"]["worst"]["ratio"] == "inf"
    assert values["mistake"] is None
    assert data["verdict"] == "fail"
    assert data["options"] == {"axis": -1}


def test_evidence_holds_the_numbers():
    evidence = check("softmax", softmax, probes=("generic*",)).finding("values").evidence
    assert evidence["probes"] == 36
    assert set(evidence["worst"]) == {"probe", "index", "found", "exact", "error", "allowance", "ratio"}
    assert evidence["worst"]["error"] == pytest.approx(evidence["worst"]["ratio"] * evidence["worst"]["allowance"])
    assert 1e-16 < evidence["power"]["smallest_relative_error_seen"] < 1e-12
    assert evidence["power"]["would_have_passed"] == []


def test_the_table_fits_80_columns_and_says_all():
    report = check("softmax", wrong, options={"temperature": 0.5}, probes=("generic*draw 0", "slices sum to 1"))
    text = str(report)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(f"fail: {report.subject} as softmax in float64")
    assert "temperature=0.5" in text
    assert "breaks softmax.sums_to_one" in text
    places = [text.index(f"\n\n{title}\n") for title in ("not passed", "passed", "not run", "test power")]
    assert places == sorted(places)
    for finding in report.findings:
        assert finding.check in " ".join(text.split())
    assert "\x1b" not in text


def test_names_of_subjects():
    assert name_of(softmax).endswith("test_report.softmax")
    assert name_of(math.exp) == "math.exp"
    assert name_of(np.exp).endswith("exp")


def test_a_message_with_brackets_is_printed_as_it_is():
    text = str(report_of(Finding("values", Verdict.FAIL, "at [0, 1] [bold]x[/bold]")))
    assert "at [0, 1] [bold]x[/bold]" in text

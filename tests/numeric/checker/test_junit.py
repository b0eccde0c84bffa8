"""JUnit XML: what counts as what, and that nothing in a message can break the document."""

from xml.etree import ElementTree

import numpy as np
import pytest

from numeric.checker import Finding, Report, Verdict, check
from numeric.checker.junit import junit_of

PASSED = Finding("values", Verdict.PASS, "within rounding")
# of Jenkins' junit-10.xsd: the attributes that an element must and may have
REQUIRED = {
    "testsuites": set(),
    "testsuite": {"name", "tests", "failures", "errors"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name"},
    "failure": {"type"},
    "error": {"type"},
    "skipped": set(),
}
ALLOWED = {
    "testsuites": {"name"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
}
WITHIN = {"testsuite": "testsuites", "properties": "testsuite", "property": "properties", "testcase": "testsuite"}


def report_of(*findings, accepted=(), subject="a.softmax"):
    return Report("softmax", subject, "numpy", "float32", "float32 throughout", {"axis": 0}, 3, findings, {}, accepted)


def parsed(*reports):
    root = ElementTree.fromstring(junit_of(reports).encode())
    parents = {child: parent for parent in root.iter() for child in parent}
    for element in root.iter():
        assert REQUIRED[element.tag] <= set(element.attrib) <= ALLOWED[element.tag], element.tag
        if element is not root:
            assert parents[element].tag == WITHIN.get(element.tag, "testcase")
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(count)) == sum(case.find(tag) is not None for case in cases)
    return root


@pytest.mark.parametrize(
    ("verdict", "tag", "kind"),
    [
        (Verdict.PASS, None, None),
        (Verdict.FAIL, "failure", "fail"),
        (Verdict.VARIANT, "failure", "softmax.base_two"),
        (Verdict.INCONCLUSIVE, "failure", "inconclusive"),
        (Verdict.ERROR, "error", "error"),
        ("not run", "skipped", "not run"),
    ],
)
def test_what_counts_as_what(verdict, tag, kind):
    mistake = "softmax.base_two" if verdict == "variant" else None
    finding = Finding("shift invariance", verdict, "first.\nsecond", "softmax.shift_invariance", mistake=mistake)
    case = parsed(report_of(PASSED, finding)).findall(".//testcase")[1]
    assert (case.get("classname"), case.get("name")) == ("softmax.a.softmax.float32", "shift invariance")
    assert [child.tag for child in case] == ([tag] if tag else [])
    if tag:
        assert case[0].get("type") == kind
        assert case[0].get("message") == "first. second"
    if tag in ("failure", "error"):
        assert case[0].text.splitlines() == [
            "a.softmax as softmax in float32", "first.", "second", "breaks softmax.shift_invariance",
        ]  # fmt: skip


def test_an_accepted_variant_passes():
    variant = Finding("values", Verdict.VARIANT, "base two", mistake="softmax.base_two")
    assert parsed(report_of(variant, accepted=("softmax.base_two",)))[0].get("failures") == "0"


@pytest.mark.parametrize(
    "findings", [(), (Finding("values", "not run", "x"),), (Finding("shift invariance", Verdict.PASS, ""),)]
)
def test_nothing_judged_is_red(findings):
    suite = parsed(report_of(*findings))[0]
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure").get("type") == "inconclusive"


def test_red_exactly_where_the_exit_code_is_not_0():
    for verdict in Verdict:
        report = report_of(PASSED, Finding("x", verdict, "", mistake="m"))
        suite = parsed(report)[0]
        red = suite.get("failures") != "0" or suite.get("errors") != "0"
        assert red == (report.verdict.exit_code != 0)


def test_no_message_breaks_the_document():
    awkward = "<b>&amp; \"q\" ']]>' \x00\x1b[31m\ud800\uffff é 𝄞"
    root = parsed(report_of(Finding(awkward, Verdict.FAIL, awkward, awkward), subject=awkward))
    failure = root.find(".//failure")
    assert failure.get("message") == "<b>&amp; \"q\" ']]>' \ufffd\ufffd[31m\ufffd\ufffd é 𝄞"
    assert "]]>" in failure.text


def test_reports_of_a_run_are_suites_of_one_document():
    def raising(z, axis=-1, temperature=1.0):
        raise RuntimeError("out of registers")

    def softmax(z, axis=-1, temperature=1.0):
        p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
        return p / p.sum(axis, keepdims=True)

    few = ("generic*draw 0", "shift invariance")
    broken, right = (check("softmax", each, probes=few) for each in (raising, softmax))
    root = parsed(broken, right)
    assert [suite.get("errors") for suite in root] == ["1", "0"]
    assert "out of registers" in root.find(".//error").text
    assert float(root[1].get("time")) == pytest.approx(right.seconds, abs=1e-3) and right.seconds > 0
    assert ElementTree.fromstring(right.to_junit().encode())[0].get("name") == right.title

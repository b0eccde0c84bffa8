"""Reports as JUnit XML, which CI systems read: a report is a test suite, a finding a test case of it.

    pass, an accepted variant     passed
    fail, variant                 failure: it ran, and is not what was asked for
    inconclusive                  failure of type "inconclusive": CI knows passed, failed, broken and skipped, and all but one of
                                  these would be a lie; skipped ones leave a build green, and unknown never counts as passed
    error                         error: it could not be run to its end
    not run                       skipped, with the reason

A report whose verdict is no pass though none of its findings is wrong, since no values were judged, gets a failure for that. So
the build is red exactly where the exit code is not 0. Attributes are those of pytest's xunit2 family (Jenkins' junit-10.xsd).
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from .report import Finding, Report
from .verdict import Verdict

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML 1.0 has not


def junit_of(reports: Sequence[Report]) -> str:
    """One document of all reports."""
    suites = Element("testsuites", name="transformer-proofs")
    for report in reports:
        suites.append(_suite(report))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _suite(report: Report) -> Element:
    cases = [_case(report, finding) for finding in report.findings]
    if report.verdict is not Verdict.PASS and not report.not_passed:
        message = "no values were judged, so that nothing is known"
        cases.append(_with(_empty_case(report, "verdict"), "failure", str(report.verdict), message))
    count = {tag: str(sum(case.find(tag) is not None for case in cases)) for tag in ("failure", "error", "skipped")}
    suite = Element(
        "testsuite",
        name=_text(report.title),
        tests=str(len(cases)),
        failures=count["failure"],
        errors=count["error"],
        skipped=count["skipped"],
        time=f"{report.seconds:.3f}",
    )
    settings = SubElement(suite, "properties")
    for name in ("contract", "subject", "adapter", "dtype", "precision", "seed", "verdict"):
        SubElement(settings, "property", name=name, value=_text(str(getattr(report, name))))
    for name, value in report.options.items():
        SubElement(settings, "property", name=f"option {_text(name)}", value=_text(repr(value)))
    suite.extend(cases)
    return suite


def _empty_case(report: Report, name: str) -> Element:
    # its dots part a class name into packages where CI shows a tree
    classname = f"{report.contract}.{report.subject}.{report.dtype}"
    return Element("testcase", classname=_text(classname), name=_text(name), time="0")


def _case(report: Report, finding: Finding) -> Element:
    case = _empty_case(report, finding.check)
    if not finding.ran:
        return _with(case, "skipped", "not run", finding.message)
    verdict = report.counted(finding)
    if verdict is Verdict.PASS:
        return case
    text = "\n".join([report.title, *finding.message.splitlines(), *filter(None, [finding.breach])])
    tag = "error" if verdict is Verdict.ERROR else "failure"
    return _with(case, tag, finding.mistake or str(verdict), finding.message, text)


def _with(case: Element, tag: str, kind: str, message: str, text: str = "") -> Element:
    child = SubElement(case, tag, type=_text(kind), message=_text(" ".join(message.splitlines())))
    child.text = _text(text) or None
    return case


def _text(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

"""The HTML page: complete, self-contained, and nothing in a message can break it."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from numeric.checker import Finding, Report, Verdict, check
from numeric.checker.page import page_of
from numeric.checker.picture import Picture
from proofs.registry import all_claims

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Refuses tags that do not close, and anything that would be fetched or run."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.tags, self.targets = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "link", "img", "iframe", "object", "embed"}
        for name, value in attributes:
            assert not name.startswith("on") and name != "src" and "url(" not in (value or "")
            if name == "href":
                assert value.startswith("#")
                self.targets.append(value)
            if name == "id":
                self.targets.append(value)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
    return p / p.sum(axis, keepdims=True)


def wrong(z, axis=-1, temperature=1.0):
    return softmax(z, axis, 1 / temperature)


@pytest.fixture(scope="module")
def report():
    return check("softmax", wrong, probes=("generic*", "shift invariance", "ties"))


def test_a_page_says_all_that_the_report_says(report):
    page = Reader(report.to_html())
    text = "".join(page.text)
    for finding in report.findings:
        assert finding.check in text
    for line in report.finding("values").message.splitlines():
        assert line in text
    assert f"python -m proofs show {report.finding('values').theorem}" in text
    assert report.finding("values").theorem in {claim.name for claim in all_claims()}
    assert "Test power" in text
    assert page.tags.count("svg") == 3
    for probe in report.pictures["values"].ratios:
        assert probe in text


def test_it_is_made_for_narrow_screens_and_needs_no_connection(report):
    page = report.to_html()
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert not re.search(r"https?:|@import|url\(", page)


def test_drawings_are_xml_with_a_mark_for_each_probe(report):
    drawings = re.findall(r"<svg.*?</svg>", report.to_html(), re.S)
    by_probe, by_entry, places = map(ElementTree.fromstring, drawings)
    ratios = report.pictures["values"].ratios
    beyond = sum(ratio > 1 for ratio in ratios.values())
    assert len(by_probe.findall("rect")) == beyond == 24
    assert len(by_probe.findall("circle")) == len(ratios) - beyond
    limit = float(by_probe.find("line[@class='limit']").get("x1"))
    assert all(float(each.get("cx")) <= limit for each in by_probe.findall("circle"))
    assert all(float(each.get("x")) + 2.5 > limit for each in by_probe.findall("rect"))
    assert len(by_entry.findall("rect")) >= 1
    assert len(places.findall("rect")) == report.pictures["values"].blocks.size


def test_several_reports_are_listed(report):
    page = Reader(page_of([report, report]))
    assert page.targets == ["#report-0", "#report-1", "report-0", "report-1"]
    assert page.tags.count("article") == 2


def test_no_message_breaks_the_page():
    awkward = "</p><script>alert(1)</script> & \"q\" 'x' \ud800 \x00 é"
    picture = Picture()
    picture.add(awkward, np.array([[0.5, np.inf], [0.0, 30.0]]))
    findings = (Finding(awkward, Verdict.FAIL, awkward, awkward), Finding("values", "not run", awkward))
    report = Report(
        awkward, awkward, "numpy", "float32", awkward, {awkward: awkward}, 0, findings, {}, (), {"values": picture}
    )
    text = "".join(Reader(report.to_html()).text)
    assert "</p><script>alert(1)</script>" in text


def test_a_report_without_calls_has_a_page_too():
    report = Report("softmax", "f", "numpy", "float32", "", {}, 0, (Finding("calls", Verdict.ERROR, "it raised"),), {})
    assert "svg" not in Reader(report.to_html()).tags

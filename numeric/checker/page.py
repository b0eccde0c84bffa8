"""Reports as one HTML page, which needs nothing else: no scripts, no fonts, no connection. Narrow screens are served first."""

from collections.abc import Iterator, Sequence
from html import escape

from .drawing import errors_by_entry, errors_by_probe, map_of_entries, told
from .page_style import STYLE
from .picture import Picture
from .report import Finding, Report
from .table import outcome, power_rows, printing, setting
from .verdict import NOT_RUN, Verdict


def page_of(reports: Sequence[Report]) -> str:
    """A page of one report, or of several below a list of them."""
    bodies = [_report(report, f"report-{number}") for number, report in enumerate(reports)]
    contents = [_contents(reports)] if len(reports) > 1 else []
    title = f"{reports[0].title}: {reports[0].verdict}" if len(reports) == 1 else f"{len(reports)} checks"
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    return head + "\n".join([*contents, *bodies]) + "\n</main>\n</body>\n</html>\n"


def _contents(reports: Sequence[Report]) -> str:
    rows = [
        f'<li>{_badge(report.verdict)} <a href="#report-{number}">{_safe(report.title)}</a>{_safe(outcome(report))}</li>'
        for number, report in enumerate(reports)
    ]
    return f"<h1>{len(reports)} checks</h1>\n<ul class='contents'>{''.join(rows)}</ul>"


def _report(report: Report, anchor: str) -> str:
    parts = [
        f'<article id="{anchor}">',
        f"<h1>{_badge(report.verdict)} {_safe(report.title)}</h1>",
        f'<p class="outcome">{_safe(outcome(report).lstrip(":, "))}</p>' if outcome(report) else "",
        f'<p class="setting">{_safe(setting(report))}, {report.seconds:.1f} s</p>',
        *_findings("Not passed", report.not_passed),
        *(_picture(name, picture) for name, picture in report.pictures.items() if picture.ratios),
        _others("Passed", [each for each in report.findings if each.ran and each not in report.not_passed]),
        _others("Not run", [each for each in report.findings if not each.ran]),
        _power(report),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _findings(title: str, findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        yield f"<h2>{title}</h2>"
    for each in findings:
        statements = "".join(f"<p>{_safe(line)}</p>" for line in each.message.splitlines())
        yield (
            f'<section class="finding {_class(each.verdict)}"><h3>{_badge(each.verdict)} {_safe(each.check)}</h3>'
            f"{statements}{_theorem(each)}</section>"
        )


def _theorem(finding: Finding) -> str:
    if finding.theorem is None or finding.breach is None:
        return ""
    return f'<p class="theorem">{_safe(finding.breach)}: <code>{_safe(printing(finding.theorem))}</code></p>'


def _picture(name: str, picture: Picture) -> str:
    shape = f" {picture.shape}" if picture.shape else ""
    rows = sorted(picture.ratios.items(), key=lambda pair: -pair[1])
    numbers = "".join(f"<tr><td>{_safe(probe)}</td><td>{_safe(told(ratio))}</td></tr>" for probe, ratio in rows)
    where = map_of_entries(picture)
    figures = [
        _figure(
            errors_by_entry(picture),
            f"Entries of the worst probe, <q>{_safe(picture.probe)}</q>{shape}, by their error.",
        ),
        _figure(where, "The same entries in their places, along the last two axes: red beyond the allowance.")
        if where
        else "",
    ]
    caption = f"The largest error of each of {len(rows)} probes. Left of the line is what rounding explains; a square lies beyond it."
    return (
        f"<section><h2>Errors of the {_safe(name)}, in allowances</h2>{_figure(errors_by_probe(picture), caption)}"
        f'<div class="pair">{"".join(figures)}</div>'
        f"<details><summary>All {len(rows)} probes in numbers</summary><table>{numbers}</table></details></section>"
    )


def _figure(drawing: str, caption: str) -> str:
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


def _others(title: str, findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{_safe(each.check)}</th><td>{_lines(each.message)}</td></tr>" for each in findings
    )
    return f"<h2>{title}</h2><table>{rows}</table>"


def _power(report: Report) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{_safe(name)}</th><td>{_safe(text)}</td></tr>" for name, text in power_rows(report)
    )
    return f"<h2>Test power</h2><table>{rows}</table>" if rows else ""


def _badge(verdict: Verdict | str) -> str:
    return f'<span class="badge {_class(verdict)}">{_safe(str(verdict))}</span>'


def _class(verdict: Verdict | str) -> str:
    if verdict in (Verdict.PASS, NOT_RUN):
        return "good" if verdict == Verdict.PASS else "none"
    return "bad" if verdict in (Verdict.FAIL, Verdict.ERROR) else "unsure"


def _lines(message: str) -> str:
    return "<br>".join(_safe(line) for line in message.splitlines())


def _safe(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode())

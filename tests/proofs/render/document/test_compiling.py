"""PDFs, as Typst makes them with nothing but what pip brings."""

import json
import re
import sys
import time
from io import BytesIO

import pytest

from proofs.registry import all_claims
from proofs.render import RenderError
from proofs.render.catalogues import in_language
from proofs.render.document import book, compiling, write_pdf
from proofs.render.document.drawings import EMPTY
from proofs.render.document.opening import Counts

from ....latex import needs, run
from .test_drawings import folder  # noqa: F401

NAMES = ("softmax_jacobian.jacobian", "softmax_jacobian.instance_of_four", "attention_gradients.loss_along_inputs")
THEOREMS = [c.theorem for c in all_claims() if c.name in NAMES]
RIGHT = 595.28 - 24 / 25.4 * 72  # where the text ends on a page


def pages_of(pdf):
    pypdf = pytest.importorskip("pypdf")
    return pypdf.PdfReader(BytesIO(pdf)).pages


def letters(page):
    """Where each piece of text starts, from the left, and what it is."""
    found = []

    def visit(text, matrix, place, *_):
        if text.strip():
            found.append((matrix[0] * place[4] + matrix[4], text))

    page.extract_text(visitor_text=visit)
    return found


def check(pdf, theorems):
    """Every name is on some page; no page is empty, and nothing stands beyond the margin."""
    pages = pages_of(pdf)
    texts = [page.extract_text() for page in pages]
    whole = re.sub(r"\s", "", "".join(texts))
    assert [t.name for t in theorems if t.name not in whole] == []
    assert [k for k, text in enumerate(texts, 1) if len(text.split()) < 8] == []
    assert [(k, x, text) for k, page in enumerate(pages, 1) for x, text in letters(page) if x > RIGHT] == []
    return len(pages)


@pytest.mark.parametrize("language", ["en", pytest.param("ko", marks=pytest.mark.slow)])
def test_some_theorems(language, tmp_path):
    pytest.importorskip("typst")
    out = tmp_path / "some.pdf"
    counts = write_pdf(THEOREMS, out, in_language(language))
    assert counts.theorems == len(THEOREMS)
    assert check(out.read_bytes(), THEOREMS) > 8


def test_figures_are_drawn(tmp_path, folder):  # noqa: F811
    pytest.importorskip("typst")
    theorems = [c.theorem for c in all_claims() if c.name in ("softmax.positive", "softmax.sums_to_one")]
    bare, drawn = tmp_path / "bare.pdf", tmp_path / "drawn.pdf"
    write_pdf(theorems, bare)
    write_pdf(theorems, drawn, figures=folder)
    text = "".join(page.extract_text() for page in pages_of(drawn.read_bytes()))
    assert "Known mistakes that break it: 1" in text and "softmax.mistake" in text
    assert bare.read_bytes() != drawn.read_bytes()


def test_two_runs_give_the_same_bytes(tmp_path):
    pytest.importorskip("typst")
    theorem = next(c.theorem for c in all_claims() if c.name == "softmax.positive")
    first, second = tmp_path / "first.pdf", tmp_path / "second.pdf"
    write_pdf([theorem], first)
    write_pdf([theorem], second)
    assert first.read_bytes() == second.read_bytes()


def compiled(body, place):
    source = compiling.Source(body, EMPTY.drawings, Counts(0, 0, 0, 0, 0))
    return compiling._compiled(pytest.importorskip("typst"), source, place)


@pytest.mark.slow
def test_a_formula_never_leaves_its_line(tmp_path):
    """Long sums, long products, long arguments with a subscript, long fractions, and what has no place to break it at."""
    long = " + ".join(["x_(i)"] * 90)
    fraction, listed = f"frac({long}, {long})", ", ".join(["W_(i j)"] * 60)
    formulas = (
        long,
        long.replace(" + ", " "),
        f'"f"({listed})_(i)',
        fraction,
        f"sum_(i = 0)^(n) {fraction} y",
        f"sqrt({fraction})",
    )
    head = f'{"".join(book.templates())}\n#show: book.with(title: "", language: "en")\n#running("")\n'
    calls = (f"#statement(none, ${f}$)\n#step(1, $=$, ${f}$, [as given, using #wide(${f}$)])" for f in formulas)
    pages = pages_of(compiled(head + "\n".join(calls), tmp_path))
    assert len(pages) > 1 and [x for page in pages for x, _ in letters(page) if x > RIGHT] == []


def test_tall_lines_do_not_touch():
    """Typst lets tall lines of a paragraph overlap, if nothing is done."""
    typst = pytest.importorskip("typst")
    tall = "sum_(i = 0)^(n) frac(x, y)"
    two = f"displayed(${tall} + {tall}$.body)"  # wider than 50 pt
    measured = (f"one-line(displayed(${tall}$.body))", f"spread({two}, 0pt)", f"par({two})")
    heights = ", ".join(f"measure({what}, width: 50pt).height.pt()" for what in measured)
    source = "".join(book.templates()) + f"#context [#metadata(({heights})) <heights>]"
    one, spread, careless = json.loads(typst.query(source.encode(), "<heights>", field="value", one=True))
    assert careless < 2 * one < spread < 2 * one + 8


def test_a_line_without_breaks_is_seen_beyond_the_margin(tmp_path):
    body = '#set page(margin: 24mm)\n$upright("' + "long" * 60 + '") x y z$'
    (page,) = pages_of(compiled(body, tmp_path))
    assert [x for x, _ in letters(page) if x > RIGHT]


def test_warnings_are_refused(tmp_path):
    with pytest.raises(RenderError, match=r"Typst warns of the document: .*unknown font family"):
        compiled('#set text(font: "No Such Font")\nx', tmp_path)


def test_errors_are_told(tmp_path):
    with pytest.raises(RenderError, match="Typst refuses the document: unknown variable: softmacks"):
        compiled("#softmacks", tmp_path)


def test_without_typst(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(
        RenderError, match=r"needs the package typst; found none; install it with: pip install '.*\[pdf\]'"
    ):
        write_pdf(THEOREMS, tmp_path / "none.pdf")


def words_of(pdf):
    """The words of each page with their right ends; pypdf would take minutes for a whole document."""
    needs("pdftotext")
    told = run(pdf.parent, "pdftotext", "-bbox", pdf.name, "-")
    found = re.compile(r'xMax="([\d.]+)" yMax="[\d.]+">(.*)</word>')
    return [[(float(x), word) for x, word in found.findall(page)] for page in told.split("<page ")[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_whole_catalogue(language, tmp_path):
    pytest.importorskip("typst")
    theorems, out = [c.theorem for c in all_claims()], tmp_path / "whole.pdf"
    start = time.process_time()
    counts = write_pdf(theorems, out, in_language(language))
    assert time.process_time() - start < 60  # about 20 s where nothing else runs
    assert counts.theorems == len(theorems) and counts.formulas > 9000
    assert out.stat().st_size < 6_000_000
    pages = words_of(out)
    assert 300 < len(pages) < 500
    assert [k for k, words in enumerate(pages, 1) if len(words) < 20] == []
    assert [
        (k, word) for k, words in enumerate(pages, 1) for x, word in words if x > RIGHT + 3
    ] == []  # a stop may hang
    whole = "".join(word for words in pages for _, word in words)
    assert [t.name for t in theorems if t.name not in whole] == []

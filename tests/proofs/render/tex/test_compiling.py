"""latexmk: what it makes, what it refuses, and that nothing of it is left running or lying about."""

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from proofs.axioms import AXIOMS
from proofs.claims import CLAIMS
from proofs.registry import all_claims
from proofs.render.catalogues import ENGLISH
from proofs.render.names import RenderError
from proofs.render.tex import claim_fragment, compiling, fragment
from proofs.render.tex.book import MAIN, book_files
from proofs.render.tex.compiling import RUNS, compiled
from tests.latex import needs, problems, run, words_of

from .samples import theorem

DOCUMENT = r"\documentclass{article}\begin{document}%s\end{document}"
JACOBIAN = theorem("softmax_jacobian.jacobian")


@pytest.fixture
def nothing_is_left(monkeypatch, tmp_path):
    """Folders are made below an empty one, which is empty again afterwards; every process has ended."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    started = []
    popen = compiling.subprocess.Popen

    def remembered(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", remembered)
    yield
    assert os.listdir(tmp_path) == []
    assert [process for process in started if process.returncode is None] == []
    end = time.monotonic() + 5
    while any(living(process.pid) for process in started) and time.monotonic() < end:
        time.sleep(0.05)
    assert [living(process.pid) for process in started] == [[]]


def living(group):
    """The processes of a group, as Linux tells them, without those that have ended and wait to be asked how."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group, *_ = path.read_text().rpartition(")")[2].split()
            found += [path] if int(its_group) == group and state != "Z" else []
    return found


def test_one_theorem(tmp_path):
    needs("latexmk", "pdflatex", "pdftotext")
    files = book_files([JACOBIAN], [fragment(JACOBIAN)], [claim_fragment(CLAIMS[10])], ENGLISH)
    told = []
    (tmp_path / "one.pdf").write_bytes(compiled(files, MAIN, told.append))
    text = words_of(tmp_path / "one.pdf")
    assert "Theorem 1.1 (jacobian). The Jacobian of softmax, derived from its definition." in text
    assert "Claim 1 (C11, proved)." in text and "Decided by. Theorem 1.1." in text
    assert "References [1] " in text
    assert told == sorted(told) and told[-1] == RUNS * 3  # the document and both fragments, in each run


def test_the_first_error_is_told_with_its_file(nothing_is_left):
    needs("latexmk", "pdflatex")
    files = {"main.tex": DOCUMENT % r"\input{a/b}", "a/b.tex": "right\n\\wrong\n\\wronger"}
    with pytest.raises(
        RenderError, match=r"^LaTeX refuses the document: a/b.tex, line 2: Undefined control sequence\.$"
    ):
        compiled(files, "main.tex")


def test_an_error_without_a_place_is_told(nothing_is_left):
    needs("latexmk", "pdflatex")
    with pytest.raises(RenderError, match=r"^LaTeX refuses the document: .*main"):
        compiled({"main.tex": "\\relax"}, "main.tex")


def test_a_document_that_takes_too_long(nothing_is_left):
    needs("latexmk", "pdflatex")
    endless = {"main.tex": DOCUMENT % r"\loop\iftrue\repeat"}
    with pytest.raises(RenderError, match="latexmk was stopped: it may take 1 s"):
        compiled(endless, "main.tex", limit=1.0)


def test_an_interruption_ends_every_process(nothing_is_left):
    needs("latexmk", "pdflatex")

    def interrupt(count):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compiled({"main.tex": DOCUMENT % r"\loop\iftrue\repeat"}, "main.tex", interrupt)
    assert time.monotonic() - start < 30


def test_programs_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program: None)
    assert compiling.missing_programs() == ["latexmk", "pdflatex"]


@pytest.mark.slow
def test_two_runs_give_the_same_bytes():
    needs("latexmk", "pdflatex")
    files = book_files([JACOBIAN], [fragment(JACOBIAN)], [], ENGLISH)
    first = compiled(files, MAIN)
    time.sleep(1.1)  # another second on the clock
    assert compiled(files, MAIN) == first


@pytest.mark.slow
def test_the_whole_catalogue(tmp_path):
    needs("latexmk", "pdflatex", "pdftotext")
    theorems = [*(axiom.theorem for axiom in AXIOMS), *(claim.theorem for claim in all_claims())]
    files = book_files(theorems, list(map(fragment, theorems)), list(map(claim_fragment, CLAIMS)), ENGLISH)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run(tmp_path, *compiling._COMMAND, MAIN)
    stem = MAIN.removesuffix(".tex")
    assert problems(tmp_path / f"{stem}.log") == []
    pages = run(tmp_path, "pdftotext", f"{stem}.pdf", "-").split("\f")[:-1]
    assert 300 < len(pages) < 700
    assert [k for k, text in enumerate(pages, 1) if len(text.split()) < 12] == []
    assert all(f"(C{k}, " in "".join(pages[-30:]) for k in range(1, len(CLAIMS) + 1))
    bookmarks = (tmp_path / f"{stem}.out").read_text(encoding="utf-8").splitlines()
    assert len(bookmarks) > len(theorems) + len(CLAIMS)

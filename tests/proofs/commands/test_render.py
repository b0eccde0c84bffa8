"""`render`: what it writes, what it refuses, and what it says of it."""

import importlib.util
import json
import shutil

import pytest

from proofs.commands import targets
from proofs.commands.render import requested
from proofs.commands.selection import UsageError, of_names
from proofs.registry import all_claims
from proofs.render.gate import GateError
from proofs.render.tex import LAYOUTS
from tests.latex import needs

from .command_line import run

FAMILY = "softmax_ties"
COUNT = sum(claim.family == FAMILY for claim in all_claims())


def rendered(tmp_path, *arguments, code=0):
    return json.loads(run("render", *arguments, "--out", tmp_path, "--json", code=code).stdout)


def names_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_one_theorem_as_tex(tmp_path):
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "tex")
    files = ["all.tex", "claims/C11.tex", "preamble.tex", "references.bib", "softmax_jacobian/jacobian.tex"]
    assert names_in(tmp_path) == files
    assert sorted(found["files"]) == names_in(tmp_path)
    assert (found["theorems"], found["formulas"], found["refused"]) == (1, 21, [])
    text = (tmp_path / "softmax_jacobian/jacobian.tex").read_text(encoding="utf-8")
    assert "layout wide, language en" in text


def test_a_claim_stands_for_the_theorems_that_decide_it(tmp_path):
    found = rendered(tmp_path, "C12", "--to", "tex")
    assert found["theorems"] == 2
    assert {"claims/C12.tex", "softmax_jacobian/symmetric.tex", "softmax_jacobian/instance_of_four.tex"} < set(
        names_in(tmp_path)
    )
    assert r"\input{claims/C12}" in (tmp_path / "all.tex").read_text(encoding="utf-8")


def test_a_claim_that_a_failed_proof_leaves_open_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("proofs.claims._holds", lambda claim: claim.name != "softmax_jacobian.symmetric")
    rendered(tmp_path, "softmax_jacobian.instance_of_four", "--to", "tex")
    assert "claims/C12.tex" not in names_in(tmp_path)


def test_layout_and_language(tmp_path):
    rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "tex", "--layout", "column", "--lang", "ko")
    text = (tmp_path / "softmax_jacobian/jacobian.tex").read_text(encoding="utf-8")
    assert "layout column, language ko" in text
    assert "소프트맥스" in text


@pytest.mark.parametrize("target", ["tex", "markdown"])
def test_notation(tmp_path, target):
    for notation, found, recorded in (
        ("zero-based", "l=0}^{n - 1}", "Indices are counted from 0"),
        ("one-based", "l=1}^{n}", "Indices are counted from 1"),
    ):
        folder = tmp_path / notation
        run("render", "softmax_jacobian.jacobian", "--to", target, "--out", folder, "--notation", notation)
        path = folder / ("softmax_jacobian/jacobian.tex" if target == "tex" else "softmax_jacobian.md")
        text = path.read_text(encoding="utf-8")
        assert found in text and recorded in text and "Tokens are rows" in text
        assert target == "markdown" or f"language en, notation {notation}" in text


def test_a_family_and_the_axioms_that_it_rests_on(tmp_path):
    found = rendered(tmp_path, FAMILY, "relative_position.positions_are_distinct", "--to", "tex")
    assert found["theorems"] == COUNT + 1
    assert "axioms/cosine_is_one_at_full_turns_only.tex" in names_in(tmp_path)
    assert sum(name.startswith(FAMILY) for name in names_in(tmp_path)) == COUNT


def test_markdown(tmp_path):
    found = rendered(tmp_path, FAMILY, "--to", "markdown")
    assert names_in(tmp_path) == ["README.md", "claims.md", f"{FAMILY}.md"]
    assert found["formulas"] > 50
    assert f"({FAMILY}.md)" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_pdf(tmp_path):
    pytest.importorskip("typst", reason="the package typst is not installed")
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "pdf")
    assert found["files"] == names_in(tmp_path) == ["theorems.pdf"]
    assert (tmp_path / "theorems.pdf").read_bytes().startswith(b"%PDF")
    assert found["formulas"] > 10


def test_pdf_by_latexmk(tmp_path):
    needs("latexmk", "pdflatex")
    found = rendered(tmp_path, "C11", "--to", "pdf", "--engine", "latexmk")
    assert found["files"] == names_in(tmp_path) == ["theorems.pdf"]
    assert (found["theorems"], found["formulas"]) == (1, 21)
    assert b"LaTeX" in (tmp_path / "theorems.pdf").read_bytes()


def test_what_latex_refuses_is_told_and_nothing_is_written(tmp_path, monkeypatch):
    needs("latexmk", "pdflatex")
    monkeypatch.setattr(targets, "book_files", lambda *arguments: {targets.MAIN: r"\wrong"})
    found = rendered(tmp_path, "C11", "--to", "pdf", "--engine", "latexmk", code=1)
    assert found["problem"] == "LaTeX refuses the document: theorems.tex, line 1: Undefined control sequence."
    assert names_in(tmp_path) == []


def test_notation_of_a_pdf(tmp_path):
    pypdf = pytest.importorskip("pypdf", reason="the package pypdf is not installed")
    pytest.importorskip("typst", reason="the package typst is not installed")
    rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "pdf", "--notation", "one-based")
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(tmp_path / "theorems.pdf").pages)
    assert "Indices are counted from 1" in " ".join(text.split())


def test_notation_of_a_site(tmp_path):
    pytest.importorskip("math_core", reason="the package math-core is not installed")
    pytest.importorskip("jinja2", reason="the package jinja2 is not installed")
    rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "html", "--notation", "one-based")
    for name in ("index.html", "softmax_jacobian.html", "ko/index.html"):
        assert '<meta name="notation" content="one-based">' in (tmp_path / name).read_text(encoding="utf-8")
    assert "Indices are counted from 1" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "인덱스는 1부터 센다" in (tmp_path / "ko/index.html").read_text(encoding="utf-8")
    assert "l=1}^{n}" in (tmp_path / "softmax_jacobian.html").read_text(encoding="utf-8")


def test_html(tmp_path):
    pytest.importorskip("math_core", reason="the package math-core is not installed")
    pytest.importorskip("jinja2", reason="the package jinja2 is not installed")
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "html")
    assert {"index.html", "softmax_jacobian.html", "ko/index.html"} <= set(found["files"])
    assert found["files"] == names_in(tmp_path)


def test_what_it_says(tmp_path):
    said = run("render", "softmax_jacobian.jacobian", "--to", "tex", "--out", tmp_path).stdout
    assert f"5 files in {tmp_path}" in said.replace("\n  ", " ")
    assert "1 theorem, 21 formulas parsed back and equal to what was proved" in said


# --- what is refused


def refusing(monkeypatch, name):
    write = targets.fragment

    def fragment(theorem, *options):
        if theorem.name == name:
            raise GateError(f"{name}, then: a = b says other things")
        return write(theorem, *options)

    monkeypatch.setattr(targets, "fragment", fragment)


def test_a_refused_theorem_is_named_and_the_others_are_written(tmp_path, monkeypatch):
    wrong = f"{FAMILY}.tie_does_not_vanish"
    refusing(monkeypatch, wrong)
    found = rendered(tmp_path, FAMILY, "--to", "tex", code=1)
    assert found["refused"] == [{"name": wrong, "message": f"{wrong}, then: a = b says other things"}]
    assert found["theorems"] == COUNT - 1
    assert f"{FAMILY}/tie_does_not_vanish.tex" not in names_in(tmp_path)
    assert "tie_does_not_vanish" not in (tmp_path / "all.tex").read_text(encoding="utf-8")
    said = run("render", FAMILY, "--to", "tex", "--out", tmp_path, code=1).stdout
    assert f"REFUSED {wrong}\n  {wrong}, then: a = b says other things\n" in said


def test_whole_targets_go_on_without_a_refused_theorem():
    theorems = [claim.theorem for claim in all_claims() if claim.family == FAMILY]
    written = targets.Written()

    def write(accepted):
        if theorems[1] in accepted:
            raise GateError(f"{theorems[1].name}, step 1: wrong")
        return len(accepted)

    assert targets._without_refused(theorems, written, write) == len(theorems) - 1
    assert list(written.refused) == [theorems[1].name]


def test_what_is_no_theorems_fault_is_told(tmp_path, monkeypatch):
    def write(*arguments):
        raise GateError("the document lacks something")

    monkeypatch.setattr(targets.document, "write_pdf", write)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "pdf", code=1)
    assert found["problem"] == "the document lacks something"
    assert names_in(tmp_path) == []


def test_interruption_leaves_whole_files(tmp_path, monkeypatch):
    done, write = [], targets.fragment

    def fragment(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return write(*arguments)

    monkeypatch.setattr(targets, "fragment", fragment)
    found = rendered(tmp_path, FAMILY, "--to", "tex", code=130)
    assert found["interrupted"] is True
    assert len(names_in(tmp_path)) == 2
    assert all(path.read_text(encoding="utf-8").endswith("\\endgroup\n") for path in tmp_path.rglob("*.tex"))


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path):
    path = tmp_path / "a.tex"
    path.write_text("older", encoding="utf-8")

    def stop():
        with targets._replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        stop()
    assert [p.name for p in tmp_path.iterdir()] == ["a.tex"]
    assert path.read_text(encoding="utf-8") == "older"


# --- wrong usage: nothing is tried


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["C23"], "no theorem is named 'C23'; did you mean C"),
        (["--engine", "typst"], "--engine is for --to pdf; found --to tex"),
        (["--to", "pdf", "--engine", "latex"], "--engine latex: needed typst or latexmk; did you mean latexmk?"),
        (
            ["--to", "pdf", "--engine", "latexmk", "--lang", "ko"],
            "has no Hangul font for --lang ko; --engine typst brings one",
        ),
        (["--to", "pdf", "--engine", "latexmk", "--figures", "."], "--engine latexmk cannot include SVG figures"),
        (["softmx"], "no theorem is named 'softmx'; did you mean softmax"),
        (["rows_sum_to_zeros"], "did you mean softmax_jacobian.rows_sum_to_zero"),
        (["--to", "latex"], "--to latex: needed tex or pdf or html or markdown; did you mean tex?"),
        (["--layout", "columns"], "--layout columns: needed wide or column; did you mean column?"),
        (["--lang", "kr"], "--lang kr: needed en or ko"),
        (["--notation", "one"], "--notation one: needed zero-based or one-based"),
        (["--figures", "."], "--figures is for --to pdf and --to html; found --to tex"),
        (["--to", "markdown", "--layout", "wide"], "--layout is for --to tex; found --to markdown"),
        (["--to", "pdf", "--figures", "nowhere"], "--figures nowhere: no such folder"),
    ],
)
def test_wrong_usage(tmp_path, arguments, message):
    given = ["--to", "tex", *arguments] if "--to" not in arguments else arguments
    result = run("render", *given, "--out", tmp_path / "new", code=2)
    assert message in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_file_in_the_place_of_the_folder(tmp_path):
    path = tmp_path / "file"
    path.write_text("", encoding="utf-8")
    for target in ("tex", "html"):
        assert f"--out {path} is a file; name a folder" in run("render", "--to", target, "--out", path, code=2).stderr
    assert "cannot be made: Not a directory" in run("render", "--to", "tex", "--out", path / "new", code=2).stderr


@pytest.mark.parametrize(("target", "package"), [("pdf", "typst"), ("html", "jinja2 and math-core")])
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, target, package):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        requested(target, tmp_path, None, None, None)
    assert str(caught.value) == (
        f"--to {target} needs {package}, which is not installed; install it with: "
        f"pip install 'transformer-proofs[{target}]'"
    )


def test_missing_programs_are_named_with_their_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program: None)
    arguments = ("render", "--to", "pdf", "--engine", "latexmk", "--out", tmp_path / "new")
    said = run(*arguments, code=2).stderr
    assert "needs latexmk and pdflatex; found none; install it with: apt-get install latexmk texlive-latex-base" in said
    assert not (tmp_path / "new").exists()


def test_latexmk_needs_no_typst(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda program: program)
    assert requested("pdf", tmp_path, engine="latexmk").engine == "latexmk"


def test_a_site_has_every_language_and_others_one(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    languages = lambda *asked: [c.language for c in requested(*asked).catalogues]
    assert languages("html", tmp_path, None, None, None) == ["en", "ko"]
    assert languages("html", tmp_path, None, "ko", None) == ["ko"]
    assert languages("pdf", tmp_path, None, None, None) == ["en"]
    assert requested("tex", tmp_path, None, None, None).layout == LAYOUTS["wide"]


def test_names_and_families_keep_the_order_of_the_catalogue():
    claims = all_claims()
    names = ["softmax_jacobian.jacobian", FAMILY, "rows_sum_to_zero"]
    found = [claim.name for claim in of_names(claims, names)]
    assert found == [c.name for c in claims if c.family == FAMILY or c.name in (
        "softmax_jacobian.jacobian", "softmax_jacobian.rows_sum_to_zero")]  # fmt: skip
    assert of_names(claims, []) == claims

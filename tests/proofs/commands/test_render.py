"""`render`: what it writes, what it refuses, and what it says of it."""

import importlib.util
import json

import pytest

from proofs.commands import targets
from proofs.commands.render import requested
from proofs.commands.selection import UsageError, of_names
from proofs.registry import all_claims
from proofs.render.gate import GateError
from proofs.render.tex import LAYOUTS

from .command_line import run

FAMILY = "softmax_ties"
COUNT = sum(claim.family == FAMILY for claim in all_claims())


def rendered(tmp_path, *arguments, code=0):
    return json.loads(run("render", *arguments, "--out", tmp_path, "--json", code=code).stdout)


def names_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_one_theorem_as_tex(tmp_path):
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "tex")
    assert names_in(tmp_path) == ["all.tex", "preamble.tex", "references.bib", "softmax_jacobian/jacobian.tex"]
    assert sorted(found["files"]) == names_in(tmp_path)
    assert (found["theorems"], found["formulas"], found["refused"]) == (1, 21, [])
    text = (tmp_path / "softmax_jacobian/jacobian.tex").read_text(encoding="utf-8")
    assert "layout wide, language en" in text


def test_layout_and_language(tmp_path):
    rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "tex", "--layout", "column", "--lang", "ko")
    text = (tmp_path / "softmax_jacobian/jacobian.tex").read_text(encoding="utf-8")
    assert "layout column, language ko" in text
    assert "소프트맥스" in text


def test_a_family_and_the_axioms_that_it_rests_on(tmp_path):
    found = rendered(tmp_path, FAMILY, "relative_position.positions_are_distinct", "--to", "tex")
    assert found["theorems"] == COUNT + 1
    assert "axioms/cosine_is_one_at_full_turns_only.tex" in names_in(tmp_path)
    assert sum(name.startswith(FAMILY) for name in names_in(tmp_path)) == COUNT


def test_markdown(tmp_path):
    found = rendered(tmp_path, FAMILY, "--to", "markdown")
    assert names_in(tmp_path) == ["README.md", f"{FAMILY}.md"]
    assert found["formulas"] > 50
    assert f"({FAMILY}.md)" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_pdf(tmp_path):
    pytest.importorskip("typst", reason="the package typst is not installed")
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "pdf")
    assert found["files"] == names_in(tmp_path) == ["theorems.pdf"]
    assert (tmp_path / "theorems.pdf").read_bytes().startswith(b"%PDF")
    assert found["formulas"] > 10


def test_html(tmp_path):
    pytest.importorskip("math_core", reason="the package math-core is not installed")
    pytest.importorskip("jinja2", reason="the package jinja2 is not installed")
    found = rendered(tmp_path, "softmax_jacobian.jacobian", "--to", "html")
    assert {"index.html", "softmax_jacobian.html", "ko/index.html"} <= set(found["files"])
    assert found["files"] == names_in(tmp_path)


def test_what_it_says(tmp_path):
    said = run("render", "softmax_jacobian.jacobian", "--to", "tex", "--out", tmp_path).stdout
    assert f"4 files in {tmp_path}" in said.replace("\n  ", " ")
    assert "1 theorem, 21 formulas parsed back and equal to what was proved" in said


# --- what is refused


def refusing(monkeypatch, name):
    write = targets.fragment

    def fragment(theorem, layout, catalogue):
        if theorem.name == name:
            raise GateError(f"{name}, then: a = b says other things")
        return write(theorem, layout, catalogue)

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
        (["softmx"], "no theorem is named 'softmx'; did you mean softmax"),
        (["rows_sum_to_zeros"], "did you mean softmax_jacobian.rows_sum_to_zero"),
        (["--to", "latex"], "--to latex: needed tex or pdf or html or markdown; did you mean tex?"),
        (["--layout", "columns"], "--layout columns: needed wide or column; did you mean column?"),
        (["--lang", "kr"], "--lang kr: needed en or ko"),
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

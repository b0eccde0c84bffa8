"""A site is written whole or not at all, over nothing but an older site, and refused where it would say something else."""

import builtins

import pytest

from proofs.registry import all_claims
from proofs.render import site
from proofs.render.catalogues import ENGLISH, in_language
from proofs.render.gate import GateError
from proofs.render.inverse.problems import UnreadableError
from proofs.render.latex import Latex
from proofs.render.names import RenderError
from proofs.render.page_formulas import formulas_of, without_prose
from proofs.render.parts import Formula
from proofs.render.site import MissingPackageError

pytest.importorskip("jinja2", reason="the site's templates are Jinja's")
pytest.importorskip("math_core", reason="formulas become MathML by math-core")

from proofs.render import library
from proofs.render.site import building, edition
from proofs.render.site.typesetting import Typesetter

THEOREMS = [c.theorem for c in all_claims() if c.name == "softmax_jacobian.symmetric"]


def build(folder, **options):
    return site.build(THEOREMS, folder, **options)


def test_summary_counts_what_is_there(small):
    pages = list(small.folder.rglob("*.html"))
    assert small.summary.pages == len(pages) == 2 * (3 + 3)
    name, size = small.summary.largest
    assert (small.folder / name).stat().st_size == size == max(p.stat().st_size for p in pages)
    assert small.summary.formulas > 200
    assert small.summary.seconds > 0


def test_progress_counts_to_the_end(small):
    done, total = zip(*small.progress, strict=True)
    assert done == tuple(range(total[0] + 1))
    assert set(total) == {len(done) - 1}


def test_an_older_site_is_replaced(tmp_path):
    build(tmp_path / "site")
    (tmp_path / "site" / "old.html").write_text("of an older build")
    build(tmp_path / "site")
    assert not (tmp_path / "site" / "old.html").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "site").mkdir()
    assert build(tmp_path / "site").pages == 4  # the index, the graph, the claim that it decides, its family


def test_a_file_is_refused(tmp_path):
    (tmp_path / "site").write_text("something")
    with pytest.raises(FileExistsError, match=r"site is a file; a site needs a folder: name another"):
        build(tmp_path / "site")
    assert (tmp_path / "site").read_text() == "something"


def test_a_folder_of_others_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(
        FileExistsError, match="holds files that are no site of ours; name a new folder, or an empty one"
    ):
        build(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("at", ["a theorem", "a file"])
def test_an_interrupted_build_leaves_the_older_site(tmp_path, monkeypatch, at):
    build(tmp_path / "site")
    before = {p: p.read_bytes() for p in (tmp_path / "site").rglob("*.*")}

    def interrupt(*_):
        raise KeyboardInterrupt

    if at == "a file":
        monkeypatch.setattr(building, "_assets", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "site", progress=interrupt if at == "a theorem" else None)
    assert {p: p.read_bytes() for p in (tmp_path / "site").rglob("*.*")} == before
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_a_page_that_says_something_else_is_refused(tmp_path, monkeypatch):
    """The gate is asked: a printer that lies writes nothing."""
    monkeypatch.setattr(Latex, "indexed", lambda *_: "z")
    with pytest.raises((GateError, UnreadableError)):
        build(tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_another_count_than_the_gate_s_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "checked", lambda *_: 1)
    with pytest.raises(RenderError, match=r"has \d+ formulas, and 1 were compared with the proof"):
        build(tmp_path / "site")


def test_other_formulas_in_another_language_are_refused(tmp_path, monkeypatch):
    pages = building.pages

    def other(*given):
        first, second = pages(*given)
        return [first, second._replace(conclusion="x")]

    monkeypatch.setattr(building, "pages", other)
    with pytest.raises(RenderError, match="has other formulas in ko than in en"):
        build(tmp_path / "site", catalogues=[ENGLISH, in_language("ko")])


def test_a_template_that_forgets_a_formula_is_refused(tmp_path, monkeypatch):
    class Forgetful(Typesetter):
        def display(self, latex):
            return super().display(latex) if len(latex) > 60 else ""

    monkeypatch.setattr(edition, "Typesetter", Forgetful)
    with pytest.raises(RenderError, match="the page of softmax_jacobian lacks"):
        build(tmp_path / "site")


def test_a_template_that_repeats_a_formula_is_refused(tmp_path, monkeypatch):
    class Talkative(Typesetter):
        def display(self, latex):
            return super().display(latex) + super().display(latex)

    monkeypatch.setattr(edition, "Typesetter", Talkative)
    with pytest.raises(
        RenderError, match="besides; the templates in proofs/render/site/templates must set every formula"
    ):
        build(tmp_path / "site")


@pytest.mark.parametrize(("module", "name"), [("jinja2", "jinja2"), ("math_core", "math-core")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, module, name):
    imported = builtins.__import__

    def without(wanted, *rest, **named):
        if wanted.partition(".")[0] == module:
            raise ImportError(wanted)
        return imported(wanted, *rest, **named)

    monkeypatch.delitem(__import__("sys").modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("importlib.import_module", without)
    with pytest.raises(MissingPackageError) as caught:
        build(tmp_path / "site")
    assert str(caught.value) == (
        f"the site needs {name}, which is not installed; `pip install 'transformer-proofs[html]'` installs it"
    )


def test_what_is_left_without_prose_is_what_the_gate_reads():
    from proofs.render.theorem import page

    (theorem,) = THEOREMS
    names = {t.name for t in theorem.uses}
    english, korean = (page(theorem, Latex, in_language(language)) for language in ("en", "ko"))
    bare = without_prose(english, names)
    assert bare == without_prose(korean, names)
    assert english != korean
    assert formulas_of(bare) == formulas_of(english)
    told = {p.text for line in bare.lines for p in line.reason if not isinstance(p, Formula)}
    assert told == names


def test_a_family_is_not_called_as_another_page(tmp_path, monkeypatch):
    monkeypatch.setattr(edition.Edition, "_index", lambda _: "")
    monkeypatch.setattr(edition.Edition, "_graph", lambda _: "")
    monkeypatch.setattr(library.Library, "families", {"graph": THEOREMS})
    with pytest.raises(RenderError, match=r"found a family whose page would be graph\.html"):
        build(tmp_path / "site")


@pytest.mark.slow
def test_the_whole_site_is_built_in_both_languages_within_20_seconds(whole):
    assert whole.seconds < 20
    assert whole.summary.pages > 130

"""Figures and mistakes are read as they were written, and nothing else gets onto a page."""

import json
from pathlib import Path

import pytest

pytest.importorskip("markupsafe", reason="the site's templates are Jinja's")

from numeric.figures.collection import chosen
from numeric.figures.index import documents, write
from proofs.registry import all_claims
from proofs.render.names import RenderError
from proofs.render.site.figures import read_figures


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    write(folder, documents(chosen(["position_similarity"]), "en", 0))
    return folder


@pytest.fixture
def changed(written, tmp_path):
    """A copy to be damaged."""
    for path in written.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_what_was_written_is_read(written):
    found = read_figures(written, "ko")
    assert found.language == "en"
    (figure,) = found.figures
    assert figure.drawing.startswith("<svg")
    assert "<i>p</i>" in figure.caption
    assert sum(map(len, found.mistakes.values())) > 800


def test_every_theorem_that_they_speak_of_is_one(written):
    found, names = read_figures(written, "en"), {c.name for c in all_claims()}
    spoken_of = {m.theorem for each in found.mistakes.values() for m in each}
    spoken_of |= {name for figure in found.figures for name in figure.theorems}
    assert spoken_of <= names


def test_a_folder_for_each_language(changed):
    (changed / "ko").mkdir()
    for path in list(changed.iterdir()):
        if path.is_file():
            path.rename(changed / "ko" / path.name)
    assert read_figures(changed, "ko").figures
    with pytest.raises(RenderError, match=r"found no figures\.json"):
        read_figures(changed, "en")


def test_a_mistake_breaks_a_theorem_unless_only_its_rounding_is_wrong(written):
    found = read_figures(written, "en")
    kinds = {m.kind for m in found.breaking("softmax.definition")} | {
        m.kind for m in found.breaking("layer_norm.variance")
    }
    assert "unstable" not in kinds
    assert found.breaking("layer_norm.variance")


def test_a_figure_stands_at_the_first_theorem_of_a_page_that_it_shows(written):
    (figure,) = read_figures(written, "en").figures
    page = ["position_similarity.other", *reversed(figure.theorems)]
    assert list(read_figures(written, "en").showing(page)) == [figure.theorems[-1]]


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ("<script>alert(1)</script>", "has scripts or foreign parts"),
        ('<rect onclick="alert(1)"/>', "has scripts or foreign parts"),
        ('<a href="https://example.org/"><text>x</text></a>', "refers to something outside itself"),
        ("<style>@import 'x.css'</style>", "refers to something outside itself"),
        ('<rect style="fill:url(https://example.org/x.svg)"/>', "refers to something outside itself"),
        ("<image/>", "has scripts or foreign parts"),
        ("<g>", "cannot read"),
    ],
)
def test_a_drawing_brings_nothing_along(changed, planted, message):
    path = changed / "position_similarity.svg"
    path.write_text(path.read_text(encoding="utf-8").replace("</svg>", f"{planted}</svg>"), encoding="utf-8")
    with pytest.raises(RenderError, match=message):
        read_figures(changed, "en")


def test_a_caption_has_no_other_tags(changed):
    _change(
        changed / "figures.json", lambda index: index["figures"][0]["caption"].update(html="<b>x</b> <i>y</i> <script>")
    )
    assert read_figures(changed, "en").figures[0].caption == "&lt;b&gt;x&lt;/b&gt; <i>y</i> &lt;script&gt;"


def test_what_is_not_there_is_named(changed):
    _change(changed / "figures.json", lambda index: index.pop("mistakes"))
    with pytest.raises(RenderError, match="lack 'mistakes'; `python -m numeric figures --out"):
        read_figures(changed, "en")
    (changed / "figures.json").write_text("{")
    with pytest.raises(RenderError, match="cannot read"):
        read_figures(changed, "en")
    with pytest.raises(RenderError, match=r"found no figures\.json"):
        read_figures(Path("nowhere"), "en")


def _change(path, change):
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")

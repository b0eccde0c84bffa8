"""Every figure in both languages: well-formed, self-contained, small, reproducible, legible, and of theorems that there are."""

import re
from functools import cache
from xml.etree import ElementTree

import pytest

from numeric.arithmetic import precision
from numeric.figures import score_variance
from numeric.figures.catalogue import LANGUAGES, Words
from numeric.figures.collection import FIGURES
from numeric.figures.drawing import WIDTH, Drawing
from numeric.figures.figure import BITS, Figure, drawn, written
from proofs.registry import all_claims

from .reading_svg import SVG, collisions

KNOWN = {claim.name for claim in all_claims()}
BY_NAME = {figure.name: figure for figure in FIGURES}


@cache
def both(name, language):
    with precision(BITS):
        drawing = BY_NAME[name].draw(Words(language), 0)
    return drawing, written(BY_NAME[name], Words(language), drawing)


def drawing_of(name, language):
    return both(name, language)[0]


def made(name, language):
    return both(name, language)[1]


every = pytest.mark.parametrize(("name", "language"), [(name, language) for language in LANGUAGES for name in BY_NAME])


@every
def test_it_is_xml_that_says_what_it_shows(name, language):
    figure = made(name, language)
    root = ElementTree.fromstring(figure.svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img" and root.get("lang") == language
    assert root.get("viewBox") == f"0 0 {WIDTH} {figure.height:g}"
    ids = {each.get("id"): "".join(each.itertext()) for each in root.iter() if each.get("id")}
    assert ids[root.get("aria-labelledby")] == figure.as_dict()["title"]["text"]
    assert ids[root.get("aria-describedby")] == figure.as_dict()["alt"]["text"]
    assert all(each.startswith(f"figure-{name}-") for each in ids)
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert re.sub(r"[_^]", "", figure.as_dict()["title"]["text"]) in texts


@every
def test_it_needs_nothing_else_and_is_small(name, language):
    svg = made(name, language).svg
    assert len(svg.encode()) < 30_000
    bare = svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|@import|@font-face|url\(|href|<script|<image|<foreignObject|\son\w+=", bare)


@every
def test_labels_lie_on_nothing_and_within_the_drawing(name, language):
    assert list(collisions(drawing_of(name, language), WIDTH)) == []


@every
def test_its_texts_are_whole(name, language):
    for part in ("title", "caption", "alt"):
        told = made(name, language).as_dict()[part]
        assert told["key"] == f"{name}.{part}"
        assert not re.search(r"[{}\[\]]|\*", told["text"])
        assert re.sub(r"</?(i|sub|sup)>", "", told["html"]).count("<") == 0
        ElementTree.fromstring(f"<p>{told['html']}</p>")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_its_theorems_exist(figure):
    assert figure.theorems
    assert set(figure.theorems) <= KNOWN
    assert made(figure.name, "en").svg.split('data-theorems="')[1].split('"')[0].split() == list(figure.theorems)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_same_seed_gives_the_same_bytes(name):
    assert drawn(BY_NAME[name], Words("en"), 0).svg == made(name, "en").svg


def test_another_seed_gives_another_sample(monkeypatch):
    monkeypatch.setattr(score_variance, "WIDTHS", (1, 2, 4))
    one, again, other = (drawn(BY_NAME["score_variance"], Words("en"), seed).svg for seed in (0, 0, 1))
    assert one == again != other


@pytest.mark.parametrize("name", BY_NAME)
def test_only_the_words_differ_between_languages(name):
    def without_words(svg):
        return re.sub(r"<(title|desc|text)\b.*?</\1>|lang=\"..\"", "", svg)

    english, korean = (made(name, language).svg for language in ("en", "ko"))
    assert english != korean
    assert without_words(english) == without_words(korean)


def test_series_differ_by_more_than_colour():
    """No two colours share a shape: blue stands in circles and plain curves, orange in frames and squares, ink in dashes and triangles."""
    for name in ("position_similarity", "score_variance", "error_allowances"):
        shapes = {}
        for part in drawing_of(name, "en").parts:
            shape = re.match(r'<(circle|rect|path) class="(one|two|ink) (?:full|hollow)"', part)
            if shape:
                shapes.setdefault(shape[2], set()).add(shape[1])
        assert len(shapes) >= 2
        assert len({frozenset(each) for each in shapes.values()}) == len(shapes)


def crowded(words, seed):
    drawing = Drawing(60)
    drawing.label(4, 40, "one label")
    drawing.label(30, 42, "another")
    drawing.label(340, 20, "over the edge")
    drawing.curve([(0, 50), (100, 30)], "one")
    return drawing


def test_a_crowded_drawing_is_seen_to_be_one():
    found = list(collisions(crowded(Words("en"), 0), WIDTH))
    assert found == [
        "'another' lies on 'one label'",
        "'over the edge' leaves the drawing",
        "'one label' lies on a path (one)",
        "'another' lies on a path (one)",
    ]


def test_what_a_message_holds_cannot_break_the_document(monkeypatch):
    messages = {f"hostile.{part}": "<b>&\"'*x*</b> d_[<i>] {n}" for part in ("title", "caption", "alt")}
    monkeypatch.setitem(LANGUAGES, "en", messages)

    def draw(words, seed):
        drawing = Drawing(60)
        drawing.numbers["n"] = "]]></svg>"
        return drawing

    done = drawn(Figure("hostile", ("a.b",), draw), Words("en"), 0)
    root = ElementTree.fromstring(done.svg)
    assert [each.tag.removeprefix(SVG) for each in root] == ["title", "desc", "style", "text"]
    assert done.as_dict()["title"]["text"] == "<b>&\"'x</b> d_(<i>) ]]></svg>"
    assert ElementTree.fromstring(f"<p>{done.as_dict()['title']['html']}</p>").find("b") is None

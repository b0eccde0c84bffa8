"""What the pages say and where they lead, read without a browser: a small site always, the whole one with the slow tests."""

import json
import re
from collections import Counter
from itertools import pairwise
from urllib.parse import unquote

import pytest

from proofs.render.catalogues import in_language
from proofs.render.latex import Latex
from proofs.render.library import Library
from proofs.render.page_formulas import formulas_of
from proofs.render.theorem import page

from .documents import documents


@pytest.fixture(scope="module", params=["small", pytest.param("whole", marks=pytest.mark.slow)])
def built(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def pages(built):
    return documents(built.folder)


def test_every_link_leads_somewhere(pages, built):
    for name, document in pages.items():
        for link in document.links:
            way, _, anchor = link.partition("#")
            if way.startswith("https://"):
                continue
            target = (document.path.parent / way).resolve() if way else document.path
            assert target.is_file(), f"{name}: {link}"
            if anchor and target.suffix == ".html":
                found = pages[str(target.relative_to(built.folder.resolve()))] if way else document
                assert unquote(anchor) in found.ids, f"{name}: {link}"


def test_nothing_is_loaded_from_elsewhere(pages, built):
    for name, document in pages.items():
        loaded = document.with_attribute("src") + document.with_attribute("srcset") + document.with_attribute("data")
        loaded += [(t, a["href"]) for t, a in document.elements if t in ("link", "image", "use") and "href" in a]
        assert all(":" not in value and not value.startswith("//") for _, value in loaded), name
    for path in (built.folder / "assets").iterdir():
        assert not re.search(r"url\((?!data:font/woff2)|@import|https?://[^\s)]*\.(css|js|woff)", path.read_text()), (
            path.name
        )


def test_ids_are_unique(pages):
    for name, document in pages.items():
        twice = [value for value, count in Counter(document.ids).items() if count > 1]
        assert not twice, name


def test_every_page_has_a_title_a_language_and_headings_in_order(pages):
    titles = Counter()
    for name, document in pages.items():
        language = "ko" if name.startswith("ko/") else "en"
        assert ("html", language) in document.with_attribute("lang"), name
        levels = [int(tag[1]) for tag, _ in document.headings]
        assert levels[0] == 1
        assert levels.count(1) == 1, name
        assert all(after - before <= 1 for before, after in pairwise(levels)), name
        assert all(text.strip() for _, text in document.headings), name
        titles[language, document.title.strip()] += 1
    assert max(titles.values()) == 1, titles.most_common(1)


def test_the_formulas_are_those_of_the_model(pages, built):
    for language in ("en", "ko"):
        mine = [d for name, d in pages.items() if name.startswith("ko/") == (language == "ko")]
        theorems = Library(built.theorems).theorems.values()
        wanted = Counter(f for t in theorems for f in formulas_of(page(t, Latex, in_language(language))))
        assert Counter(f for document in mine for f in document.formulas) == wanted
        maths = sum(tag == "math" for document in mine for tag, _ in document.elements)
        assert maths == wanted.total() == built.summary.formulas


def test_the_index_tells_how_many_formulas_were_compared(pages, built):
    count = f"{built.summary.formulas:,}"
    assert f"{count} formulas, each parsed back and compared with the proof" in "".join(pages["index.html"].texts)
    assert count in "".join(pages["ko/index.html"].texts)


def test_the_search_knows_every_theorem(pages, built):
    text = (built.folder / "index.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="site-index">(.*?)</script>', text, re.DOTALL)[1])
    names = {row[0] for row in data}
    assert {t.name for t in built.theorems} <= names
    assert all(len(row) == 5 and row[1] and row[2] for row in data)
    korean = (built.folder / "ko" / "index.html").read_text(encoding="utf-8")
    assert all(
        t.says.replace("&", "\\u0026").replace("<", "\\u003c") in korean for t in built.theorems if '"' not in t.says
    )


def test_every_theorem_has_its_parts(pages, built):
    for theorem in built.theorems:
        family, own = theorem.name.split(".")
        document = pages[f"{family}.html"]
        assert own in document.ids
        assert {f"{own}-{k + 1}" for k in range(len(theorem.steps))} <= set(document.ids)
        assert {f"{own}-near-{k + 1}" for k in range(len(theorem.near_misses))} <= set(document.ids)
        for cited in theorem.uses:
            if cited in built.theorems:
                where, anchor = cited.name.split(".")
                assert any(link in (f"{where}.html#{anchor}", f"#{anchor}") for link in document.links)


def test_pictures_say_what_they_show(pages):
    for name, document in pages.items():
        for tag, attributes in document.elements:
            if tag == "img":
                assert attributes.get("alt"), name
            if tag == "svg" and attributes.get("role") == "img":
                assert attributes.get("aria-labelledby") in document.ids, name


def test_the_same_in_the_other_language_is_one_link_away(pages):
    for name, document in pages.items():
        other = f"../{name[3:]}" if name.startswith("ko/") else f"ko/{name}"
        assert other in document.links, name


def test_text_is_escaped():
    from jinja2 import UndefinedError

    from proofs.render.site.edition import _environment

    assert _environment().from_string("{{ x }}").render(x="<script>") == "&lt;script&gt;"
    with pytest.raises(UndefinedError, match="nothing"):
        _environment().from_string("{{ nothing }}").render()

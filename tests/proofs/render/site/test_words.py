"""The words of the site: every one is used, and there are those for every chapter and kind of mistake."""

import re
from importlib.resources import files

import pytest

from proofs.render.catalogues.files import languages, messages
from proofs.render.chapters import CHAPTERS

PACKAGE = files("proofs.render.site")
SOURCES = [p.read_text(encoding="utf-8") for p in PACKAGE.joinpath("templates").iterdir()]
SOURCES += [p.read_text(encoding="utf-8") for p in PACKAGE.iterdir() if p.name.endswith(".py")]
FAMILIES = {
    "chapter_": [*(title for title, _ in CHAPTERS), "others"],
    "count_": ["theorems", "families", "steps", "refusals", "formulas"],
    "kind_": ["mistake", "variant", "unstable"],
}
COUNTED = ("theorem", "step", "false")


def made_up():
    """Keys that the templates put together."""
    yield from (prefix + name for prefix, names in FAMILIES.items() for name in names)
    yield from (f"{what}_{number}" for what in COUNTED for number in ("one", "many"))


def named():
    """Keys that stand in a template, or in Python, as they are."""
    return set(re.findall(r'"site\.(?!css|js)([a-z_]+[a-z])"', "\n".join(SOURCES)))


@pytest.mark.parametrize("language", languages())
def test_every_word_is_used_and_every_word_that_is_used_is_there(language):
    there = {key.removeprefix("site.") for key in messages(language) if key.startswith("site.")}
    needed = named() | set(made_up())
    assert there - needed == set()
    assert needed - there == set()

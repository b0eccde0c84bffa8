"""One family as a chapter: its title, what it is about, the definitions that it speaks of, and its theorems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...kernel import Theorem
from ..catalogues import Catalogue, CatalogueError
from ..families import About, about
from ..names import RenderError
from ..theorem import Page
from .drawings import Drawing, Gallery, placed
from .markup import Setter, array, call, string
from .theorem_pages import Definition, TheoremPages, defined_name


class FamilyPages:
    """Sets chapters in the words of a catalogue, with the figures of a gallery."""

    def __init__(self, catalogue: Catalogue, setter: Setter, pages: Mapping[str, Page], gallery: Gallery):
        self.catalogue, self._set, self._pages = catalogue, setter, pages
        self._drawings = placed(gallery.drawings, list(pages))
        self._theorems = TheoremPages(catalogue, setter, gallery.mistakes)

    def chapter(self, part: str, number: int, family: str, theorems: Sequence[Theorem]) -> Iterator[str]:
        told = described(family, self.catalogue)
        names = map(string, (part, str(number), family, told.title))
        yield call("chapter", *names, self._set.words(told.introduction))
        for key, text in (("scope", told.scope), ("hypothesis", told.hypothesis), ("reference", told.reference)):
            if text is not None:
                yield call("about", string(self.catalogue.text(f"site.{key}")), self._set.words(text))
        shared = alike(self._pages[t.name].definitions for t in theorems)
        if shared:
            title = string(self.catalogue.text("document.definitions"))
            yield call("definitions", title, *map(self._theorems.definition, shared), family=string(family))
        for k, theorem in enumerate(theorems, 1):
            yield from self._theorems.theorem(theorem, self._pages[theorem.name], f"{number}.{k}", shared)
            yield from map(self._drawing, self._drawings.get(theorem.name, ()))

    def _drawing(self, drawing: Drawing) -> str:
        shown = array(map(self._set.name, drawing.theorems))
        shows = string(self.catalogue.text("site.figure_shows"))
        return call("drawing", string(drawing.file), string(drawing.title), drawing.caption, shows, shown)


def described(family: str, catalogue: Catalogue) -> About:
    """What a family says of itself, and of a user's own family the name only; raises CatalogueError for a missing sentence."""
    try:
        return about(family, catalogue)
    except CatalogueError:
        raise
    except RenderError:
        return About(family, family.replace("_", " ").capitalize(), "", None, None, None)


def alike(used: Iterator[tuple[Definition, ...]] | Sequence[tuple[Definition, ...]]) -> list[Definition]:
    """The definitions that read the same wherever they are used, to be printed once."""
    every = list(dict.fromkeys(d for definitions in used for d in definitions))
    names = [defined_name(d) for d in every]
    return [d for d, name in zip(every, names, strict=True) if names.count(name) == 1]

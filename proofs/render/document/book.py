"""A whole document as Typst source: every theorem that was given, and the axioms that these rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from ...kernel import Theorem
from ..catalogues import ENGLISH, Catalogue
from ..chapters import chapters
from ..gate import gated_page
from ..library import Library
from ..names import RenderError
from ..numbering import ZERO_BASED, Numbering
from ..page_formulas import formulas_of
from ..theorem import Page
from .closing import bibliography, claims_table, index_of_names
from .drawings import EMPTY, Drawing, Gallery
from .family_pages import FamilyPages, described
from .markup import Setter, call, string
from .opening import Counts, Entry, contents, reading, title_page, trusted

Progress = Callable[[int, int], None]  # how many of how many theorems are printed
TEMPLATES = ("style", "formulas", "book", "theorem", "behind")  # each may use what stands in those before it


class Source(NamedTuple):
    """Typst source, and the figures that it includes by their file names."""

    text: str
    drawings: tuple[Drawing, ...]
    counts: Counts


def source(
    theorems: Iterable[Theorem],
    catalogue: Catalogue = ENGLISH,
    gallery: Gallery = EMPTY,
    progress: Progress = lambda done, of: None,
    numbering: Numbering = ZERO_BASED,
) -> Source:
    """The document's source. Raises GateError and RenderError as `write_pdf` does."""
    library = Library(theorems)
    pages = dict(_printed(library, catalogue, progress, numbering))
    setter = Setter(library.theorems.__contains__)
    guide = list(reading(catalogue, setter, numbering, bool(gallery.drawings)))
    parts = _parts(library, catalogue)
    body = list(_body(library, FamilyPages(catalogue, setter, pages, gallery), parts))
    _require_all(setter.formulas, pages)
    counts = _counts(pages, parts, setter)
    before = [*title_page(catalogue, counts), *contents(catalogue, parts), *guide, *trusted(catalogue, counts)]
    after = _after(library, catalogue, setter)
    return Source("\n".join([*_head(catalogue), *before, *body, *after, ""]), gallery.drawings, counts)


def _printed(
    library: Library, catalogue: Catalogue, progress: Progress, numbering: Numbering
) -> Iterator[tuple[str, Page]]:
    ordered = [t for _, families in chapters(library.families) for f in families for t in library.families[f]]
    for done, theorem in enumerate(ordered):
        progress(done, len(ordered))
        yield theorem.name, gated_page(theorem, numbering.typst, catalogue).page
    progress(len(ordered), len(ordered))


def _parts(library: Library, catalogue: Catalogue) -> list[tuple[str, list[Entry]]]:
    found, number = [], 0
    for key, families in chapters(library.families):
        entries = [Entry(number + k, f, described(f, catalogue).title) for k, f in enumerate(families, 1)]
        found.append((catalogue.text(f"site.chapter_{key}"), entries))
        number += len(entries)
    return found


def templates() -> list[str]:
    """The functions that the source calls."""
    folder = files(__package__).joinpath("template")
    return [folder.joinpath(f"{name}.typ").read_text(encoding="utf-8") for name in TEMPLATES]


def _head(catalogue: Catalogue) -> list[str]:
    title, language = string(catalogue.text("site.name")), string(catalogue.language)
    return [*templates(), f"#show: book.with(title: {title}, language: {language})"]


def _body(library: Library, pages: FamilyPages, parts: Sequence[tuple[str, Sequence[Entry]]]) -> Iterator[str]:
    for title, entries in parts:
        yield call("part", string(title))
        for entry in entries:
            yield from pages.chapter(title, entry.number, entry.family, library.families[entry.family])


def _after(library: Library, catalogue: Catalogue, setter: Setter) -> Iterator[str]:
    theorems = list(library.theorems.values())
    yield from claims_table(catalogue, setter, library.claims)
    yield from bibliography(catalogue, theorems)
    yield from index_of_names(catalogue, theorems)


def _counts(pages: Mapping[str, Page], parts: Sequence[tuple[str, Sequence[Entry]]], setter: Setter) -> Counts:
    found = pages.values()
    return Counts(
        theorems=sum(p.start is not None for p in found), families=sum(len(entries) for _, entries in parts),
        steps=sum(len(p.lines) for p in found), refusals=sum(len(p.refusals) for p in found), formulas=len(setter.formulas),
    )  # fmt: skip


def _require_all(set_: Sequence[str], pages: Mapping[str, Page]) -> None:
    """Raises RenderError where a formula of some page was not set."""
    known = set(set_)
    for name, printed in pages.items():
        lost = [f for f in formulas_of(printed) if f not in known]
        if lost:
            raise RenderError(
                f"the document lacks {lost[:3]} of {name}; theorem_pages.py must set every formula of a page"
            )

"""What stands before the theorems: title, contents, how to read them, and what has to be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...rules import LIMIT_RULES, RULES
from ...trusted import trusted_modules
from ..catalogues import Catalogue
from ..notation_guide import READING, choices, read, signs
from ..numbering import Numbering
from .markup import Setter, array, call, string


class Counts(NamedTuple):
    """How much there is in a document; `formulas` are those that were compared with what was proved."""

    theorems: int
    families: int
    steps: int
    refusals: int
    formulas: int


class Entry(NamedTuple):
    """A chapter in the contents."""

    number: int
    family: str
    title: str


def title_page(catalogue: Catalogue, counts: Counts) -> Iterator[str]:
    told = [catalogue.text(f"site.count_{name}", count=f"{count:,}") for name, count in counts._asdict().items()]
    title, tagline, introduction = (catalogue.text(f"site.{key}") for key in ("name", "tagline", "introduction"))
    yield call("title-page", string(title), string(tagline), string(introduction), array(map(string, told)))


def contents(catalogue: Catalogue, parts: Sequence[tuple[str, Sequence[Entry]]]) -> Iterator[str]:
    listed = [
        array([string(part), array(array([string(str(e.number)), string(e.family), string(e.title)]) for e in entries)])
        for part, entries in parts
    ]
    yield call("contents", string(catalogue.text("document.contents")), *listed)


def reading(catalogue: Catalogue, setter: Setter, numbering: Numbering, with_figures: bool) -> Iterator[str]:
    """How a theorem is read, the notation that was chosen, and the signs that need a word."""
    told = [array(map(string, read(catalogue, key))) for key in (*READING, "cites")]
    yield call("guide", string(catalogue.text("document.reading")), *told)
    chosen = [array(map(string, entry)) for entry in choices(catalogue, numbering, with_figures)]
    yield call("guide", string(catalogue.text("notation.title")), *chosen)
    explained = [
        array([setter.formula(formula), string(catalogue.text(f"document.sign_{name}"))])
        for name, formula in signs(numbering.typst)
    ]
    yield call("guide", string(catalogue.text("document.signs")), *explained)


def trusted(catalogue: Catalogue, counts: Counts) -> Iterator[str]:
    """In short what a reader has to believe: files, rules, and how formulas came here."""
    modules = trusted_modules()
    lines = sum(m.lines for m in modules)
    kernel = catalogue.text("document.trust_kernel", modules=f"{len(modules)}", lines=f"{lines:,}")
    yield call("headed", string(catalogue.text("document.trust")))
    yield call("paragraph", string(catalogue.text("document.trust_formulas", formulas=f"{counts.formulas:,}")))
    yield call("paragraph", string(kernel))
    yield call("files", *(array([string(m.path), string(f"{m.lines}")]) for m in modules))
    yield call("paragraph", string(catalogue.text("document.trust_rules")))
    rules = [*RULES, *LIMIT_RULES]
    yield call("rules", *(array([string(r), string(catalogue.text(f"rules.{r}"))]) for r in rules))

"""What the gate reads of a page: its formulas, every one of which is emitted, and the theorems that it names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from .parts import Declaration, Formula, Part
from .theorem import Page, Refusal


def formulas_of(page: Page) -> tuple[str, ...]:
    """Every formula of a theorem's page, in the order of the model."""
    return tuple(_formulas(page))


def without_prose(page: Page, names: Container[str]) -> Page:
    """The page without the words of its language: without all words but the names of theorems.

    The gate reads nothing else, so what it says of one language holds for another whose page is the same without its
    prose.
    """

    def told(parts: Sequence[Part]) -> tuple[Part, ...]:
        return tuple(p for p in parts if isinstance(p, Formula) or p.text in names)

    def declared(symbols: Iterable[Declaration]) -> tuple[Declaration, ...]:
        return tuple(d._replace(parts=told(d.parts)) for d in symbols)

    return page._replace(
        says="",
        symbols=declared(page.symbols),
        definitions=tuple(map(told, page.definitions)),
        met=declared(page.met),
        lines=tuple(line._replace(reason=told(line.reason)) for line in page.lines),
        refusals=tuple(
            r._replace(symbols=declared(r.symbols), definitions=tuple(map(told, r.definitions)), message="")
            for r in page.refusals
        ),
    )


def _formulas(page: Page) -> Iterator[str]:
    yield from _declared(page.symbols)
    yield from _within(page.definitions)
    yield from page.hypotheses
    yield page.conclusion
    yield from _declared(page.met)
    if page.start is not None:
        yield page.start
    for line in page.lines:
        yield line.term
        yield from _within([line.reason])
    for refusal in page.refusals:
        yield from _of_refusal(refusal)


def _of_refusal(refusal: Refusal) -> Iterator[str]:
    yield from _declared(refusal.symbols)
    yield from _within(refusal.definitions)
    yield refusal.conclusion
    yield from refusal.hypotheses or ()
    yield refusal.residue


def _declared(declarations: Iterable[Declaration]) -> Iterator[str]:
    return _within(d.parts for d in declarations)


def _within(lines: Iterable[Sequence[Part]]) -> Iterator[str]:
    return (part.text for line in lines for part in line if isinstance(part, Formula))

"""What `render` can write: a function for each target. What is written stays whole, whenever it is interrupted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..kernel import Theorem
from ..render import document, markdown, site
from ..render.catalogues import Catalogue
from ..render.gate import GateError
from ..render.library import family_of, resting_on
from ..render.names import RenderError
from ..render.tex import Fragment, Layout, companions, fragment


class Request(NamedTuple):
    """What to write, where, and how; `catalogues` are of one language but for a site."""

    out: Path
    catalogues: Sequence[Catalogue]
    layout: Layout
    figures: Path | None


class Written:
    """What came of it so far: files, formulas that were compared with their proofs, and theorems that were refused."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.formulas = 0
        self.refused: dict[str, str] = {}


Tell = Callable[[int, int], None]  # how many of how many are done
Target = Callable[[Sequence[Theorem], Request, Written, Tell], None]


def _tex(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    """A file for each theorem, and for each axiom that they rest on."""
    catalogue = request.catalogues[0]
    fragments: list[Fragment] = []
    for theorem in _in_turn(theorems, tell):
        try:
            found = fragment(theorem, request.layout, catalogue)
        except (GateError, RenderError) as problem:
            written.refused[theorem.name] = str(problem)
            continue
        fragments.append(found)
        written.formulas += found.formulas
        _write(request.out / found.place, found.text, written)
    if fragments:
        for name, text in companions(fragments, request.layout, catalogue).items():
            _write(request.out / name, text, written)


def _markdown(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    """A file for each family, and the index."""
    catalogue = request.catalogues[0]
    names = {t.name for t in _with_axioms(theorems)}
    families: dict[str, list[markdown.Section]] = {}
    for theorem in _in_turn(theorems, tell):
        try:
            found = markdown.section(theorem, names, catalogue)
        except (GateError, RenderError) as problem:
            written.refused[theorem.name] = str(problem)
            continue
        families.setdefault(family_of(theorem.name), []).append(found)
        written.formulas += found.formulas
    for family, sections in families.items():
        _write(request.out / f"{family}.md", markdown.family_file(family, sections, catalogue), written)
    if families:
        _write(request.out / markdown.INDEX, markdown.index(families, catalogue), written)


def _pdf(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    catalogue = request.catalogues[0]
    path = request.out / ("theorems.pdf" if catalogue.language == "en" else f"theorems.{catalogue.language}.pdf")

    def write(accepted: Sequence[Theorem]) -> int:
        with _replacing(path) as temporary:
            return document.write_pdf(accepted, temporary, catalogue, request.figures, tell).formulas

    written.formulas += _without_refused(theorems, written, write)
    written.files.append(path)


def _html(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    def write(accepted: Sequence[Theorem]) -> int:
        return site.build(accepted, request.out, request.catalogues, request.figures, tell).formulas

    written.formulas += _without_refused(theorems, written, write)
    written.files += sorted(path for path in request.out.rglob("*") if path.is_file())


TARGETS: Mapping[str, Target] = {"tex": _tex, "pdf": _pdf, "html": _html, "markdown": _markdown}


def _without_refused(theorems: Sequence[Theorem], written: Written, write: Callable[[Sequence[Theorem]], int]) -> int:
    """Writes all at once, without those that are refused on the way. Raises what is no theorem's fault."""
    accepted = list(theorems)
    while True:
        try:
            return write(accepted)
        except (GateError, RenderError) as problem:
            wrong = [t for t in accepted if str(problem).startswith((f"{t.name},", f"{t.name}:"))]
            if not wrong:
                raise
            written.refused[wrong[0].name] = str(problem)
            accepted.remove(wrong[0])


def _in_turn(theorems: Sequence[Theorem], tell: Tell) -> Iterator[Theorem]:
    every = _with_axioms(theorems)
    for done, theorem in enumerate(every):
        tell(done, len(every))
        yield theorem
    tell(len(every), len(every))


def _with_axioms(theorems: Sequence[Theorem]) -> list[Theorem]:
    axioms = sorted({t for each in theorems for t in resting_on(each) if t.is_axiom}, key=lambda t: t.name)
    return [*axioms, *theorems]


def _write(path: Path, text: str, written: Written) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    written.files.append(path)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of another one once it is whole."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

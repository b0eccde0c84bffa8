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
from ..render.library import claims_of, family_of, resting_on
from ..render.names import RenderError
from ..render.numbering import ZERO_BASED, Numbering
from ..render.tex import Fragment, Layout, claim_fragment, companions, fragment
from ..render.tex.book import MAIN, book_files
from ..render.tex.compiling import RUNS, compiled


class Request(NamedTuple):
    """What to write, where, and how; `catalogues` are of one language but for a site."""

    out: Path
    catalogues: Sequence[Catalogue]
    layout: Layout
    figures: Path | None
    engine: str = "typst"  # which makes a document: a name in ENGINES
    numbering: Numbering = ZERO_BASED


class Written:
    """What came of it so far: files, formulas that were compared with their proofs, and theorems that were refused."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.formulas = 0
        self.refused: dict[str, str] = {}


Tell = Callable[[int, int], None]  # how many of how many are done
Target = Callable[[Sequence[Theorem], Request, Written, Tell], None]
Engine = Callable[[Sequence[Theorem], Path, Request, Written, Tell], None]


def _tex(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    """A file for each theorem, for each axiom that they rest on, and for each claim that they decide."""
    fragments: list[Fragment] = []
    for found in _fragments(theorems, request, written, tell):
        _write(request.out / found.place, found.text, written)
        fragments.append(found)
    claims = _claims(fragments, request)
    for claim in claims:
        _write(request.out / claim.place, claim.text, written)
    if fragments:
        for name, text in companions(fragments, claims, request.layout, request.catalogues[0]).items():
            _write(request.out / name, text, written)


def _fragments(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> Iterator[Fragment]:
    for theorem in _in_turn(theorems, tell):
        try:
            found = fragment(theorem, request.layout, request.catalogues[0], request.numbering)
        except (GateError, RenderError) as problem:
            written.refused[theorem.name] = str(problem)
            continue
        written.formulas += found.formulas
        yield found


def _claims(fragments: Sequence[Fragment], request: Request) -> list[Fragment]:
    return [claim_fragment(claimed, request.catalogues[0]) for claimed in claims_of({each.name for each in fragments})]


def _markdown(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    """A file for each family, one for the claims, and the index."""
    catalogue, numbering = request.catalogues[0], request.numbering
    names = {t.name for t in _with_axioms(theorems)}
    families: dict[str, list[markdown.Section]] = {}
    for theorem in _in_turn(theorems, tell):
        try:
            found = markdown.section(theorem, names, catalogue, numbering)
        except (GateError, RenderError) as problem:
            written.refused[theorem.name] = str(problem)
            continue
        families.setdefault(family_of(theorem.name), []).append(found)
        written.formulas += found.formulas
    for family, sections in families.items():
        text = markdown.family_file(family, sections, catalogue, numbering)
        _write(request.out / f"{family}.md", text, written)
    claims = claims_of({section.name for sections in families.values() for section in sections})
    if claims:
        _write(request.out / markdown.CLAIMS, markdown.claims_file(claims, names, catalogue), written)
    if families:
        _write(request.out / markdown.INDEX, markdown.index(families, claims, catalogue, numbering), written)


def _pdf(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    language = request.catalogues[0].language
    path = request.out / ("theorems.pdf" if language == "en" else f"theorems.{language}.pdf")
    ENGINES[request.engine](theorems, path, request, written, tell)


def _typst(theorems: Sequence[Theorem], path: Path, request: Request, written: Written, tell: Tell) -> None:
    catalogue = request.catalogues[0]

    def write(accepted: Sequence[Theorem]) -> int:
        with _replacing(path) as temporary:
            return document.write_pdf(accepted, temporary, catalogue, request.figures, tell, request.numbering).formulas

    written.formulas += _without_refused(theorems, written, write)
    written.files.append(path)


def _latexmk(theorems: Sequence[Theorem], path: Path, request: Request, written: Written, tell: Tell) -> None:
    whole = (1 + RUNS) * len(_with_axioms(theorems))  # what is told of a run is about as much as of the fragments
    fragments = list(_fragments(theorems, request, written, lambda done, of: tell(done, whole)))
    if not fragments:
        return
    accepted = [t for t in _with_axioms(theorems) if t.name not in written.refused]
    claims = _claims(fragments, request)
    files = book_files(accepted, fragments, claims, request.catalogues[0], request.numbering)
    pdf = compiled(files, MAIN, read=lambda files_read: tell(min(len(fragments) + files_read, whole), whole))
    with _replacing(path) as temporary:
        temporary.write_bytes(pdf)
    written.files.append(path)


def _html(theorems: Sequence[Theorem], request: Request, written: Written, tell: Tell) -> None:
    def write(accepted: Sequence[Theorem]) -> int:
        return site.build(accepted, request.out, request.catalogues, request.figures, tell, request.numbering).formulas

    written.formulas += _without_refused(theorems, written, write)
    written.files += sorted(path for path in request.out.rglob("*") if path.is_file())


ENGINES: Mapping[str, Engine] = {"typst": _typst, "latexmk": _latexmk}
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

"""Builds a site beside the place where it is to be, and puts it there when it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from ...kernel import Theorem
from ..catalogues import Catalogue
from ..gate import checked
from ..library import Library
from ..names import RenderError
from ..numbering import Numbering
from ..page_formulas import formulas_of, without_prose
from ..theorem import Page, pages
from .edition import Edition, Other
from .figures import read_figures
from .font import font_face, licence
from .summary import Progress, Summary

MARK = ".transformer-proofs-site"  # a folder with this file is a site, and may be replaced


def built(
    theorems: Iterable[Theorem],
    out: Path,
    catalogues: Sequence[Catalogue],
    figures: Path | None,
    progress: Progress | None,
    numbering: Numbering,
) -> Summary:
    """See `build` in this package."""
    start = time.perf_counter()
    _require_replaceable(out)
    library = Library(theorems)
    shown = [None if figures is None else read_figures(figures, catalogue.language) for catalogue in catalogues]
    models = _models(library, catalogues, progress, numbering)
    with _replaced(out) as folder:
        sizes: dict[str, int] = {}
        for catalogue, pages, drawn in zip(catalogues, models, shown, strict=True):
            place = _place(catalogue, catalogues)
            root, others = "../" if place else "", _others(catalogue, catalogues)
            edition = Edition(library, catalogue, pages, root, others, drawn, numbering)
            sizes |= {place + name: _write(folder / place / name, text) for name, text in edition.documents().items()}
        for name, text in _assets().items():
            _write(folder / "assets" / name, text)
        _write(folder / MARK, "")
    formulas = sum(len(formulas_of(p)) for p in models[0].values())
    largest = max(sizes, key=sizes.__getitem__)
    return Summary(len(sizes), formulas, time.perf_counter() - start, (largest, sizes[largest]))


def _models(
    library: Library, catalogues: Sequence[Catalogue], progress: Progress | None, numbering: Numbering
) -> list[dict[str, Page]]:
    """The pages of every theorem in each language; each formula was parsed back and compared with the theorem."""
    models: list[dict[str, Page]] = [{} for _ in catalogues]
    for done, (name, theorem) in enumerate(library.theorems.items()):
        if progress is not None:
            progress(done, len(library.theorems))
        for model, found in zip(models, _gated(theorem, catalogues, numbering), strict=True):
            model[name] = found
    if progress is not None:
        progress(len(library.theorems), len(library.theorems))
    return models


def _gated(theorem: Theorem, catalogues: Sequence[Catalogue], numbering: Numbering) -> list[Page]:
    """The page in each language: the first one gated, the others alike but for their prose."""
    first, *others = found = pages(theorem, numbering.latex, catalogues)
    if (count := checked(first, theorem, numbering.latex)) != (shown := len(formulas_of(first))):
        raise RenderError(
            f"the page of {theorem.name} has {shown} formulas, and {count} were compared with the proof; "
            "proofs/render/gate.py and proofs/render/page_formulas.py must know the same ones"
        )
    names = {t.name for t in theorem.uses}
    for other, catalogue in zip(others, catalogues[1:], strict=True):
        if without_prose(other, names) != without_prose(first, names):
            raise RenderError(
                f"the page of {theorem.name} has other formulas in {catalogue.language} "
                f"than in {catalogues[0].language}; "
                "places must stand in the same order in the messages of all languages"
            )
    return found


def _place(catalogue: Catalogue, catalogues: Sequence[Catalogue]) -> str:
    """The folder of a language: the top for the first."""
    return "" if catalogue is catalogues[0] else f"{catalogue.language}/"


def _others(catalogue: Catalogue, catalogues: Sequence[Catalogue]) -> list[Other]:
    back = "../" if _place(catalogue, catalogues) else ""
    return [
        Other(c.language, c.text("site.language"), back + _place(c, catalogues))
        for c in catalogues
        if c is not catalogue
    ]


def _assets() -> Mapping[str, str]:
    static = files(__package__) / "static"
    css, js = ((static / name).read_text(encoding="utf-8") for name in ("site.css", "site.js"))
    return {"site.css": font_face() + css, "site.js": js, "OFL.txt": licence()}


def _write(path: Path, text: str) -> int:
    data = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return len(data)


def _require_replaceable(out: Path) -> None:
    """Raises FileExistsError where something stands that is no site."""
    if out.is_dir():
        if any(out.iterdir()) and not (out / MARK).is_file():
            raise FileExistsError(f"{out} holds files that are no site of ours; name a new folder, or an empty one")
    elif out.exists() or out.is_symlink():
        raise FileExistsError(f"{out} is a file; a site needs a folder: name another")


@contextmanager
def _replaced(out: Path) -> Iterator[Path]:
    """A folder to write into, which stands at `out` once all is written; where anything fails, `out` is as it was."""
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        new, old = work / "new", work / "old"
        new.mkdir()
        yield new
        if out.exists():
            os.replace(out, old)
        try:
            os.replace(new, out)
        except BaseException:
            if old.exists():
                os.replace(old, out)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)

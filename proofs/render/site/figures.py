"""The figures and the checker's mistakes, as `python -m numeric figures --out DIR` writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError, fromstring

from markupsafe import Markup

from ..names import RenderError

INDEX = "figures.json"
_ALLOWED = re.compile(r"&lt;(/?(?:i|sub|sup))&gt;")
_OUTSIDE = re.compile(r"""(?:href|src)\s*=\s*["'](?!#)|url\(\s*["']?(?!#)|@import""", re.IGNORECASE)


class Figure(NamedTuple):
    name: str
    title: str
    caption: Markup
    drawing: Markup
    theorems: tuple[str, ...]


class Mistake(NamedTuple):
    id: str
    kind: str
    says: str
    theorem: str


class Figures(NamedTuple):
    """What one folder holds; the language is that of the figures."""

    language: str
    figures: tuple[Figure, ...]
    mistakes: Mapping[str, list[Mistake]]  # by contract

    def breaking(self, theorem: str) -> list[Mistake]:
        """The mistakes that break a theorem, without those that it is true of but for rounding."""
        return [m for each in self.mistakes.values() for m in each if m.theorem == theorem and m.kind != "unstable"]

    def showing(self, theorems: list[str]) -> dict[str, list[Figure]]:
        """The figures of one page, each at the first theorem there that it shows."""
        found: dict[str, list[Figure]] = {}
        for figure in self.figures:
            shown = [name for name in theorems if name in figure.theorems]
            if shown:
                found.setdefault(shown[0], []).append(figure)
        return found


def read_figures(folder: Path, language: str) -> Figures:
    """The figures of a folder, or of its subfolder for the language; raises RenderError where they cannot be read."""
    place = folder / language if (folder / language / INDEX).is_file() else folder
    if not (place / INDEX).is_file():
        raise RenderError(
            f"found no {INDEX} in {folder} or {folder / language}; `python -m numeric figures --out {folder}` writes it"
        )
    index = _read_json(place / INDEX)
    try:
        drawn = tuple(_figure(place, entry) for entry in index["figures"])
        mistakes: dict[str, list[Mistake]] = {}
        for m in _read_json(place / index["mistakes"]):
            mistakes.setdefault(m["contract"], []).append(Mistake(m["id"], m["kind"], m["says"], m["theorem"]))
        return Figures(index["language"], drawn, mistakes)
    except (KeyError, TypeError) as problem:
        raise RenderError(
            f"{place / INDEX} or its mistakes lack {problem}; "
            f"`python -m numeric figures --out {folder}` writes both anew"
        ) from problem


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise RenderError(f"cannot read {path}: {problem}") from problem


def _figure(place: Path, entry: dict[str, Any]) -> Figure:
    caption = Markup(_ALLOWED.sub(r"<\1>", escape(entry["caption"]["html"], quote=False)))
    return Figure(
        entry["name"], entry["title"]["text"], caption, _drawing(place / entry["file"]), tuple(entry["theorems"])
    )


def _drawing(path: Path) -> Markup:
    """An SVG file to stand inside a page. Raises RenderError for one with scripts, or with anything from elsewhere."""
    try:
        text = path.read_text(encoding="utf-8")
        root = fromstring(text)
    except (OSError, ParseError, ValueError) as problem:
        raise RenderError(f"cannot read {path}: {problem}") from problem
    tags = {e.tag.rpartition("}")[2] for e in root.iter()}
    if tags & {"script", "foreignObject", "image", "iframe"} or any(
        a.startswith("on") for e in root.iter() for a in e.attrib
    ):
        raise RenderError(
            f"{path} has scripts or foreign parts, found {', '.join(sorted(tags))}; needed lines, shapes and text"
        )
    if _OUTSIDE.search(text):
        raise RenderError(f"{path} refers to something outside itself; a page of the site loads nothing")
    return Markup(text[text.index("<svg") :])

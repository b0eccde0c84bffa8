"""Figures for a document: SVG files as `python -m numeric figures --out DIR` writes them, made plain enough for print."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, fromstring

from ..names import RenderError
from .markup import content, string

INDEX = "figures.json"
_STYLES = {"i": "emph", "sub": "sub", "sup": "super"}
_RULE = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|:root[^{]*\{[^{}]*\}")
_FONT = re.compile(r"font:\s*([\d.]+px)[^;}]*")


class Drawing(NamedTuple):
    """`caption` is markup; `svg` is what goes into the file."""

    file: str
    title: str
    caption: str
    theorems: tuple[str, ...]
    svg: str


class Gallery(NamedTuple):
    """What one folder holds; `mistakes` are the names of those that break a theorem, by its name."""

    drawings: tuple[Drawing, ...] = ()
    mistakes: Mapping[str, list[str]] = MappingProxyType({})


EMPTY = Gallery()


def read_gallery(folder: Path, language: str, fonts: str) -> Gallery:
    """The figures of a folder, or of its subfolder for the language; raises RenderError for anything else than it should hold."""
    place = folder / language if (folder / language / INDEX).is_file() else folder
    try:
        index = _read_json(place / INDEX)
        broken: dict[str, list[str]] = {}
        for mistake in _read_json(place / index["mistakes"]):
            if mistake["kind"] != "unstable":  # what the theorem is true of, but for rounding
                broken.setdefault(mistake["theorem"], []).append(mistake["id"])
        return Gallery(tuple(_drawing(place, entry, fonts) for entry in index["figures"]), broken)
    except (OSError, ValueError, KeyError, TypeError, ParseError) as problem:
        raise RenderError(
            f"{place / INDEX} or what it names cannot be read: {type(problem).__name__} {problem}; "
            f"`python -m numeric figures --out {folder}` writes one"
        ) from problem


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def placed(drawings: Collection[Drawing], theorems: Collection[str]) -> Mapping[str, list[Drawing]]:
    """Each figure at the last theorem in the document that it shows, where all that it shows has been said."""
    found: dict[str, list[Drawing]] = {}
    for drawing in drawings:
        shown = [name for name in theorems if name in drawing.theorems]
        if shown:
            found.setdefault(shown[-1], []).append(drawing)
    return found


def _drawing(place: Path, entry: dict[str, Any], fonts: str) -> Drawing:
    svg = printable((place / entry["file"]).read_text(encoding="utf-8"), fonts)
    caption = content(_markup(fromstring(f"<p>{entry['caption']['html']}</p>")))
    return Drawing(entry["file"], entry["title"]["text"], caption, tuple(entry["theorems"]), svg)


def printable(svg: str, fonts: str) -> str:
    """The figure in its light colours and in these fonts: Typst reads no variables and no shorthand in a style sheet."""
    colours = dict(re.findall(r"--figure-(\w+):(#\w+)", svg[: svg.index("}")]))
    plain = _RULE.sub("", svg)
    plain = re.sub(r"var\(--figure-(\w+)\)", lambda found: colours[found[1]], plain)
    return _FONT.sub(rf"font-size:\1;font-family:{fonts}", plain)


def _markup(element: Element) -> str:
    """Words, with italics, indices and exponents."""
    text = f"#{string(element.text)}" if element.text else ""
    for part in element:
        text += f"#{_STYLES[part.tag]}{content(_markup(part))}" + (f"#{string(part.tail)}" if part.tail else "")
    return text

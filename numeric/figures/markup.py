"""What labels may hold besides letters: *k* is a variable, d_[k] has an index, e^[-b] an exponent. Nothing nests."""

import re
from collections.abc import Iterator
from html import escape
from unicodedata import east_asian_width

from .style import LOW

_PARTS = re.compile(r"\*([^*]+)\*|([_^])\[([^\]]*)\]")
_DROP = {"_": 0.25, "^": -0.45}  # of the baseline, as a part of the size of the letters around
_NARROW, _WIDE = set("fijlrt.,:;'|()[] ·"), set("mwMW%→∞Σ—")


def tspans(text: str) -> str:
    """As the content of an SVG text element. Sizes are relative, so that a style sheet may set that of the whole."""
    written, height = [], 0.0
    for kind, part in _split(text):
        wanted = _DROP.get(kind, 0.0)
        size = LOW if kind in _DROP else 1.0
        shift = f' dy="{(wanted - height) / size:.3g}em"' if wanted != height else ""
        height = wanted
        named = f' class="{_classes(kind, part)}"' if kind else ""
        safe = escape(part, quote=False)
        written.append(f"<tspan{named}{shift}>{safe}</tspan>" if named or shift else safe)
    return "".join(written)


def _classes(kind: str, part: str) -> str:
    """Indices and exponents of letters are variables, those of digits are not."""
    if kind == "*":
        return "variable"
    return "low" if any(map(str.isdigit, part)) else "low variable"


def html(text: str) -> str:
    """As a part of a page."""
    written = []
    for kind, part in _split(text):
        safe = escape(part, quote=False)
        italic = f"<i>{safe}</i>" if kind and "variable" in _classes(kind, part) else safe
        tag = {"_": "sub", "^": "sup"}.get(kind)
        written.append(f"<{tag}>{italic}</{tag}>" if tag else italic)
    return "".join(written)


def plain(text: str) -> str:
    """As a line of plain text: d_k, e^(-b)."""
    written = []
    for kind, part in _split(text):
        bare = len(part) == 1 or kind in ("", "*") or part.startswith("(")
        written.append(f"{kind if kind in _DROP else ''}{part if bare else f'({part})'}")
    return "".join(written)


def width_of(text: str, size: float) -> float:
    """About how wide it is in a sans-serif font, rather too wide than too narrow."""
    parts = _split(text)
    return size * sum(sum(map(_advance, part)) * (LOW if kind in _DROP else 1.0) for kind, part in parts)


def _advance(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.0
    if letter in _WIDE:
        return 0.95
    if letter.isupper():
        return 0.72
    return 0.36 if letter in _NARROW else 0.62


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Its parts, each with "" for letters as they are, "*" for a variable, "_" or "^"."""
    end = 0
    for found in _PARTS.finditer(text):
        if found.start() > end:
            yield "", text[end : found.start()]
        variable, kind, part = found.groups()
        yield ("*", variable) if variable is not None else (kind, part)
        end = found.end()
    if end < len(text):
        yield "", text[end:]

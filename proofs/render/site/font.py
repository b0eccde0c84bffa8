"""The font of formulas, a subset of STIX Two Math, in the style sheet itself, so that it loads from file:// too."""

from __future__ import annotations

import base64
import functools
from importlib.resources import files
from xml.etree.ElementTree import Element

from ..names import RenderError

FONT, CHARACTERS, LICENCE = "formulas.woff2", "characters.txt", "OFL.txt"
_ITALIC_LATIN, _ITALIC_GREEK, _ITALIC_H = 0x1D434, 0x1D6FC, "\u210e"
_INVISIBLE = frozenset("\u2061\u00a0")


def font_bytes() -> bytes:
    return (files(__package__) / "static" / FONT).read_bytes()


def licence() -> str:
    """The licence of the font, which goes wherever the font goes."""
    return (files(__package__) / "static" / LICENCE).read_text(encoding="utf-8")


def font_face() -> str:
    """The rule of the style sheet that holds the font."""
    data = base64.b64encode(font_bytes()).decode()
    return f'@font-face{{font-family:"Formulas";src:url(data:font/woff2;base64,{data})format("woff2")}}\n'


@functools.cache
def covered() -> frozenset[str]:
    """The characters that the font has glyphs for, as written down when it was made."""
    text = (files(__package__) / "static" / CHARACTERS).read_text(encoding="utf-8")
    return frozenset(chr(int(word, 16)) for word in text.split())


def require_covered(math: Element, latex: str) -> None:
    """Raises RenderError where the font lacks a character, as it is drawn, of the formula."""
    missing = sorted({c for e in math.iter() for c in drawn(e)} - covered() - _INVISIBLE)
    if missing:
        names = ", ".join(f"{c} (U+{ord(c):04X})" for c in missing)
        raise RenderError(
            f"the bundled font has no {names}, which {latex} needs; add it with proofs/render/site/subset.py"
        )


def drawn(element: Element) -> str:
    """The characters that a browser draws for a token: a name of one letter is drawn in mathematical italics."""
    text = element.text or ""
    if element.tag != "mi" or len(text) != 1 or element.get("mathvariant") == "normal":
        return text
    if text == "h":
        return _ITALIC_H
    if text.isascii() and text.isalpha():
        return chr(_ITALIC_LATIN + ord(text) - ord("A") - (6 if text >= "a" else 0))
    if "α" <= text <= "ω":
        return chr(_ITALIC_GREEK + ord(text) - ord("α"))
    return {"ϕ": "\U0001d719", "ϵ": "\U0001d716", "ϑ": "\U0001d717", "ϱ": "\U0001d71a"}.get(text, text)

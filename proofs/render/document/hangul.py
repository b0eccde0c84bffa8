"""The bundled Korean font, a subset of NanumMyeongjo: Typst brings fonts for all that a document says, but for Hangul."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from ..names import RenderError

NAME = "Proof Hangul"
FONT_FILES = {"Regular": "hangul.ttf.xz", "Bold": "hangul-bold.ttf.xz"}
_ROWS, _COLUMNS = range(0xB0, 0xC9), range(0xA1, 0xFF)  # of KS X 1001, where syllables stand
SYLLABLES = frozenset(bytes((row, column)).decode("euc_kr") for row in _ROWS for column in _COLUMNS)
_EXOTIC = re.compile(
    "[^\u0000-\u024f\u0370-\u03ff\u2000-\u206f\u2070-\u22ff\u3000-\u3002\u3008-\u3011\u3014\u3015\u3131-\u3163]"
)


def unpack(folder: Path) -> None:
    """Writes the font's files into a folder."""
    for file in FONT_FILES.values():
        packed = files(__package__).joinpath("fonts", file).read_bytes()
        (folder / file.removesuffix(".xz")).write_bytes(lzma.decompress(packed))


def require_covered(text: str) -> None:
    """Raises RenderError where no font of a document has a character, which would be printed as an empty box."""
    missing = sorted(set(_EXOTIC.findall(text)) - SYLLABLES)
    if missing:
        raise RenderError(
            f"the fonts of the document have no {_named(missing)}; write it otherwise, or add it in "
            "proofs/render/document/subset.py"
        )


def _named(characters: Iterable[str]) -> str:
    return ", ".join(f"{c} (U+{ord(c):04X})" for c in characters)

"""Makes the bundled Korean font: python -m proofs.render.document.subset NanumMyeongjo.ttf NanumMyeongjoBold.ttf

What is kept: the syllables of KS X 1001, which modern Korean is written with, so that new prose needs no new font; single
letters, and Korean punctuation. All else comes from the fonts that Typst brings. The result has a name of its own, as the
licence asks of a changed font, and is compressed. Needs fonttools.
"""

from __future__ import annotations

import io
import lzma
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from .hangul import FONT_FILES, NAME, SYLLABLES

PUNCTUATION = "\u3000、。〈〉《》「」『』【】〔〕"
LETTERS = frozenset(map(chr, range(0x3131, 0x3164)))
_DROPPED = ["DSIG", "FFTM", "VORG", "gasp", "kern", "vhea", "vmtx"]


def make(source: Path, style: str, target: Path) -> int:
    """Writes the subset of a font file in a style, Regular or Bold; returns how many bytes it has."""
    from fontTools import subset

    options = subset.Options(hinting=False, glyph_names=False, layout_features=[], name_IDs=["*"])
    options.drop_tables += _DROPPED
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join({*SYLLABLES, *LETTERS, *PUNCTUATION}))
    subsetter.subset(font)
    _rename(font, style)
    plain = io.BytesIO()
    subset.save_font(font, plain, options)
    target.write_bytes(lzma.compress(plain.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    return target.stat().st_size


def _rename(font: Any, style: str) -> None:
    full = f"{NAME} {style}"
    named = {1: NAME, 2: style, 3: full, 4: full, 6: full.replace(" ", "")}
    for record in list(font["name"].names):
        if record.nameID in (7, *named, 16, 17) or record.platformID != 3:
            font["name"].removeNames(record.nameID, record.platformID, record.platEncID, record.langID)
    for identifier, text in named.items():
        font["name"].setName(text, identifier, 3, 1, 0x409)


if __name__ == "__main__":
    for path, (style_, file) in zip(sys.argv[1:], FONT_FILES.items(), strict=True):
        print(make(Path(path), style_, Path(str(files(__package__))) / "fonts" / file), "bytes")

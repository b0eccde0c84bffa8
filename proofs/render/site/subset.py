"""Makes the bundled font: python -m proofs.render.site.subset STIXTwoMath-Regular.ttf

What is kept: letters, digits and Greek, upright, italic and bold, the signs of the printers and some more, and the
tables for mathematics. The result has a name of its own, as the licence asks of a changed font. Needs fonttools and
brotli.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from .font import CHARACTERS, FONT

NAME = "Proof Formulas Math"
SIGNS = "±·×¬′″‴⁗‖…−∕√∞∂∇∀∃∈∉∏∑∫←→↦⇒⇔≠≤≥≈≡≪≫∝⌈⌉⌊⌋⟨⟩∩∪⊂⊆∅⊥⊤∧∨∘⊗⊕⊙⋅∣∥⋯⋮⋱≔ˆ˜˙˘ˉ‐–—‘’“”ℎϕϑϖϰϱϵ"
RANGES = (
    (0x20, 0x7E), (0x300, 0x307), (0x391, 0x3A1), (0x3A3, 0x3A9), (0x3B1, 0x3C9), (0x1D400, 0x1D467),
    (0x1D6E2, 0x1D71B),
)  # fmt: skip
_FEATURES = ["ssty", "flac", "dtls", "ccmp", "kern"]
_HINTS = ["DSIG", "fpgm", "prep", "cvt ", "gasp"]


def wanted() -> set[int]:
    return {c for first, last in RANGES for c in range(first, last + 1)} | set(map(ord, SIGNS))


def make(source: Path, target: Path) -> int:
    """Writes the subset of a font file and the list of its characters; returns how many bytes it has."""
    from fontTools import subset

    options = subset.Options(
        flavor="woff2", layout_features=_FEATURES, hinting=False, glyph_names=False, notdef_outline=True, name_IDs=["*"]
    )
    options.drop_tables += _HINTS
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=wanted())
    subsetter.subset(font)
    _rename(font)
    _offer_script_forms(font)
    subset.save_font(font, str(target / FONT), options)
    characters = sorted(font.getBestCmap())
    (target / CHARACTERS).write_text(_listed(characters), encoding="ascii")
    return (target / FONT).stat().st_size


def _rename(font: Any) -> None:
    for identifier, text in ((1, NAME), (3, NAME), (4, NAME), (6, NAME.replace(" ", ""))):
        font["name"].setName(text, identifier, 3, 1, 0x409)
    for record in list(font["name"].names):
        if record.nameID in (7, 10, 16, 17) or record.platformID != 3:
            font["name"].removeNames(record.nameID, record.platformID, record.platEncID, record.langID)


def _offer_script_forms(font: Any) -> None:
    """Forms for scripts in every writing system, not in that of mathematics alone, which browsers do not ask for."""
    table = font["GSUB"].table
    feature = next(k for k, record in enumerate(table.FeatureList.FeatureRecord) if record.FeatureTag == "ssty")
    for script in table.ScriptList.ScriptRecord:
        known = script.Script.DefaultLangSys
        if feature not in known.FeatureIndex:
            known.FeatureIndex.append(feature)
            known.FeatureCount = len(known.FeatureIndex)


def _listed(characters: Iterable[int]) -> str:
    words = [f"{c:04X}" for c in characters]
    return "".join(" ".join(words[k : k + 16]) + "\n" for k in range(0, len(words), 16))


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), Path(str(files(__package__))) / "static"), "bytes")

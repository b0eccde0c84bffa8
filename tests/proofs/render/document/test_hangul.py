"""The bundled Korean font."""

import lzma
import re
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pytest

import numeric
import proofs
from proofs.render import RenderError
from proofs.render.document import hangul
from proofs.render.document.subset import LETTERS, PUNCTUATION

FONTS = Path(str(files(hangul.__package__))) / "fonts"
PROSE = [*(Path(proofs.__file__).parent / "render/catalogues/ko").rglob("*.toml")]
PROSE += [*Path(numeric.__file__).parent.rglob("korean.py")]
SYLLABLE = re.compile("[가-힣]")


def opened(style):
    ttLib = pytest.importorskip("fontTools.ttLib")
    return ttLib.TTFont(BytesIO(lzma.decompress((FONTS / hangul.FONT_FILES[style]).read_bytes())))


def test_korean_prose_needs_no_other_syllable():
    used = {c for path in PROSE for c in SYLLABLE.findall(path.read_text(encoding="utf-8"))}
    assert len(used) > 300 and used <= hangul.SYLLABLES
    assert len(hangul.SYLLABLES) == 2350


@pytest.mark.parametrize("style", hangul.FONT_FILES)
def test_font(style):
    font = opened(style)
    assert hangul.SYLLABLES | LETTERS | set(PUNCTUATION) <= set(map(chr, font.getBestCmap()))
    named = {n.nameID: n.toUnicode() for n in font["name"].names}
    assert named[1] == hangul.NAME and named[2] == style
    assert not any("Nanum" in named[k] for k in (1, 3, 4, 6, 16, 17) if k in named)  # a reserved name, says the licence


def test_files():
    assert sum(path.stat().st_size for path in FONTS.iterdir()) < 500_000
    licence = (FONTS / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL Open Font License, Version 1.1" in licence and "Copyright (c) 2010, NAVER Corporation" in licence


def test_typst_finds_it(tmp_path):
    typst = pytest.importorskip("typst")
    hangul.unpack(tmp_path)
    assert hangul.NAME in typst.Fonts(include_system_fonts=False, font_paths=[tmp_path]).families()


def test_what_no_font_has_is_refused():
    hangul.require_covered("softmax가 δ ≤ 1 — “증명” 、 ℝ ∀ é")
    with pytest.raises(RenderError, match=r"no 漢 \(U\+6F22\), 힣 \(U\+D7A3\); write it otherwise"):
        hangul.require_covered("漢 힣")

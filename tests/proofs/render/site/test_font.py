"""The bundled font: what it covers is what was written down, it has the tables for mathematics, and its licence goes with it."""

import io

import pytest

from proofs.render.site import font, subset

fonttools = pytest.importorskip("fontTools.ttLib", reason="fonttools reads the font")
pytest.importorskip("brotli", reason="woff2 is compressed with it")


@pytest.fixture(scope="module")
def opened():
    return fonttools.TTFont(io.BytesIO(font.font_bytes()))


def test_it_is_small():
    assert len(font.font_bytes()) < 200_000


def test_its_characters_are_those_written_down(opened):
    assert set(map(ord, font.covered())) == set(opened.getBestCmap())


def test_it_has_all_that_was_wanted(opened):
    reserved = {0x1D455}  # where italic h would be, which is U+210E
    assert subset.wanted() - set(opened.getBestCmap()) == reserved


def test_it_sets_mathematics(opened):
    assert "MATH" in opened
    assert opened["MATH"].table.MathConstants.ScriptPercentScaleDown < 100
    variants = opened["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert {opened.getBestCmap()[ord(c)] for c in "()[]|{∑√"} - {opened.getBestCmap()[ord("√")]} <= set(variants)


def test_forms_for_scripts_are_offered_everywhere(opened):
    table = opened["GSUB"].table
    (script_forms,) = (k for k, f in enumerate(table.FeatureList.FeatureRecord) if f.FeatureTag == "ssty")
    assert all(script_forms in s.Script.DefaultLangSys.FeatureIndex for s in table.ScriptList.ScriptRecord)


def test_its_licence_goes_with_it_and_its_name_is_its_own(opened):
    names = {opened["name"].getDebugName(k) for k in (1, 4, 6)}
    assert not any("STIX" in name or "TM Math" in name for name in names)
    assert "STIX Fonts Project Authors" in opened["name"].getDebugName(0)
    text = font.licence()
    assert "SIL OPEN FONT LICENSE" in text
    assert "subset, under another name, of STIX Two Math" in text

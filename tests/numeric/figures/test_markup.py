"""Labels with variables, indices and exponents, as SVG, as HTML and as plain text."""

from xml.etree import ElementTree

import pytest

from numeric.figures.markup import html, plain, tspans, width_of

CASES = {
    "position": ("position", "position", "position"),
    "*k* = 3": ('<tspan class="variable">k</tspan> = 3', "<i>k</i> = 3", "k = 3"),
    "10^[−6]": ('10<tspan class="low" dy="-0.6em">−6</tspan>', "10<sup>−6</sup>", "10^(−6)"),
    "T^[(k)]": ('T<tspan class="low variable" dy="-0.6em">(k)</tspan>', "T<sup><i>(k)</i></sup>", "T^(k)"),
    "PE_[p+k]!": (
        'PE<tspan class="low variable" dy="0.333em">p+k</tspan><tspan dy="-0.25em">!</tspan>',
        "PE<sub><i>p+k</i></sub>!",
        "PE_(p+k)!",
    ),
    "a < b & c": ("a &lt; b &amp; c", "a &lt; b &amp; c", "a < b & c"),
}


@pytest.mark.parametrize("text", CASES)
def test_the_three_forms(text):
    assert (tspans(text), html(text), plain(text)) == CASES[text]


@pytest.mark.parametrize("text", [*CASES, "*a*_[i]*b*^[2]c", "^[x]", ""])
def test_the_baseline_comes_back_and_nothing_is_lost(text):
    element = ElementTree.fromstring(f"<text>{tspans(text)} end</text>" if text else "<text> end</text>")
    letters = "".join(element.itertext())
    assert letters == plain(text).translate({ord("_"): None, ord("^"): None}) + " end" or "(" in plain(text)
    shifts, size = 0.0, {True: 0.75, False: 1.0}
    for each in ElementTree.fromstring(f"<text>{tspans(text + ' end')}</text>"):
        shifts += float(each.get("dy", "0em")[:-2]) * size["low" in each.get("class", "")]
    assert shifts == pytest.approx(0, abs=0.002)  # three digits of each


def test_widths_grow_with_what_is_written():
    assert width_of("iiii", 12) < width_of("nnnn", 12) < width_of("WWWW", 12)
    assert width_of("가나", 12) == 24
    assert width_of("d_[k]", 10) == pytest.approx(6.2 + 4.65)
    assert width_of("*d*", 12) == width_of("d", 12)

"""Colours that can be read on light and on dark paper, and told apart by colour-blind readers."""

import re

import numpy as np
import pytest

from numeric.figures import style as module
from numeric.figures.style import DARK, LIGHT, NAME, PAPER, style

THEMES = {"light": LIGHT, "dark": DARK}
# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, IEEE Trans. Vis. Comput. Graph. 15, 2009, severity 1, on linear RGB
SEEN_BY = {
    "all": np.eye(3),
    "protanopes": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopes": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopes": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # IEC 61966-2-1


def linear(colour):
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2, from 1 to 21."""
    low, high = sorted(float(TO_XYZ[1] @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    """CIELAB, in which a distance of 2 is just seen."""
    x, y, z = np.cbrt(np.clip(TO_XYZ @ rgb / (TO_XYZ @ np.ones(3)), 1e-3, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("colour", ["ink", "faint", "one", "two"])
def test_letters_of_every_colour_are_legible(theme, colour):
    assert contrast(THEMES[theme][colour], PAPER[theme]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_light_lines_are_seen_and_stay_behind(theme):
    assert 1.2 < contrast(THEMES[theme]["line"], PAPER[theme]) < 2


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("reader", SEEN_BY)
def test_series_are_told_apart(theme, reader):
    one, two, ink = (
        lab(np.clip(np.array(SEEN_BY[reader]) @ linear(THEMES[theme][each]), 0, 1)) for each in ("one", "two", "ink")
    )
    assert min(np.linalg.norm(one - two), np.linalg.norm(one - ink), np.linalg.norm(two - ink)) > 20


def test_red_and_green_would_not_be():
    red, green = (
        lab(np.clip(np.array(SEEN_BY["deuteranopes"]) @ linear(each), 0, 1)) for each in ("#c04040", "#7a7020")
    )
    assert np.linalg.norm(red - green) < 20


def test_the_sheet_touches_nothing_but_figures():
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@media[^{]*\{", "", style()))
    for selectors in rules:
        for selector in selectors.split(","):
            assert selector.startswith((f".{NAME}", ":root")), selector
    for declarations in re.findall(r":root[^{]*\{([^}]*)\}", style()):
        assert all(each.startswith("--figure-") for each in declarations.rstrip(";").split(";"))


def test_both_the_system_and_a_switch_of_the_page_choose_the_theme():
    light, dark = (module._variables(each) for each in (LIGHT, DARK))
    assert style().startswith(
        f":root{{{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
    )
    assert f":root[data-theme=dark]{{{dark}}}" in style()
    assert LIGHT.keys() == DARK.keys() and light != dark

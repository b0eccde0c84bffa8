"""The figures as a browser lays them out, with its own fonts: nothing is cut off, no label lies on another, the theme changes."""

import html
import json
import re
import shutil
import subprocess

import pytest

from numeric.figures.catalogue import LANGUAGES, Words
from numeric.figures.collection import FIGURES
from numeric.figures.figure import drawn
from numeric.figures.style import DARK, LIGHT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no browser: neither chromium nor google-chrome is installed"),
]

PAGE = """<!doctype html><html lang="en" {theme}><meta charset="utf-8"><style>body {{ margin: 0; }}
div {{ width: {width}px; }} svg {{ display: block; width: 100%; height: auto; }}</style>
{figures}<pre id="found"></pre><script>
const found = {{wide: document.documentElement.scrollWidth, problems: [], labels: 0, size: 100, colours: []}};
for (const figure of document.querySelectorAll("svg")) {{
  const whole = figure.getBoundingClientRect();
  const boxes = [...figure.querySelectorAll("text")].map(text => {{
    const box = text.getBoundingClientRect(), air = box.height / 5;  // a box of letters is higher than they are
    found.size = Math.min(found.size, parseFloat(getComputedStyle(text).fontSize) * whole.width / 360);
    found.colours.push(getComputedStyle(text).fill);
    return {{text: text.textContent, left: box.left, right: box.right, top: box.top + air, bottom: box.bottom - air}};
  }});
  found.labels += boxes.length;
  boxes.forEach((box, place) => {{
    if (box.left < whole.left || box.right > whole.right || box.top < whole.top || box.bottom > whole.bottom)
      found.problems.push(figure.ariaDescribedby + ": " + box.text + " is cut off");
    for (const other of boxes.slice(0, place))
      if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
        found.problems.push(box.text + " lies on " + other.text);
  }});
}}
document.getElementById("found").textContent = JSON.stringify(found);
</script></html>"""


def laid_out(folder, language, width, theme=""):
    figures = "".join(f"<div>{drawn(figure, Words(language), 0).svg}</div>" for figure in FIGURES)
    page = folder / "page.html"
    page.write_text(PAGE.format(figures=figures, width=width, theme=theme), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    asked = [CHROMIUM, *options, f"--window-size={max(500, width + 32)},900", "--dump-dom", page.as_uri()]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', ran.stdout, re.DOTALL)[1]))


@pytest.mark.parametrize("width", [358, 736, 608])
@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_are_whole_and_apart_and_large_enough(tmp_path, language, width):
    found = laid_out(tmp_path, language, width)
    assert found["problems"] == []
    assert found["labels"] > 100
    assert found["size"] >= 8  # pixels, of an exponent
    assert found["wide"] <= max(500, width + 32)


def test_a_page_with_a_switch_sets_the_theme(tmp_path):
    for theme, colours in (("light", LIGHT), ("dark", DARK)):
        found = laid_out(tmp_path, "en", 358, f"data-theme={theme}")["colours"]
        parts = [[int(colours[name][k : k + 2], 16) for k in (1, 3, 5)] for name in ("ink", "faint", "one", "two")]
        assert set(found) == {f"rgb({red}, {green}, {blue})" for red, green, blue in parts}

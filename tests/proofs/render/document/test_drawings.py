"""Figures as Typst can draw them."""

import json

import pytest

from proofs.render import RenderError
from proofs.render.document.drawings import EMPTY, placed, printable, read_gallery

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><style>:root{--figure-ink:#1c2430;--figure-one:#0067a5;}'
    "@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--figure-ink:#e4e8ee;}}"
    ":root[data-theme=dark]{--figure-ink:#e4e8ee;}.f{font:12px system-ui,sans-serif}.f text{fill:var(--figure-ink)}"
    "@media (min-width:560px){.f{font-size:10px}}.f .one{stroke:var(--figure-one)}</style><text>a</text></svg>"
)


@pytest.fixture
def folder(tmp_path):
    told = lambda text: {"text": text, "html": text}
    entry = {
        "file": "a.svg", "title": told("A"), "caption": told("the <i>n</i><sub><i>k</i></sub> &lt; 2"),
        "theorems": ["softmax.positive", "softmax.sums_to_one"],
    }  # fmt: skip
    mistakes = [
        {"id": f"softmax.{kind}", "kind": kind, "theorem": "softmax.positive"} for kind in ("mistake", "unstable")
    ]
    (tmp_path / "figures.json").write_text(json.dumps({"figures": [entry], "mistakes": "mistakes.json"}))
    (tmp_path / "mistakes.json").write_text(json.dumps(mistakes))
    (tmp_path / "a.svg").write_text(SVG)
    return tmp_path


def test_colours_and_fonts_are_plain():
    found = printable(SVG, '"Some Font"')
    assert "var(" not in found and "@media" not in found and ":root" not in found
    assert '.f{font-size:12px;font-family:"Some Font"}.f text{fill:#1c2430}.f .one{stroke:#0067a5}' in found


def test_gallery(folder):
    (drawing,), mistakes = read_gallery(folder, "en", "serif")
    assert drawing.caption == '[#"the "#emph[#"n"]#sub[#emph[#"k"]]#" < 2"]'
    assert mistakes == {"softmax.positive": ["softmax.mistake"]}
    assert placed([drawing], ["softmax.sums_to_one", "softmax.positive", "loss.value"]) == {
        "softmax.positive": [drawing]
    }
    assert placed(EMPTY.drawings, ["softmax.positive"]) == placed([drawing], ["loss.value"]) == {}


def test_the_language_has_its_folder(folder):
    (folder / "ko").mkdir()
    for path in list(folder.glob("*.*")):
        path.rename(folder / "ko" / path.name)
    assert len(read_gallery(folder, "ko", "serif").drawings) == 1


@pytest.mark.parametrize("lost", ["figures.json", "mistakes.json", "a.svg"])
def test_what_is_missing(folder, lost):
    (folder / lost).unlink()
    with pytest.raises(RenderError, match=r"cannot be read: FileNotFoundError.*`python -m numeric figures --out"):
        read_gallery(folder, "en", "serif")


def test_a_broken_index(folder):
    (folder / "figures.json").write_text("[]")
    with pytest.raises(RenderError, match="cannot be read: TypeError"):
        read_gallery(folder, "en", "serif")

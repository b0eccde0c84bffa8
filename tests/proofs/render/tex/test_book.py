"""The document of all fragments, as LaTeX."""

import re

import pytest

from proofs.claims import CLAIMS
from proofs.render.catalogues import ENGLISH
from proofs.render.tex import claim_fragment, fragment
from proofs.render.tex.book import MAIN, book_files

from .samples import NAMES, theorem

THEOREMS = [theorem(name) for name in NAMES]


@pytest.fixture(scope="module")
def files():
    return book_files(THEOREMS, list(map(fragment, THEOREMS)), [claim_fragment(CLAIMS[10])], ENGLISH)


def test_every_fragment_is_read_once(files):
    inputs = re.findall(r"\\input\{([^}]*)\}", files[MAIN])
    assert sorted(f"{name}.tex" for name in inputs) == sorted(set(files) - {MAIN, "references.bib"})
    assert inputs[-1] == "claims/C11"


def test_families_stand_in_chapters(files):
    titles = re.findall(r"\\(part|section)\{([^}]*)\}", files[MAIN])
    assert titles[:3] == [
        ("part", "Positions"),
        ("section", "Positional encoding: small matrices"),
        ("part", "Softmax"),
    ]
    assert titles[-1] == ("part", "Claims")
    assert r"\section{Softmax: Jacobian}" in files[MAIN]


def test_what_stands_before_the_theorems(files):
    text = files[MAIN]
    assert text.index(r"\tableofcontents") < text.index("How to read a theorem") < text.index(r"\part{")
    assert rf"\item {len(THEOREMS)} theorems" in text
    assert r"\item[{\(\displaystyle \delta_{i j}\)}] is 1 if i = j, and else 0." in text
    assert "counted from 0" in text


def test_nothing_is_needed_beyond_the_fragments_packages(files):
    assert re.findall(r"\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", files[MAIN]) == ["amsmath,amssymb,amsthm", "hyperref"]
    assert r"\IfFileExists{hyperref.sty}" in files[MAIN]

"""All fragments together in one document, with texlive-latex-base and nothing else."""

import json
import re
from itertools import product

import pytest

from proofs.claims import CLAIMS
from proofs.registry import all_claims
from proofs.render.numbering import NUMBERINGS
from tests.latex import needs, problems, run, words_of
from tests.proofs.commands.command_line import run as run_command

pytestmark = pytest.mark.slow
TITLES = [claim.name.rpartition(".")[2].replace("_", " ") for claim in all_claims()]
BORDERS = {"wide": "", "column": "[twocolumn]"}


@pytest.fixture(scope="module", params=product(BORDERS, NUMBERINGS), ids="-".join)
def compiled(request, tmp_path_factory):
    needs("pdflatex", "latexmk", "pdftotext")
    layout, notation = request.param
    folder = tmp_path_factory.mktemp(layout)
    arguments = ("render", "--to", "tex", "--out", folder, "--layout", layout, "--notation", notation, "--json")
    summary = json.loads(run_command(*arguments).stdout)
    run(folder, "latexmk", "-halt-on-error", "-interaction=nonstopmode", "-pdf", "all.tex")
    return layout, folder, summary


def test_every_theorem_is_in_it(compiled):
    _, _, summary = compiled
    assert summary["theorems"] == len(all_claims())
    assert summary["refused"] == []
    assert summary["formulas"] > 10_000
    assert len([name for name in summary["files"] if "/" in name]) == len(all_claims()) + 2 + len(
        CLAIMS
    )  # with the axioms


def test_columns(compiled):
    layout, folder, _ = compiled
    assert rf"\documentclass{BORDERS[layout]}{{article}}" in (folder / "all.tex").read_text(encoding="utf-8")


def test_no_box_is_too_wide_and_no_reference_leads_nowhere(compiled):
    _, folder, _ = compiled
    assert problems(folder / "all.log") == []


def test_every_title_is_found(compiled):
    _, folder, _ = compiled
    text = words_of(folder / "all.pdf").replace(" ", "")
    assert [title for title in TITLES if f"({title.replace(' ', '')})" not in text] == []


def test_every_number_is_found(compiled):
    """Where the whole catalogue is in one document, theorems are cited by their numbers."""
    _, folder, _ = compiled
    text = words_of(folder / "all.pdf")
    assert len(re.findall(r"by Theorem \d+", text)) > 100
    assert len(re.findall(r"Claim \d+ \(C\d+, (?:proved|refuted)", text)) == len(CLAIMS)
    assert len(re.findall(r"Decided by\. Theorem \d+", text)) == len(CLAIMS)
    assert not re.search(r"by [a-z_]+\.[a-z_]+", text)


@pytest.mark.parametrize("notation", NUMBERINGS)
def test_columns_of_a4(tmp_path, notation):
    """They are 8 pt narrower than those of letter paper."""
    needs("pdflatex", "latexmk")
    run_command("render", "--to", "tex", "--out", tmp_path, "--layout", "column", "--notation", notation)
    whole = tmp_path / "all.tex"
    whole.write_text(whole.read_text(encoding="utf-8").replace("[twocolumn]", "[twocolumn,a4paper]"), encoding="utf-8")
    run(tmp_path, "latexmk", "-halt-on-error", "-interaction=nonstopmode", "-pdf", "all.tex")
    assert problems(tmp_path / "all.log") == []


def test_trouble_is_seen(tmp_path):
    """The tester is tested: each kind of trouble, planted."""
    needs("pdflatex")
    planted = {
        r"\ref{nowhere}": "undefined", r"\cite{nobody}": "undefined",
        r"\label{a}\label{a}": "multiply", r"\noindent\rule{400pt}{1pt}": "Overfull",
    }  # fmt: skip
    for body, trouble in planted.items():
        (tmp_path / "a.tex").write_text(rf"\documentclass{{article}}\begin{{document}}x {body} x\end{{document}}")
        for _ in range(2):
            run(tmp_path, "pdflatex", "-interaction=nonstopmode", "a.tex")
        assert any(trouble in line for line in problems(tmp_path / "a.log")), body

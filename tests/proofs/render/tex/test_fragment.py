"""Fragments: what they say, what they need, what they leave alone."""

import re

import pytest

from proofs.axioms import AXIOMS
from proofs.claims import CLAIMS
from proofs.registry import all_claims
from proofs.render.catalogues import ENGLISH, in_language
from proofs.render.latex import Latex
from proofs.render.page_formulas import formulas_of
from proofs.render.tex import LAYOUTS, claim_fragment, companions, fragment
from proofs.render.theorem import page

from .samples import NAMES, theorem

WIDE, COLUMN = LAYOUTS["wide"], LAYOUTS["column"]
JACOBIAN = "softmax_jacobian.jacobian"


def body(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def test_wide_has_reasons_beside_the_steps():
    text = fragment(theorem(JACOBIAN), WIDE).text
    assert r"\begin{theorem}[jacobian]\label{thm:softmax_jacobian.jacobian}" in text
    assert "The Jacobian of softmax, derived from its definition.\nFor all \\(1 \\le n\\);" in text
    assert (
        r"  = {} & \operatorname{softmax}(z)_{i} (\delta_{i j} - \operatorname{softmax}(z)_{j}) && \parbox[t]{140pt}"
        r"{\raggedright\small by definition of \(\operatorname{softmax}\)} \label{eq:softmax_jacobian.jacobian:4}"
    ) in text


def test_column_has_reasons_above_the_steps():
    rows = fragment(theorem(JACOBIAN), COLUMN).text.splitlines()
    row = next(k for k, line in enumerate(rows) if r"\label{eq:softmax_jacobian.jacobian:4}" in line)
    assert re.match(r"  & \\parbox\[t\]\{\d+pt\}\{\\raggedright\\small by definition of", rows[row])
    assert rows[row + 1].startswith(r"  = {} & \operatorname{softmax}(z)_{i}")


def test_labels_of_hypotheses_and_steps():
    name = "online_softmax.online_softmax_equals_softmax"
    found = theorem(name)
    labels = re.findall(r"\\label\{([^}]*)\}", fragment(found).text)
    hypotheses = [f"hyp:{name}:{k}" for k in range(1, len(found.hypotheses) + 1)]
    steps = [f"eq:{name}:{k}" for k in range(1, len(found.steps) + 1)]
    assert labels == [f"thm:{name}", *hypotheses, f"eq:{name}", *steps]
    assert len(hypotheses) > 1


def test_header_records_the_notation():
    head = [line for line in fragment(theorem(JACOBIAN), WIDE).text.splitlines() if line.startswith("%")]
    assert head[0] == "% softmax_jacobian.jacobian"
    said = " ".join(line.lstrip("% ") for line in head)
    assert "layout wide, language en, notation zero-based" in said
    assert "21 formulas, each parsed back from this text and equal to what was proved" in said
    assert "Indices are counted from 0: i < n is one of 0, ..., n − 1." in said
    assert "Tokens are rows" in said and "interleaved" in said and "concatenated" in said
    assert "eq:softmax_jacobian.jacobian:1 to 4" in said
    assert r"needs amsmath, amssymb, amsthm and \newtheorem{theorem}{Theorem}: see preamble.tex" in said
    assert max(map(len, head)) <= 110


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_shape_is_written_and_read_back(name, layout):
    found = fragment(theorem(name), layout)
    assert found.formulas == len(formulas_of(page(theorem(name), Latex)))
    assert found.place == name.replace(".", "/") + ".tex"
    text = body(found.text)
    assert not re.search(r"\\(newcommand|renewcommand|def|let|newtheorem|usepackage|qedhere)\b", text)
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert text.count(r"\begingroup") == text.count(r"\endgroup") == 1


def test_a_label_with_a_hyphen_has_a_hyphen():
    assert r"W_{\mathrm{Q\text{-}Z}}" in fragment(theorem("decoder.decoder_layer_is_causal")).text


def test_an_axiom_says_where_it_is_proved():
    text = body(fragment(AXIOMS[0].theorem).text)
    assert "Cited, and not proved here: Lambert 1761~\\cite{lambert1761memoire}; Niven 1947" in text
    assert r"\begin{proof}" not in text


def test_what_a_proof_rests_on():
    found = theorem("online_softmax.online_softmax_equals_softmax")
    assert "This rests on \\ifcsname r@thm:online_softmax.online_softmax_recurrence" in fragment(found).text
    assert "No other theorem is used." in fragment(theorem(JACOBIAN)).text


def test_korean_has_the_same_formulas_and_says_what_it_needs():
    english, korean = (fragment(theorem(JACOBIAN), COLUMN, in_language(code)) for code in ("en", "ko"))
    assert korean.formulas == english.formulas
    assert "소프트맥스의 야코비안" in korean.text
    assert "\\usepackage{kotex}" in korean.text
    assert "kotex" not in english.text
    plain = re.compile(r"\\\((.*?)\\\)")
    assert plain.findall(body(korean.text)) == plain.findall(body(english.text))


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_korean_fragments_read_back_for_all(layout):
    korean = in_language("ko")
    found = [fragment(claim.theorem, layout, korean) for claim in all_claims()]
    assert sum(f.formulas for f in found) > 10_000


def test_companions():
    found = [fragment(theorem(name), COLUMN) for name in NAMES[:3]]
    files = companions(found, [claim_fragment(CLAIMS[10])], COLUMN, ENGLISH)
    assert set(files) == {"preamble.tex", "references.bib", "all.tex"}
    assert "\\newtheorem{theorem}{Theorem}" in files["preamble.tex"]
    assert files["all.tex"].count(r"\section{Softmax: Jacobian}") == 1
    assert "\\documentclass[twocolumn]{article}" in files["all.tex"]
    assert r"\input{softmax_jacobian/jacobian}" in files["all.tex"]
    assert all(f"{{{key}," in files["references.bib"] for f in found for key in f.cites)
    uncited = [f._replace(cites=()) for f in found]
    assert r"\input{claims/C11}" in files["all.tex"]
    assert "references.bib" not in companions(uncited, [], COLUMN, ENGLISH)
    assert "bibliography" not in companions(uncited, [], COLUMN, ENGLISH)["all.tex"]
    assert "Claim" not in companions(uncited, [], COLUMN, ENGLISH)["all.tex"]
    assert "kotex" in companions(found, [], COLUMN, in_language("ko"))["preamble.tex"]

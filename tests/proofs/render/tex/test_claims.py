"""Claims as fragments: words only, with the theorems that decide them."""

import re

import pytest

from proofs.claims import CLAIMS
from proofs.render.catalogues import in_language, languages
from proofs.render.tex import claim_fragment

BY_ID = {claimed.id: claimed for claimed in CLAIMS}


def body(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def test_a_claim():
    found = claim_fragment(BY_ID["C9"])
    assert (found.name, found.place, found.formulas, found.cites) == ("C9", "claims/C9.tex", 0, ())
    lines = body(found.text).splitlines()
    assert lines[0] == r"\begin{claim}[C9, proved as corrected]\label{claim:C9}\sloppy"
    assert lines[1].startswith(
        r"The source says: Attention(Q, K, V) = softmax(Q K\textsuperscript{T} / sqrt(d\textsubscript{k}) V)"
    )
    assert lines[2].startswith(r"\par\normalfont\noindent\textit{What holds.} V stands outside of the softmax.")
    assert lines[3].startswith(r"\par\noindent\textit{Counterexample.} one key, d\textsubscript{v} = 1")
    assert lines[4].startswith(
        r"\par\raggedright\noindent\textit{Decided by.} \ifcsname r@thm:attention.definition\endcsname Theorem~\ref"
    )
    assert lines[5:] == [r"\end{claim}"]


def test_a_claim_without_a_counterexample():
    assert "Counterexample" not in claim_fragment(BY_ID["C11"]).text
    assert "[C11, proved]" in claim_fragment(BY_ID["C11"]).text
    assert "[C18, refuted]" in claim_fragment(BY_ID["C18"]).text


def test_korean():
    text = claim_fragment(BY_ID["C14"], in_language("ko")).text
    assert "[C14, 바로잡아 증명됨]" in text and "성립하는 것." in text and "정리~" in text and "kotex" in text


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("claimed", CLAIMS, ids=lambda c: c.id)
def test_every_claim_has_no_formula_and_every_theorem(claimed, language):
    text = body(claim_fragment(claimed, in_language(language)).text)
    assert re.findall(r"\\ref\{thm:([^}]*)\}", text) == list(claimed.theorems)
    assert not re.search(r"(?<!\\)\$|\\\(|\\\[|\\begin\{(?!claim\})", text)
    assert set(re.findall(r"\\ensuremath\{([^}]*)\}", text)) <= {"<", ">", "|", "-", r"\le", r"\ge", r"\ne", r"\to"}
    assert re.findall(r"\\label\{([^}]*)\}", text) == [f"claim:{claimed.id}"]

"""Claims in the words of a language."""

import pytest

from proofs.claims import CLAIMS
from proofs.render.catalogues import in_language, languages
from proofs.render.claim_pages import claim_page, verdict_words


@pytest.mark.parametrize("language", languages())
def test_every_claim_has_words(language):
    pages = [claim_page(claimed, in_language(language)) for claimed in CLAIMS]
    assert {page.kind for page in pages} == {"proved", "corrected", "refuted"}
    assert all(page.claim and page.sentence and page.theorems for page in pages)
    assert [p.id for p in pages if p.counterexample] == [c.id for c in CLAIMS if c.counterexample]


def test_verdicts_in_words():
    assert [verdict_words(v) for v in ("proved", "proved as corrected", "refuted", "failed")] == [
        "proved", "proved as corrected", "refuted", "failed"
    ]  # fmt: skip
    assert verdict_words("failed", in_language("ko")) == "실패"

"""Pages whose indices are counted from 1: each says what was proved, and none is taken for a page that counts from 0."""

import pytest

from proofs.registry import all_claims
from proofs.render.catalogues import in_language, languages
from proofs.render.gate import GateError, checked, gated_page
from proofs.render.notation_guide import SIGNS, choices, signs
from proofs.render.numbering import NUMBERINGS, ONE_BASED, ZERO_BASED
from proofs.render.page_formulas import formulas_of
from proofs.render.theorem import page

from .inverse.typst.test_mutations import surviving_on
from .test_page_items import survivors

CLAIMS = {claim.name: claim for claim in all_claims()}
KINDS = ("latex", "typst", "unicode")
INDEXED = [
    CLAIMS[name] for name in (
        "positional_encoding.half_split_is_a_permutation", "causal_alignments.causal_alignments_agree",
        "causal_alignments.lower_right_has_empty_rows", "tiled_attention.block_merge", "multi_head.split_merge_is_identity",
        "training.moment_is_weighted_sum", "shift_instances.instance_of_two",
    )
]  # fmt: skip


def printers(kind):
    return [getattr(numbering, kind) for numbering in (ZERO_BASED, ONE_BASED)]


@pytest.mark.cases(6)
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
@pytest.mark.parametrize("kind", KINDS)
def test_every_page_passes_and_none_for_the_other(kind, claim):
    theorem, (from_zero, from_one) = claim.theorem, printers(kind)
    found, other = gated_page(theorem, from_one), page(theorem, from_zero)
    assert found.formulas == len(formulas_of(found.page)) == len(formulas_of(other))
    if found.page != other:
        for wrong, printer in ((found.page, from_zero), (other, from_one)):
            with pytest.raises(GateError, match=claim.name):
                checked(wrong, theorem, printer)


@pytest.mark.parametrize("kind", KINDS)
def test_one_formula_that_counts_from_0_is_refused(kind):
    """Planted one by one in a page that counts from 1."""
    planted = 0
    for claim in INDEXED[:3]:
        from_zero, from_one = (page(claim.theorem, printer) for printer in printers(kind))
        for k, (right, wrong) in enumerate(zip(from_one.lines, from_zero.lines, strict=True)):
            if right.term != wrong.term:
                lines = (*from_one.lines[:k], right._replace(term=wrong.term), *from_one.lines[k + 1 :])
                with pytest.raises(GateError, match=f"step {k + 1}: "):
                    checked(from_one._replace(lines=lines), claim.theorem, printers(kind)[1])
                planted += 1
    assert planted > 5


def test_most_pages_look_different():
    alike = [c.name for c in INDEXED if page(c.theorem, ZERO_BASED.latex) == page(c.theorem, ONE_BASED.latex)]
    assert alike == []


def test_mutants_of_latex_pages():
    count, same = survivors(INDEXED[:4], seed=1, each=4, printer=ONE_BASED.latex)
    assert count > 250 and same == []


def test_mutants_of_typst_pages():
    count, same = surviving_on(INDEXED[:4], seed=1, each=4, printer=ONE_BASED.typst)
    assert count > 250 and same == []


@pytest.mark.slow
def test_mutants_of_all_latex_pages():
    count, same = survivors(all_claims(), seed=3, each=3, printer=ONE_BASED.latex)
    assert count > 25000 and same == []


@pytest.mark.slow
def test_mutants_of_all_typst_pages():
    count, same = surviving_on(all_claims(), seed=3, each=2, printer=ONE_BASED.typst)
    assert count > 15000 and same == []


# --- what a file records


@pytest.mark.parametrize("language", languages())
def test_choices(language):
    catalogue = in_language(language)
    from_zero, from_one = (choices(catalogue, numbering) for numbering in (ZERO_BASED, ONE_BASED))
    assert from_zero[0][1].count("0") == 2 and "i < n" in from_zero[0][1]
    assert "0" not in from_one[0][1] and "i ≤ n" in from_one[0][1] and "i − 1" in from_one[0][1]
    assert from_zero[1:] == from_one[1:] and len(from_one) == 3
    assert choices(catalogue, ZERO_BASED, with_figures=True) == from_zero
    assert choices(catalogue, ONE_BASED, with_figures=True)[:3] == from_one


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbering", NUMBERINGS.values(), ids=NUMBERINGS)
def test_signs(kind, numbering):
    assert [name for name, _ in signs(getattr(numbering, kind))] == [name for name, _ in SIGNS]

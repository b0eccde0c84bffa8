"""What is printed is read as the very term that was printed."""

from functools import partial

import pytest

from proofs.notation import number
from proofs.registry import all_claims
from proofs.render import Unicode
from proofs.render.gate import gated_page
from proofs.render.inverse import fragment
from proofs.render.inverse.unicode import read
from proofs.render.unicode import UnicodeFromOne
from proofs.terms import Term

from ...random_terms import w
from ...test_injective import PAGE, TRAPS, dense, drawn
from ..spelled_table import table_of

TABLE, PRINTS = table_of(PAGE), Unicode(PAGE)
said = partial(fragment, table=TABLE, read=read)


def check(terms):
    assert [(term, PRINTS(term)) for term in terms if said(PRINTS(term)) != term] == []


def test_random_terms():
    check(drawn(seed=21, count=300))


def test_random_terms_over_few_symbols():
    check(dense(seed=21, count=600))


def test_exponents():
    check([Term("power", (w, term)) for term in dense(seed=22, count=300) if term != number(-1)])


@pytest.mark.slow
def test_many_random_terms():
    terms = [*drawn(seed=2, count=9000), *dense(seed=2, count=22000)]
    assert len(terms) > 17500
    check(terms)


@pytest.mark.parametrize("trap", TRAPS)
def test_traps(trap):
    check(TRAPS[trap])


@pytest.mark.cases(12)
@pytest.mark.parametrize("printer", [Unicode, UnicodeFromOne])
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_every_theorem(claim, printer):
    assert gated_page(claim.theorem, printer).formulas > 2

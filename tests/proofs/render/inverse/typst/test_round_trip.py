"""What is printed is read as the very term that was printed."""

from functools import partial

import pytest

from proofs.render import Typst
from proofs.render.inverse import fragment
from proofs.render.inverse.typst import read

from ...test_injective import PAGE, TRAPS, dense, drawn
from ..spelled_table import table_of

TABLE, PRINTS = table_of(PAGE), Typst(PAGE)
said = partial(fragment, table=TABLE, read=read)


def check(terms):
    assert [(term, PRINTS(term)) for term in terms if said(PRINTS(term)) != term] == []


def test_random_terms():
    check(drawn(seed=21, count=300))


def test_random_terms_over_few_symbols():
    check(dense(seed=21, count=600))


@pytest.mark.slow
def test_many_random_terms():
    terms = [*drawn(seed=2, count=9000), *dense(seed=2, count=22000)]
    assert len(terms) > 17500
    check(terms)


@pytest.mark.parametrize("trap", TRAPS)
def test_traps(trap):
    check(TRAPS[trap])

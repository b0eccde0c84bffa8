"""What is printed is read as the very term that was printed."""

import pytest

from proofs.notation import number
from proofs.render import Latex
from proofs.render.inverse import fragment
from proofs.terms import Term

from ..random_terms import w
from ..test_injective import PAGE, TRAPS, dense, drawn
from .spelled_table import table_of

TABLE, PRINTS = table_of(PAGE), Latex(PAGE)


def check(terms):
    assert [(term, PRINTS(term)) for term in terms if fragment(PRINTS(term), TABLE) != term] == []


def test_random_terms():
    check(drawn(seed=21, count=300))


def test_random_terms_over_few_symbols():
    check(dense(seed=21, count=600))


def test_exponents():
    terms = [Term("power", (w, term)) for term in dense(seed=22, count=900) if term != number(-1)]
    assert len({PRINTS(term) for term in terms}) == len(terms) > 500
    check(terms)


@pytest.mark.slow
def test_many_random_terms():
    terms = [*drawn(seed=2, count=9000), *dense(seed=2, count=22000)]
    assert len(terms) > 17500
    check(terms)


@pytest.mark.parametrize("trap", TRAPS)
def test_traps(trap):
    check(TRAPS[trap])

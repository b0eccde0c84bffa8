"""A text with one token changed is refused, or says something else: of random terms, and of whole pages of the catalogue."""

from random import Random

import pytest

from proofs.notation import number
from proofs.registry import all_claims
from proofs.render import Typst
from proofs.render.inverse import UnreadableError, fragment
from proofs.render.inverse.typst import read, tokens
from proofs.render.page_items import GateError, items
from proofs.render.theorem import page

from ...random_terms import w
from ...test_injective import PAGE, TRAPS, dense, drawn
from ..spelled_table import table_of
from .changed import mutants, pieces, same_but_for_a_name

TABLE, PRINTS = table_of(PAGE), Typst(PAGE)
PAGES = ("softmax_jacobian.jacobian", "attention_gradients.gradient_of_values", "softmax_saturation.jacobian_vanishes")


def said(text):
    try:
        return fragment(text, TABLE, read)
    except UnreadableError:
        return None


def survivors(terms, seed, each):
    """How many mutants there are, and those that say the same."""
    random, texts = Random(seed), [(PRINTS(term), term) for term in terms]
    others = [piece for text, _ in texts for piece in pieces(text)]
    found = [(text, term, m) for text, term in texts for m in mutants(text, others, random, each)]
    return len(found), [(text, m) for text, term, m in found if said(m) == term]


def failures(terms, seed, each, at_least):
    count, same = survivors(terms, seed, each)
    assert count >= at_least and len(same) < count / 50
    return [pair for pair in same if not same_but_for_a_name(*pair)]


def test_mutants_of_random_terms():
    traps = [term for terms in TRAPS.values() for term in terms]
    assert failures([*drawn(21, 300)[:100], *dense(21, 600)[:150], *traps], seed=1, each=4, at_least=1500) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_mutants_of_random_terms(seed):
    assert failures([*drawn(seed, 800), *dense(seed, 1600)], seed=seed, each=8, at_least=14000) == []


def surviving_on(claims, seed, each, printer=Typst):
    random, count, same = Random(seed), 0, []
    for claim in claims:
        found = list(items(page(claim.theorem, printer), claim.theorem, printer))
        others = [piece for item in found for piece in pieces(item.text)]
        for item in found:
            for text in mutants(item.text, others, random, each):
                count += 1
                same += [(item.text, text)] if says_the_same(item, text) else []
    return count, [pair for pair in same if not same_but_for_a_name(*pair)]


def says_the_same(item, text):
    try:
        return item.read(text) == item.needed
    except GateError:
        return False


def test_mutants_of_pages():
    count, same = surviving_on([c for c in all_claims() if c.name in PAGES], seed=1, each=8)
    assert count > 500 and same == []


@pytest.mark.slow
def test_mutants_of_all_pages():
    count, same = surviving_on(all_claims(), seed=2, each=2)
    assert count > 15000 and same == []


def test_a_reader_that_takes_other_spellings_is_caught(monkeypatch):
    monkeypatch.setattr(tokens, "require_plain", lambda digits, at: None)
    read.cache_clear()
    try:
        count, same = survivors([w * number(k % 10) for k in range(300)], seed=1, each=4)
        assert count > 500 and not all(same_but_for_a_name(*pair) for pair in same)
    finally:
        read.cache_clear()

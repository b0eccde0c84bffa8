"""A text with one sign or one space changed is refused, or says something else."""

import re
from functools import partial
from random import Random

import pytest

from proofs.registry import all_claims
from proofs.render import Unicode
from proofs.render.inverse import UnreadableError, fragment
from proofs.render.inverse.unicode import read, tokens
from proofs.render.inverse.unicode.grammar import _tree
from proofs.render.page_items import GateError, items
from proofs.render.theorem import page

from ...test_injective import PAGE, TRAPS, dense, drawn
from .. import mutations
from ..changed import mutants
from ..spelled_table import table_of

TABLE, PRINTS = table_of(PAGE), Unicode(PAGE)
PAGES = ("softmax_jacobian.jacobian", "attention_gradients.gradient_of_values", "softmax_saturation.jacobian_vanishes")
pieces = re.compile(r"[0-9]+|.", re.DOTALL).findall
same_but_for_a_name = partial(mutations.same_but_for_a_name, read=read)


def said(text):
    try:
        return fragment(text, TABLE, read)
    except UnreadableError:
        return None


def survivors(terms, seed, each):
    """How many mutants there are, and those that say the same."""
    random, texts = Random(seed), [(PRINTS(term), term) for term in terms]
    others = [piece for text, _ in texts for piece in pieces(text)]
    found = [(text, term, m) for text, term in texts for m in mutants(text, pieces, others, random, each)]
    return len(found), [(text, m) for text, term, m in found if said(m) == term]


def failures(terms, seed, each, at_least):
    count, same = survivors(terms, seed, each)
    assert count >= at_least and len(same) < count / 40
    return [pair for pair in same if not same_but_for_a_name(*pair)]


def test_mutants_of_random_terms():
    traps = [term for terms in TRAPS.values() for term in terms]
    assert failures([*drawn(21, 300)[:100], *dense(21, 600)[:150], *traps], seed=1, each=4, at_least=1500) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_mutants_of_random_terms(seed):
    assert failures([*drawn(seed, 800), *dense(seed, 1600)], seed=seed, each=8, at_least=14000) == []


def surviving_on(claims, seed, each):
    random, count, same = Random(seed), 0, []
    for claim in claims:
        found = list(items(page(claim.theorem, Unicode), claim.theorem, Unicode))
        others = [piece for item in found for piece in pieces(item.text)]
        for item in found:
            for text in mutants(item.text, pieces, others, random, each):
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


def test_a_reader_that_takes_other_spaces_is_caught(monkeypatch):
    monkeypatch.setattr(tokens, "_space_between", lambda before, token: None)
    _tree.cache_clear()
    try:
        count, same = survivors([term for terms in TRAPS.values() for term in terms], seed=1, each=8)
        assert count > 500 and not all(same_but_for_a_name(*pair) for pair in same)
    finally:
        _tree.cache_clear()

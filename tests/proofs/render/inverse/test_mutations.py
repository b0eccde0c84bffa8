"""A text with one token changed is refused, or says something else.

The one exception: a bound variable that occurs nowhere may have any name, as l in the sum of 1 over l < n. Such a text says
the same; the test lets it pass only where the two raw trees differ in the names that binders introduce, and in nothing else.
"""

from random import Random

import pytest

from proofs.notation import number
from proofs.render import Latex
from proofs.render.inverse import UnreadableError, fragment, latex
from proofs.render.inverse.latex.grammar import Latex as Grammar

from ..random_terms import w
from ..test_injective import PAGE, TRAPS, dense, drawn
from .mutations import mutants, pieces, same_but_for_a_name, tokens
from .spelled_table import table_of

TABLE, PRINTS = table_of(PAGE), Latex(PAGE)


def said(text):
    try:
        return fragment(text, TABLE)
    except UnreadableError:
        return None


def outcomes(terms, seed, each):
    """How many mutants there are, the texts that say the same, and how many say something else."""
    random, texts = Random(seed), [(PRINTS(term), term) for term in terms]
    others = [piece for text, _ in texts for piece in pieces(text)]
    found = [(text, term, m) for text, term in texts for m in mutants(text, others, random, each)]
    read = [(text, term, m, said(m)) for text, term, m in found]
    same = [(text, m) for text, term, m, result in read if result == term]
    return len(found), same, sum(result is not None for *_, result in read) - len(same)


def failures(terms, seed, each, at_least):
    """The mutants that say the same in other words, of at least so many."""
    count, same, others = outcomes(terms, seed, each)
    assert count >= at_least
    assert len(same) < count / 50
    assert others > count / 100  # the table is rich enough for a mutant to say something
    return [pair for pair in same if not same_but_for_a_name(*pair)]


def test_mutants_of_random_terms():
    traps = [term for terms in TRAPS.values() for term in terms]
    assert failures([*drawn(21, 300)[:150], *dense(21, 600)[:150], *traps], seed=1, each=4, at_least=1500) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_mutants_of_random_terms(seed):
    assert failures([*drawn(seed, 800), *dense(seed, 1600)], seed=seed, each=8, at_least=14000) == []


def test_any_sequence_of_tokens_is_read_or_refused():
    random = Random(1)
    others = [piece for term in drawn(21, 300)[:100] for piece in pieces(PRINTS(term))]
    texts = ["".join(random.choices(others, k=random.randrange(1, 9))) for _ in range(3000)]
    assert 0 < sum(said(text) is not None for text in texts) < 1000


def test_only_what_occurs_nowhere_may_have_another_name():
    text, other = r"\sum_{l=0}^{n - 1} z_{l}", r"\sum_{j=0}^{n - 1} z_{l}"
    assert said(text) != said(other) is not None
    unused = r"\sum_{l=0}^{n - 1} 1"
    assert said(unused) == said(r"\sum_{j=0}^{n - 1} 1")
    assert same_but_for_a_name(unused, r"\sum_{j=0}^{n - 1} 1")
    assert not same_but_for_a_name(unused, r"\sum_{l=0}^{M - 1} 1")


def test_mutants_are_of_every_kind():
    random, text = Random(1), r"z_{i} + 2"
    found = set(mutants(text, ["w"], random, 400))
    assert {r"z_{i} 2", r"z_{i} + + 2", r"z_{i} 2+ ", r"z_{i} w2"} <= found
    assert text not in found
    assert tokens("2  +3") == tokens("2 + 3") != tokens("2 + 4")


def test_a_reader_that_takes_dots_or_none_is_caught(monkeypatch):
    monkeypatch.setattr(Grammar, "_needs_a_dot", lambda self, before: self._signs[self._next - 1] == r"\cdot")
    latex.read.cache_clear()
    try:
        count, same, _ = outcomes([number(2) * w * number(k) for k in range(2, 200)], seed=1, each=4)
        assert count > 500 and not all(same_but_for_a_name(*pair) for pair in same)
    finally:
        latex.read.cache_clear()

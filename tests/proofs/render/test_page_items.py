"""The formulas of real pages, one by one: how each is read, and that no other text is read as the same."""

from random import Random

import pytest

from proofs.notation import eq, i, z
from proofs.registry import all_claims
from proofs.render import Latex
from proofs.render.gate import GateError
from proofs.render.inverse import fragment
from proofs.render.page_items import declared_table, items, tables
from proofs.render.theorem import page
from proofs.terms import Term
from proofs.theorems.softmax import softmax
from proofs.theorems.softmax_jacobian import jacobian
from proofs.theorems.softmax_saturation import jacobian_vanishes

from .inverse.mutations import mutants, pieces, same_but_for_a_name

JACOBIAN = jacobian.theorem
PAGE = page(JACOBIAN, Latex)


def test_where_each_formula_stands():
    found = [item.where.removeprefix("softmax_jacobian.jacobian, ") for item in items(PAGE, JACOBIAN)]
    assert found[:9] == ["where"] * 2 + ["for all"] * 4 + ["then", "left side", "step 1"]
    assert found[-2:] == ["near miss 3", "near miss 3, what is left over"]
    assert "step 4, its reason" in found


def test_one_formula_of_a_page_with_its_tables():
    """As the text behind a button, or in an emitted file, is read."""
    found = tables(PAGE, JACOBIAN)
    assert fragment(PAGE.conclusion, found.statement) == JACOBIAN.conclusion
    assert fragment(PAGE.lines[2].term, found.proof) == JACOBIAN.steps[2].after
    assert fragment(PAGE.refusals[0].conclusion, found.near_misses[0]) == JACOBIAN.near_misses[0].conclusion
    assert fragment(r"\operatorname{softmax}(z)_{i} = z_{i}", found.statement) == eq(softmax(z, i), z[i])
    met = tables(page(jacobian_vanishes.theorem, Latex), jacobian_vanishes.theorem)
    assert len(met.proof.entries) == len(met.statement.entries) + 1


def test_the_table_of_a_theorem_that_is_cited():
    table = declared_table(JACOBIAN)
    assert set(table.entries.values()) == JACOBIAN.statement.symbols()
    assert table.entries.items() <= tables(PAGE, JACOBIAN).statement.entries.items()


def read(item, text):
    try:
        return item.read(text)
    except GateError:
        return None


def survivors(claims, seed, each, printer=Latex):
    """How many texts on these pages have one other token, and those among them that say what was proved in other words."""
    random, count, same = Random(seed), 0, []
    for claim in claims:
        found = list(items(page(claim.theorem, printer), claim.theorem, printer))
        others = [piece for item in found for piece in pieces(item.text)]
        for item in found:
            wrong = mutants(item.text, others, random, each)
            count += len(wrong)
            same += [(item.where, item.text, m) for m in wrong if read(item, m) == item.needed]
    return count, [(where, text, m) for where, text, m in same if not same_but_for_a_name(text, m)]


def test_mutants_of_pages():
    count, same = survivors(all_claims()[::96], seed=1, each=8)
    assert count > 700
    assert same == []


@pytest.mark.slow
def test_many_mutants_of_pages():
    count, same = survivors(all_claims(), seed=2, each=3)
    assert count > 25000
    assert same == []


def test_terms_are_compared_and_not_texts():
    found = next(i for i in items(PAGE, JACOBIAN) if i.where.endswith("step 1"))
    assert isinstance(found.needed, Term)
    renamed = found.text.replace("l=0", "k=0").replace("{l}", "{k}").replace("{l j}", "{k j}")
    assert renamed != found.text
    assert found.read(renamed) == found.needed

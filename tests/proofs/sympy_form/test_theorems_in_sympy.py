"""SymPy as a third witness: every theorem that it can state, at small sizes and rational points, derivatives taken by SymPy."""

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
import sympy
from sympy import Rational

from numeric.agreement.instances import written_out
from proofs.binders import as_function, substitute
from proofs.kernel import Statement
from proofs.registry import all_claims
from proofs.sympy_form import instances, to_sympy
from proofs.terms import Family, IndexMap, Term

from .points import DIGITS, value

LARGEST = 1000  # operations, written out, since SymPy shares nothing; it needs seconds for a few thousand


def is_small(statement, count: int) -> bool:
    return written_out(statement, count) <= LARGEST


def listable(statement) -> bool:
    """Whether its index maps have a finite number of values."""
    maps = [s for s in statement.symbols() if isinstance(s, IndexMap)]
    return not any(slot.op == "domain" for m in maps for slot in m.slots) and not is_random(statement)


def is_random(statement) -> bool:
    """Whether it is about a probability space, of which SymPy has none without a distribution."""
    return any(isinstance(s, Term) and s.op == "space" for s in statement.symbols())


def speaks_of_all_reals(term: Term) -> bool:
    """Whether it has a quantifier over the reals, or over all whole numbers, which SymPy has not."""
    return (term.op == "forall" and term.args[0].op == "domain") or any(map(speaks_of_all_reals, term.args))


SMALL = [c for c in all_claims() if c.statement.conclusion.op == "relation" and is_small(c.statement, 2)]
EQUATIONS = {c.name: c for c in SMALL if c.statement.conclusion.data == "eq" and not is_random(c.statement)}
INEQUALITIES = {
    c.name: c
    for c in SMALL
    if c.statement.conclusion.data in ("le", "lt", "ne")
    and listable(c.statement)
    and not any(map(speaks_of_all_reals, c.statement.hypotheses))
}


def holds(equation, seed) -> bool:
    left, right = value(equation.lhs, seed), value(equation.rhs, seed)
    assert left.is_number, left
    assert right.is_number, right
    return abs(left - right) <= Rational(1, 10**DIGITS) * (1 + abs(left))


def witnessed(claim, statement=None, false_at=None) -> Statement:
    """A statement with the claim's witness in it, and the values at which a near miss is false."""
    statement = statement or claim.statement
    values = {**claim.witness, **(false_at or {})}
    chosen = {s: as_function(v) if isinstance(s, Family) else v for s, v in values.items() if s in statement.symbols()}
    return Statement(
        substitute(statement.conclusion, chosen), tuple(substitute(h, chosen) for h in statement.hypotheses)
    )


def at_size(statement, count) -> dict:
    return {s: max(count, s.data[1]) for s in statement.symbols() if isinstance(s, Term) and s.op == "size"}


def instances_of(statement, count) -> Iterator:
    return instances(statement, at_size(statement, count))


def some_instances(statement, seed) -> Iterator:
    """A few at size 2, then at sizes that differ, since hypotheses may exclude equal ones."""
    sizes, rng = at_size(statement, 2), Random(seed)
    for _ in range(20):
        yield from islice(instances(statement, sizes), 12)
        sizes = {s: rng.randint(s.data[1], max(s.data[1], 3)) for s in sizes}


@pytest.mark.cases(30)
@pytest.mark.parametrize("claim", EQUATIONS.values(), ids=lambda c: c.name)
def test_an_equation_holds_at_one_instance(claim):
    some = list(islice(some_instances(witnessed(claim), claim.name), 6))
    assert holds(Random(claim.name).choice(some)[1], seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_holds_at_all_instances(name):
    statement = witnessed(EQUATIONS[name])
    for count in (1, 2, 3):
        if is_small(statement, count):
            for assignment, equation in islice(instances_of(statement, count), 40):
                assert holds(equation, seed=1), assignment


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUATIONS)
def test_a_near_miss_fails_at_some_instance(name):
    claim = EQUATIONS[name]
    for twin in claim.twins:
        statement = witnessed(claim, twin.statement, twin.false_at)
        tried = ((e, seed) for seed in range(3) for _, e in some_instances(statement, name))
        assert not all(holds(e, seed) for e, seed in tried)


def true_at(proposition, seed) -> bool:
    """A relation, or several, at a random rational point; equal numbers are told from different ones at 30 digits."""

    def decided(relation):
        gap, slack = value(relation.lhs, seed) - value(relation.rhs, seed), Rational(1, 10**DIGITS)
        return relation.func(gap if abs(gap) > slack else sympy.Integer(0), 0)

    return bool(proposition.replace(lambda e: isinstance(e, sympy.core.relational.Relational), decided))


@pytest.mark.slow
@pytest.mark.parametrize("name", INEQUALITIES)
def test_an_inequality_holds_where_its_hypotheses_do(name):
    statement = witnessed(INEQUALITIES[name])
    sizes = at_size(statement, 2)
    for assignment, conclusion in instances(statement, sizes):
        given = [to_sympy(h, sizes, assignment) for h in statement.hypotheses]
        met = list(islice((seed for seed in range(200) if all(true_at(h, seed) for h in given)), 3))
        assert len(met) == 3
        assert all(true_at(conclusion, seed) for seed in met), assignment


def test_sympy_solves_the_hypotheses_of_block_is_forced():
    """They are linear equations with one solution, which SymPy finds by itself."""
    statement = EQUATIONS["positional_encoding.block_is_forced"].statement
    sizes = at_size(statement, 2)
    for assignment, forced in instances(statement, sizes):
        given = [e for h in statement.hypotheses for e in to_sympy(h, sizes, assignment).args]
        unknown = [s for s in sympy.And(*given).free_symbols if s.name.startswith("A_")]
        assert sympy.simplify(sympy.solve(given, unknown)[forced.lhs] - forced.rhs) == 0


def test_most_of_the_catalogue_is_stated_in_sympy():
    """Left out are limits, random variables, what holds for all reals, and what is too large when it is written out."""
    rest = [c for c in all_claims() if c.name not in EQUATIONS and c.name not in INEQUALITIES]
    large = [c for c in rest if c.statement.conclusion.op == "relation" and not is_small(c.statement, 2)]
    real = [c for c in rest if any(map(speaks_of_all_reals, c.statement.hypotheses)) or not listable(c.statement)]
    assert all(c.statement.conclusion.op == "tends" or c in large or c in real for c in rest)
    assert len(large) < len(all_claims()) / 6
    assert len(EQUATIONS) > 250
    assert len(INEQUALITIES) > 60

"""SymPy as a third witness: the theorems as SymPy instances, its own `diff` beside our derivatives, and there and back again."""

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random

import pytest
import sympy
from sympy import Rational

import proofs
from proofs.binders import as_function, substitute
from proofs.evaluate import Point, compare, evaluate
from proofs.kernel import Statement
from proofs.notation import (
    PI, absolute, cos, curve, delta, derivative, eq, erf, exp, family, forall, function, i, implies, index, j, join, l, le, log, n, ne,
    number, permutation, rational, sin, size, split, sqrt, sum_, t, table, tanh, tends, value_of, variable, when, z, INFINITY, choice, ANY_REAL,
)  # fmt: skip
from proofs.registry import all_claims
from proofs.rules.context import Context
from proofs.rules.derivative import differentiated
from proofs.rules.normal import Normal
from proofs.sympy_form import SympyFormError, from_sympy, instances, to_sympy
from proofs.terms import Family, Term, free

EQUATIONS = {c.name: c for c in all_claims() if c.statement.conclusion.data == "eq"}
DIGITS = 30


# --- an equation at a random rational point ---------------------------------------------------------------------------


def drawn(symbol, seed) -> Rational:
    """A rational for a symbol, the same for one name and seed."""
    rng = Random(f"{symbol.name} {seed}")
    if symbol.is_integer:
        return sympy.Integer(rng.randint(-5, 5))
    return Rational(rng.randint(1 if symbol.is_nonnegative else -200, 200), 100)


def value(expression, seed):
    """Derivatives taken by SymPy, every curve a sine of its own, every symbol a rational: a number of 40 digits."""
    known = expression.replace(
        lambda e: isinstance(e, sympy.core.function.AppliedUndef),
        lambda f: drawn(f.func, seed) * sympy.sin(f.args[-1] + drawn(f.func, -1 - seed)),
    )
    done = known.doit()
    return done.xreplace({s: drawn(s, seed) for s in done.free_symbols}).evalf(DIGITS + 10)


def holds(equation, seed) -> bool:
    left, right = value(equation.lhs, seed), value(equation.rhs, seed)
    assert left.is_number and right.is_number, (left, right)
    return abs(left - right) <= Rational(1, 10**DIGITS) * (1 + abs(left))


def at(statement, values) -> Statement:
    """The statement with symbols replaced by a witness, or by the values at which a near miss is false."""
    chosen = {s: as_function(v) if isinstance(s, Family) else v for s, v in values.items() if s in statement.symbols()}
    return Statement(substitute(statement.conclusion, chosen), tuple(substitute(h, chosen) for h in statement.hypotheses))


def at_sizes(statement, count) -> Iterator:
    sizes = {s: max(count, s.data[1]) for s in statement.symbols() if isinstance(s, Term) and s.op == "size"}
    return instances(statement, sizes)


def witnessed(claim, statement=None, false_at=None) -> Statement:
    return at(statement or claim.statement, {**(claim.witness), **(false_at or {})})


@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_holds_at_one_instance(name):
    some = list(islice(at_sizes(witnessed(EQUATIONS[name]), 2), 6))
    assert holds(Random(name).choice(some)[1], seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_equation_holds_at_all_instances(name, count):
    found = list(at_sizes(witnessed(EQUATIONS[name]), count))
    assert found
    for assignment, equation in found:
        assert holds(equation, seed=1), assignment


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_near_miss_fails_at_some_instance(name):
    claim = EQUATIONS[name]
    for twin in claim._options["near_misses"]:
        statement = witnessed(claim, twin.statement, twin.false_at)
        tried = (e for count in (2, 3) for _, e in islice(at_sizes(statement, count), 9))
        assert not all(holds(e, seed=0) for e in tried)


def true_at(proposition, seed) -> bool:
    symbols = proposition.free_symbols
    return bool(proposition.xreplace({s: drawn(s, seed) for s in symbols}).doit())


@pytest.mark.slow
@pytest.mark.parametrize("name", INEQUALITIES)
def test_an_inequality_holds_where_its_hypotheses_do(name):
    statement = witnessed(INEQUALITIES[name])
    met = 0
    for assignment, relation in at_sizes(statement, 2):
        sizes = {s: 2 for s in statement.symbols() if isinstance(s, Term) and s.op == "size"}
        given = [to_sympy(h, sizes, assignment) for h in statement.hypotheses]
        for seed in range(12):
            if all(true_at(h, seed) for h in given):
                met += 1
                assert true_at(relation.doit(), seed), (assignment, seed)
    assert met


def test_sympy_solves_the_hypotheses_of_block_is_forced():
    """The four linear equations that the hypotheses are have one solution, the rotation."""
    statement = EQUATIONS["positional_encoding.block_is_forced"].statement
    (known,) = {frozenset(to_sympy(h, {}, {"a": 0, "b": 0} if False else None).args) for h in ()} or {None}

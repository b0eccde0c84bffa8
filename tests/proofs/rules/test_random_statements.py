"""Every rule on random statements: true ones are accepted, false ones, one edit away, are refused with what is left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, islice
from random import Random
from typing import Any

import pytest

from proofs.notation import eq
from proofs.rules import LIMIT_RULES, RULES
from proofs.rules.context import Refused
from proofs.terms import ZERO, Term

from .algebra import DEFINITIONS, angles, definition, exp_log, field, given, ring
from .analysis import differentiation, limit, order, squeeze
from .earlier import substitution
from .edits import edited, is_true
from .finite import cases, congruence, finite_sum
from .inductive import induction
from .probability import mean
from .vocabulary import Case, Pairs

Generator = Callable[[Random, int], Case]
MANY, FEW = 80, 56  # statements of a rule, true and false each; fewer where a check is slow


def _equation(pairs: Pairs, rule: str, **arguments: Any) -> Generator:
    return lambda rng, depth: Case(eq(*pairs(rng, depth)), rule, arguments)


GENERATORS: dict[str, tuple[Generator, int]] = {
    "definition": (_equation(definition, "definition", of=DEFINITIONS), MANY),
    "ring": (_equation(ring, "ring"), MANY),
    "field": (_equation(field, "field"), MANY),
    "angles": (_equation(angles, "angles"), MANY),
    "exp_log": (_equation(exp_log, "exp_log"), MANY),
    "finite_sum": (_equation(finite_sum, "finite_sum"), MANY),
    "expectation": (_equation(mean, "expectation"), MANY),
    "given": (given, MANY),
    "induction": (induction, MANY),
    "cases": (cases, MANY),
    "congruence": (congruence, MANY),
    "derivative": (differentiation, FEW),
    "order": (order, FEW),
    "limit": (limit, FEW),
    "squeeze": (squeeze, FEW),
    "earlier theorem": (substitution, FEW),
}


def _stream(rule: str) -> Iterator[Case]:
    rng = Random(rule)
    while True:
        case = GENERATORS[rule][0](rng, 2)
        if case.conclusion.args[0] != case.conclusion.args[-1]:
            yield case


@cache
def true_ones(rule: str) -> tuple[Case, ...]:
    stream = _stream(rule)
    return tuple(next(stream) for _ in range(GENERATORS[rule][1]))


@cache
def false_ones(rule: str) -> tuple[tuple[str, Case], ...]:
    """One edit of each true statement, and another one where an edit left it true."""
    rng, count = Random(rule), GENERATORS[rule][1]
    twins = (edited(case, rng) for case in cycle(true_ones(rule)))
    return tuple(islice((twin for twin in twins if twin is not None), count))


@pytest.mark.parametrize("rule", GENERATORS)
def test_true_statements_are_accepted(rule: str) -> None:
    for case in true_ones(rule):
        assert is_true(case, 1), f"the generator is wrong: {case}"
        (step,) = case.checked()
        assert step.after == case.conclusion.args[-1]


def _refusal(case: Case) -> Refused | None:
    """What the rule says against it, None where it accepts it; an error comes through."""
    try:
        case.checked()
    except Refused as refusal:
        return refusal
    return None


@pytest.mark.parametrize("rule", GENERATORS)
def test_false_statements_are_refused_with_a_residue(rule: str) -> None:
    for kind, case in false_ones(rule):
        refusal = _refusal(case)
        assert refusal is not None, f"accepted after an edit of the {kind}: {case}"
        assert isinstance(refusal.residue, Term) and (refusal.residue != ZERO or "vanish" in refusal.message), refusal


def test_the_numbers_that_are_promised() -> None:
    counts = [count for _, count in GENERATORS.values()]
    assert min(counts) >= 50 and sum(counts) >= 1000
    assert set(GENERATORS) == {*RULES, *LIMIT_RULES, "earlier theorem"}


def test_every_kind_of_edit_is_met() -> None:
    kinds = Counter(kind for rule in GENERATORS for kind, _ in false_ones(rule))
    assert set(kinds) == {"sign", "factor", "index", "transpose", "range", "bound name", "independence"}
    assert min(kinds.values()) >= 5, kinds

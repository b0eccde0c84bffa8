"""Every link of every theorem alone: its rule accepts what the proof says, and refuses it once what follows is changed.

A link is checked as a proof of its own, of `before relation after` under the theorem's hypotheses, so that no other link can
be the one that refuses. A change counts only if it is numerically false at a point that meets the hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from proofs.binders import close, forall, substitute
from proofs.kernel import Link, Script, Step
from proofs.registry import Claim, all_claims
from proofs.rules.context import Refused
from proofs.terms import (
    INFINITY,
    ONE,
    Family,
    IndexMap,
    Term,
    family,
    free,
    is_outcome,
    outcome,
    relation,
    sort_of,
    variable,
)

from .rules.edits import edits_at, is_statement, is_true, places, put
from .rules.vocabulary import Case


def alone(claim: Claim, step: Step, link: Link, after: Term) -> Case:
    """The statement that one link proves, with another right side."""
    conclusion, hypotheses = claim.statement
    if step.relation == "tends":
        said = conclusion.rebuilt((close(step.before, (variable(conclusion.hints[0]),)), conclusion.args[1], after))
    else:
        said = relation(step.relation, step.before, after)
    case = Case(said, link.reason, link.arguments, hypotheses, link.using, claim.witness)
    if conclusion.op == "tends" and step.relation != "tends":
        case = _near_the_target(conclusion, case)
    missing = claim.statement.symbols().difference(free(case.conclusion.args[0]), *map(free, hypotheses))
    return case._replace(hypotheses=(*case.hypotheses, *map(_mentioned, sorted(missing, key=repr))))


def _near_the_target(conclusion: Term, case: Case) -> Case:
    """An equation before a limit holds near the target: for large values, or for other values than the target's own."""
    name, target = conclusion.hints[0], conclusion.args[1]
    near = variable(name, "positive" if target == INFINITY else "real")
    here = {variable(name): near}
    case = case._replace(
        conclusion=substitute(case.conclusion, here),
        arguments=_replaced(case.arguments, here),
        using=tuple(_replaced(u, here) for u in case.using),
    )
    return case if target == INFINITY else case._replace(hypotheses=(*case.hypotheses, relation("ne", near, target)))


def _replaced(value: Any, here: Mapping[Term, Term]) -> Any:
    if isinstance(value, Term):
        return substitute(value, here)
    if isinstance(value, Mapping):
        return {k: _replaced(v, here) for k, v in value.items()}
    return tuple(_replaced(v, here) for v in value) if type(value) is tuple else value


def _mentioned(symbol: Any) -> Term:
    """A hypothesis that says nothing, about a symbol that a link may speak of although its two sides do not."""
    if isinstance(symbol, Term) and symbol.op == "space":
        return forall(outcome("at", symbol), relation("eq", ONE, ONE))
    if isinstance(symbol, Term) and is_outcome(sort_of(symbol)):
        symbol, bound = family("at", sort_of(symbol)), (symbol,)
        return relation("eq", symbol[bound], symbol[bound])
    if not isinstance(symbol, Family | IndexMap):
        return relation("eq", symbol, symbol)
    bound = tuple(_bound(f"at{k}", slot) for k, slot in enumerate(symbol.slots))
    entry = Term("family" if isinstance(symbol, Family) else "map", bound, symbol)
    return forall(bound, relation("eq", entry, entry))


def _bound(name: str, slot: Term) -> Term:
    return variable(name) if slot.op == "domain" else Term("index", (slot,), name)


def changes(case: Case, rng: Random) -> Iterator[Case]:
    """The same statement with another right side: edits of some part first, then ones that are surely false."""
    right = case.conclusion.args[-1]
    path = (len(case.conclusion.args) - 1,)
    parts = [(p, t, ranges) for p, t, ranges in places(right) if sort_of(t) is not None]
    rng.shuffle(parts)
    for way, part, ranges in parts[:4]:
        for _, terms in sorted(edits_at(part, ranges).items()):
            yield case._replace(conclusion=put(case.conclusion, path, put(right, way, rng.choice(terms))))
    left = case.conclusion.args[0]
    for new in (
        2 * right,
        -right,
        right + 1,
        right - 1,
        *(() if case.conclusion.op == "tends" else (left - ONE, left + 0)),
    ):
        yield case._replace(conclusion=put(case.conclusion, path, new))


def is_refused(case: Case) -> bool:
    """Whether its rule refuses it, with something left over; an error is none."""
    try:
        case.checked()
    except Refused as refusal:
        return isinstance(refusal.residue, Term)
    return False


CLAIMS = all_claims()


@pytest.mark.cases(24)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.name)
def test_every_changed_link_is_refused(claim: Claim) -> None:
    refuse_changes(claim, 1)


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=[c.name for c in CLAIMS])
def test_every_link_refuses_many_changes(claim: Claim) -> None:
    refuse_changes(claim, 5)


def refuse_changes(claim: Claim, most: int) -> None:
    script = Script()
    claim.write(script)
    steps = claim.theorem.steps
    assert len(steps) == len(script.links)
    for k, (step, link) in enumerate(zip(steps, script.links, strict=True)):
        case = alone(claim, step, link, step.after)
        if most > 1 and step.before != step.after and case.conclusion not in case.hypotheses:
            case.checked()  # the whole proof was accepted; this is for the way the link is checked here
        rng, tried = Random(f"{claim.name} {k}"), 0
        for changed in changes(case, rng):
            if tried < most and is_statement(changed) and not is_true(changed, 2):
                tried += 1
                assert is_refused(changed), f"link {k} of {claim.name} also gives {changed.conclusion!r}"
        assert tried >= 1, f"no change of link {k} is known to be false"

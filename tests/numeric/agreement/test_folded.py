"""The named statements of the embedding are those of the theorems, term by term."""

import pytest

from numeric.agreement.folded import logits, lookup, scaled_lookup, statement_of
from proofs.definitions import unfolded
from proofs.registry import all_claims
from proofs.terms import Term

NAMES = {lookup, scaled_lookup, logits}
CLAIMS = [claim for claim in all_claims() if claim.family == "embedding"]


def written_out(term):
    """The term without the names; a product inside a product is one product."""
    if term.op == "apply" and term.data in NAMES:
        return written_out(unfolded(term))
    args = tuple(map(written_out, term.args))
    if term.op == "mul":
        args = tuple(factor for each in args for factor in (each.args if each.op == "mul" else (each,)))
    return term if args == term.args else Term(term.op, args, term.data, term.hints)


def uses(term):
    return (term.data in NAMES if term.op == "apply" else False) or any(map(uses, term.args))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_unfolded_they_are_what_the_theorem_states(claim):
    named = statement_of(claim)
    assert uses(named.conclusion)
    assert not uses(claim.statement.conclusion)
    assert written_out(named.conclusion) == written_out(claim.statement.conclusion) == claim.statement.conclusion
    assert named.hypotheses == claim.statement.hypotheses


def test_other_theorems_stay():
    assert all(statement_of(claim) == claim.statement for claim in all_claims() if claim not in CLAIMS)

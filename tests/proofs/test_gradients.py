"""Every gradient theorem beside a derivative that mpmath takes by itself, of the left side as a plain function of a number."""

import pytest

from proofs.evaluate import evaluate, mp
from proofs.registry import all_claims
from proofs.sampler import Sampler
from proofs.terms import Term, kinds

DIGITS = 20
POINTS = 2


def has_derivative(term: Term) -> bool:
    """Whether a term speaks of a derivative, by itself or through a definition."""
    inside = term.op == "apply" and has_derivative(term.data.body)
    return term.op == "derivative" or inside or any(map(has_derivative, term.args))


GRADIENTS = [
    c for c in all_claims() if c.statement.conclusion.data == "eq" and has_derivative(c.statement.conclusion.args[0])
]
DIRECT = [c for c in GRADIENTS if c.statement.conclusion.args[0].op == "derivative"]


def test_there_are_many_and_the_catalogue_s_are_among_them():
    names = {c.name.rpartition(".")[2] for c in GRADIENTS}
    assert len(GRADIENTS) >= 100
    assert len(DIRECT) >= 70
    assert names >= {
        "gradient_of_values", "gradient_of_weights", "gradient_of_scores", "gradient_of_queries", "gradient_of_keys",
        "self_attention_input_gradient", "jacobian", "vjp", "gain_gradient", "gradient_of_first_weights", "row_gradient",
        "cross_entropy_hessian", "second_derivative", "gradient_scatters_and_adds", "gelu_derivative", "residual_jacobian",
    }  # fmt: skip


@pytest.mark.parametrize("claim", GRADIENTS, ids=lambda c: c.name)
def test_two_different_near_misses(claim):
    assert len({(twin.statement.conclusion, twin.statement.hypotheses) for twin in claim.twins}) >= 2


@pytest.mark.parametrize("claim", DIRECT, ids=lambda c: c.name)
def test_the_derivative_is_the_one_that_mpmath_takes(claim):
    left, right = claim.statement.conclusion.args
    sampler = Sampler(claim.statement, claim.witness)
    for seed in range(100, 100 + POINTS):
        point = sampler.point(seed)
        found, stated = taken(left, point), evaluate(point.moved(right), point)
        assert abs(found - stated) <= mp.mpf(10) ** -DIGITS * (1 + abs(found) + abs(stated)), (found, stated)


def taken(derivative: Term, point):
    """The derivative, by mpmath, of the body as a plain function of a number."""
    body, at = map(point.moved, derivative.args)
    return mp.diff(lambda x: evaluate(body, point, (x,)), evaluate(at, point), h=mp.mpf(10) ** -25)


@pytest.mark.parametrize("claim", GRADIENTS[:: len(GRADIENTS) // 12], ids=lambda c: c.name)
def test_a_wrong_gradient_would_be_seen(claim):
    """The same comparison tells every near miss from the theorem, at some point."""
    for twin in claim.twins:
        sampler = Sampler(twin.statement, {**claim.witness, **twin.false_at})
        wrong = 0
        for seed in range(12):
            point = sampler.point(seed)
            left, right = (evaluate(point.moved(side), point) for side in twin.statement.conclusion.args)
            wrong += abs(left - right) > mp.mpf(10) ** -DIGITS * (1 + abs(left) + abs(right))
        assert wrong


def test_kinds_are_those_of_the_term_and_not_of_its_definitions():
    jacobian = next(c for c in GRADIENTS if c.name == "softmax_jacobian.jacobian")
    assert "derivative" not in kinds(jacobian.statement.conclusion.args[0])

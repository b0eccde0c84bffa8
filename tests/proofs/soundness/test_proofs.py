"""Proofs that do not prove: empty, wrong, short, or without a proper near miss."""

from __future__ import annotations

import pytest

from proofs.binders import function, sum_
from proofs.kernel import ProofError, Script, Statement, check, prove
from proofs.notation import (
    eq,
    exp,
    family,
    index,
    lt,
)  # fmt: skip
from proofs.rules.context import Refused
from proofs.terms import Term, TermError, number

from .attempts import A, a, attempt, b, i, j, k, l, m, n, proved, refuse, softmax, x, z


def test_an_empty_proof() -> None:
    with pytest.raises(ProofError, match="the proof is empty"):
        check(Statement(eq(a + b, b + a)), ())


def test_a_wrong_step() -> None:
    script = Script()
    script.equals(a**2 + b**2, "ring")
    script.closes("ring")
    with pytest.raises(Refused, match="what is left over") as refusal:
        check(Statement(eq((a + b) ** 2, a**2 + 2 * a * b + b**2)), tuple(script.links))
    assert refusal.value.residue == number(2) * a * b


def test_a_chain_that_stops_short() -> None:
    script = Script()
    script.equals(a * (a + 2 * b) + b**2, "ring")
    with pytest.raises(Refused, match="the chain stops short of the right side"):
        check(Statement(eq((a + b) ** 2, a**2 + 2 * a * b + b**2)), tuple(script.links))


def test_an_illegal_instance() -> None:
    theorem = proved(eq(sum_(i, softmax(z, i)), 1), eq(sum_(i, softmax(z, i)), n), _sums_to_one)
    with pytest.raises(TermError, match=r"z := .*needed slots"):
        attempt(eq(sum_(i, softmax(x, i)), m / m), theorem, at={z: function(index("p", m), 1)})
    with pytest.raises(TermError, match="here does not speak of 'x'"):
        attempt(eq(sum_(i, softmax(x, i)), 1), theorem, at={x: z})


def _sums_to_one(p: Script) -> None:
    p.equals(sum_(i, exp(z[i]) / sum_(l, exp(z[l]))), "definition", of=softmax)
    p.closes("finite_sum")


@pytest.mark.parametrize(
    ("twin", "match"),
    [
        (Statement(eq(2 * (a + b), 2 * b + 2 * a)), "a near miss is not false|not false at any sampled point"),
        (Statement(eq(2 * (a + b), 2 * a + 2 * b)), "a near miss is the statement itself"),
        (Statement(eq(2 * (a + b), Term("family", (index("p", m),), x))), "the near miss is no statement"),
        (Statement(eq(2 * (a + b), 2 * a / b)), "the near miss is no statement: a denominator may vanish"),
    ],
    ids=["true", "equal", "ill-typed", "undefined"],
)
def test_a_near_miss_that_is_none(twin: Statement, match: str) -> None:
    with pytest.raises(ProofError, match=match):
        prove("here", Statement(eq(2 * (a + b), 2 * a + 2 * b)), lambda p: p.closes("ring"), near_misses=[twin])


def test_a_proof_without_a_near_miss() -> None:
    with pytest.raises(ProofError, match="here has no near miss"):
        prove("here", Statement(eq(a + b, b + a)), lambda p: p.closes("ring"), near_misses=[])


def test_a_near_miss_that_is_stopped_by_an_error_only() -> None:
    with pytest.raises(ProofError, match="an error is no refusal of the near miss"):
        proved(eq(a + b, b + a), lt(a + b, b + a), lambda p: p.closes("ring"))


@pytest.mark.parametrize("count", [1, 2])
def test_smallest_sizes(count: int) -> None:
    """What holds for every n holds for one place and for two; what fails there is refused."""
    whole = number(count)
    f, y = index("f", whole), family("y", whole)
    attempt(eq(sum_(f, y[f]), y[0] if count == 1 else y[0] + y[1]), "finite_sum")
    refuse(eq(sum_(f, y[f]), 2 * y[0]), "finite_sum")


def test_a_product_of_sums_is_no_sum_of_products() -> None:
    refuse(eq(sum_(i, sum_(j, x[i] * z[j])), sum_(i, x[i] * z[i])), "finite_sum")
    refuse(eq(sum_(i, x[i]) ** 2, sum_(i, x[i] ** 2)), "finite_sum")
    refuse(eq(sum_(i, sum_(j, A[i, j] * A[j, k])), sum_(i, sum_(j, A[i, j] * A[k, j]))), "finite_sum")

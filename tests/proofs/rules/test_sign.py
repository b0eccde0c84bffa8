"""Signs: what is known, and what must not be; every answer is checked at random points."""

from __future__ import annotations

from random import Random

import pytest

from proofs.binders import forall, sum_
from proofs.definitions import Definition
from proofs.evaluate import NoSample, evaluate
from proofs.kernel import Statement
from proofs.notation import absolute, cos, delta, eq, exp, implies, index, le, lt, maximum, ne, size, sqrt, tanh, when
from proofs.rules.context import Context
from proofs.rules.sign import Sign
from proofs.sampler import Sampler
from proofs.terms import PI, Term, family, number, table, value_of, variable

from .algebra import ring
from .vocabulary import INDICES, A, a, b, c, d, n, positive, u, x

i, j, k = INDICES
none, e = size("none", 0), index("e", size("none", 0))
v = family("v", none, domain="positive")
r = variable("r", "nonnegative")
square = Definition("square", [a], a**2 + 1)


def sign(*given: Term) -> Sign:
    return Sign(Context(given))


POSITIVE = [
    number(2), PI, c, u[i], exp(a), n, c + d, c * d, c / d, 1 + a**2, sum_(i, u[i]), sqrt(c), absolute(c), maximum(a, c), c**a,
    square(a), r + c, exp(a) * r + 1, table([c, d], 0), when(lt(0, a), a, 1), n - n + 1, (a - b) ** 2 + c,
]  # fmt: skip
NONNEGATIVE = [
    number(0), a**2, r, delta(i, j), absolute(a), value_of(i), sum_(i, a**2), sum_(e, v[e]), n - 1, size("none", 0), a * a * r,
    a**2 - 2 * a * b + b**2, 1 + cos(a), 1 - tanh(a), 1 - delta(i, j), maximum(a, r), when(le(0, a), a, -a), -1 * -r, c - c,
]  # fmt: skip
UNKNOWN = [
    a, x[i], a - b, -c, a**3, a * b, cos(a), sum_(i, x[i]), maximum(a, b), a + c, n - 2, delta(i, j) - 1, when(lt(0, a), 1, b),
    a**2 - 3 * a * b + b**2, table([c, a], 0), exp(a) - 1, A[i, j] * A[j, i],
]  # fmt: skip


@pytest.mark.parametrize("term", POSITIVE, ids=repr)
def test_positive(term: Term) -> None:
    assert sign().positive(term) and sign().nonnegative(term) and sign().nonzero(term)


@pytest.mark.parametrize("term", NONNEGATIVE, ids=repr)
def test_nonnegative(term: Term) -> None:
    assert sign().nonnegative(term) and not sign().positive(term)


@pytest.mark.parametrize("term", UNKNOWN, ids=repr)
def test_unknown(term: Term) -> None:
    assert not sign().positive(term) and not sign().nonnegative(term)


@pytest.mark.parametrize(
    ("given", "said", "known"),
    [
        ((lt(a, b),), lt(0, b - a), True),
        ((lt(a, b),), lt(a, b + c), True),
        ((lt(a, b),), ne(a, b), True),
        ((le(a, b),), lt(a, b), False),
        ((le(a, b), ne(a, b)), lt(a, b), True),
        ((le(2 * a, 2 * b),), le(a, b), True),
        ((le(b, a),), le(a, b), False),
        ((eq(a, b),), le(a, b), True),
        ((eq(a, 2 * b),), eq(b, a / 2), True),
        ((ne(a, 0),), lt(0, a), False),
        ((ne(a, 0),), lt(0, a**2), True),
        ((ne(a, 0), ne(b, 0)), ne(a * b, 0), True),
        ((forall(i, lt(0, x[i])),), lt(0, x[j]), True),
        ((forall(i, lt(0, x[i])),), lt(0, sum_(j, x[j])), True),
        ((lt(0, x[i]),), lt(0, x[j]), False),
        ((lt(0, x[i]),), lt(0, sum_(i, x[i])), False),
        ((forall([i, j], le(A[i, j], A[j, i])),), le(A[k, j], A[j, k]), True),
        ((forall(i, implies(ne(i, j), lt(0, x[i]))),), lt(0, x[k]), False),
        ((forall(i, implies(ne(i, j), lt(0, x[i]))), ne(k, j)), lt(0, x[k]), True),
        ((le(absolute(a), c),), le(-c, a), True),
        ((le(absolute(a), c),), le(0, a), False),
        ((lt(1, a),), lt(0, a), True),
        ((lt(-1, a),), lt(0, a), False),
    ],
    ids=repr,
)
def test_what_is_given(given: tuple[Term, ...], said: Term, known: bool) -> None:
    assert sign(*given).holds(said) == known


def test_no_answer_is_ever_false() -> None:
    """Random terms under random facts: whatever is called positive is positive wherever the facts hold."""
    rng, said = Random(11), 0
    for seed in range(70):
        facts = tuple(rng.sample([lt(a, b), le(0, a), forall(i, le(0, x[i])), ne(b, 0), le(x[i], c)], 2))
        term, _ = ring(rng, 2)
        term = rng.choice(
            [term, term**2, term + positive(rng), term * positive(rng), sum_(i, term), absolute(term) - a]
        )
        for what, test in (
            ("positive", lambda value: value > 0),
            ("nonnegative", lambda value: value >= -1e-30),
            ("nonzero", bool),
        ):
            if getattr(sign(*facts), what)(term):
                said += 1
                assert all(test(value) for value in _values(term, facts, seed)), (what, term, facts)
    assert said > 25


def _values(term: Term, facts: tuple[Term, ...], seed: int) -> list[object]:
    try:
        sampler = Sampler(Statement(eq(term, 0), facts), {})
        return [evaluate(term, sampler.point(seed + k)) for k in range(3)]
    except NoSample:
        return []


def test_the_search_ends() -> None:
    assert not sign().nonzero(a + b)
    assert not sign(*(le(x[p], x[q]) for p in INDICES for q in INDICES)).positive(x[i] * x[j] - x[k])

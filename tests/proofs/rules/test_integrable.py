"""Which functions of an outcome have a mean: those that second moments bound, whatever the distribution is."""

from __future__ import annotations

from random import Random

import pytest

from proofs.binders import derivative, expectation, forall, function, sum_
from proofs.definitions import Definition
from proofs.evaluate import Point, evaluate, mp
from proofs.notation import (
    absolute,
    choice,
    cos,
    delta,
    eq,
    erf,
    exp,
    family,
    index,
    le,
    log,
    lt,
    maximum,
    outcome,
    permutation,
    rational,
    sin,
    size,
    space,
    sqrt,
    table,
    tanh,
    value_of,
    variable,
    when,
)
from proofs.rules.context import Context, Refused
from proofs.rules.defined import check_defined
from proofs.rules.integrable import degree
from proofs.sampler import PointWith
from proofs.terms import ANY_REAL, Term, number

n = size("n")
i, j = index("i", n), index("j", n)
U, W = space("U"), space("W")
u, v, w = outcome("u", U), outcome("v", U), outcome("w", W)
q, r, k, x = family("q", n, U), family("r", U), family("k", n, W), family("x", n)
s, both, moved, f = family("s", U, W), family("both", U, U), family("moved", U, ANY_REAL), family("f", ANY_REAL)
hi, pair, mu = choice("hi", U, target=n), choice("pair", U, W, target=n), choice("mu", ANY_REAL, target=n)
pi, a, b, c, t = permutation("pi", n), variable("a"), variable("b"), variable("c", "positive"), variable("t")
cube = Definition("cube", [a], a**3)
shifted = Definition("shifted", [a, b], a * exp(b) + cos(a))

DEGREES = {
    0: [
        a, exp(a), k[i, w], number(3), r[v], expectation(u, r[u]), tanh(r[u]), sin(r[u] ** 3), cos(q[i, u] * r[u] ** 4),
        erf(-q[i, u]), x[hi(u)], tanh(cube(r[u])), when(lt(r[u] ** 5, q[i, u]), 1, 0), x[pair(u, w)], r[u] ** 0, both[v, v],
    ],
    1: [
        r[u], q[i, u], q[pi(i), u], a * exp(b) * r[u], r[u] - 1, -q[i, u], maximum(q[i, u], r[u], 3), absolute(r[u]), s[u, w],
        both[u, v], both[v, u], both[u, u], sum_(i, q[i, u] * x[i]), r[u] * tanh(r[u] ** 7), q[hi(u), u], k[hi(u), w] * r[u],
        moved[u, a], when(le(r[u], a), r[u], q[i, u]), r[u] * r[v] ** 9, shifted(r[u], a), sum_(i, maximum(x[i], r[u])),
        expectation(w, s[u, w] * k[i, w]), expectation(v, both[u, v]),
    ],
    2: [
        r[u] ** 2, r[u] * q[i, u], (r[u] - expectation(v, r[v])) ** 2, sum_(i, q[i, u]) ** 2, absolute(r[u] * q[j, u]),
        expectation(w, s[u, w] ** 2), expectation(w, s[u, w] * k[i, w]) ** 2, maximum(r[u] ** 2, 1), both[u, v] * both[u, u],
        when(lt(0, r[u]), r[u], r[u] * q[i, u]), r[u] * maximum(r[u], q[i, u]), sum_([i, j], q[i, u] * q[j, u] * x[i]),
    ],
    3: [r[u] ** 3, r[u] * q[i, u] * q[j, u], cube(r[u]), r[u] * absolute(q[i, u]) ** 2, expectation(w, s[u, w] ** 2) * r[u]],
    4: [(r[u] ** 2) ** 2, r[u] ** 2 * expectation(v, both[u, v] ** 2), r[u] ** 2 * q[i, u] ** 2, (1 + r[u]) ** 4],
}  # fmt: skip
NO_MEAN = [
    exp(r[u]), log(1 + r[u] ** 2), sqrt(r[u] ** 2), 1 / (1 + r[u] ** 2), r[u] ** rational(1, 2), c ** r[u], r[u] ** r[u], r[u] ** -2,
    f[r[u]], x[mu(r[u])], moved[u, r[u]], derivative(t, t * r[u], 0), table([r[u], 1], 0), when(lt(exp(r[u]), 2), 1, 0),
    value_of(hi(u)), delta(hi(u), i), x[pi(hi(u))], x[mu(value_of(hi(u)))], tanh(exp(r[u])), maximum(1 / (r[u] ** 2 + 1), 0),
    moved[u, value_of(hi(u))], shifted(a, r[u]), sum_(i, exp(q[i, u])), expectation(w, exp(r[u]) * k[i, w]), when(eq(hi(u), i), 1, 0),
]  # fmt: skip


@pytest.mark.parametrize(("order", "term"), [(d, term) for d, terms in DEGREES.items() for term in terms], ids=repr)
def test_the_moment_that_bounds_a_term(order: int, term: Term) -> None:
    assert degree(term, u, Context()) == order


@pytest.mark.parametrize("term", NO_MEAN, ids=repr)
def test_what_is_not_known_to_have_a_mean(term: Term) -> None:
    with pytest.raises(Refused, match="not known to be integrable"):
        degree(term, u, Context())
    with pytest.raises(Refused, match="not known to be integrable"):
        check_defined(expectation(u, term), Context((lt(0, r[u]),)))


@pytest.mark.parametrize("order", DEGREES)
def test_two_moments_are_known_and_no_more(order: int) -> None:
    for term in DEGREES[order]:
        if order <= 2:
            check_defined(expectation(u, term), Context())
            check_defined(forall(i, lt(a, 1 + sum_(j, x[j] * expectation(u, term)))), Context())
        else:
            with pytest.raises(Refused, match=f"a moment of order {order} is not known to exist"):
                check_defined(eq(a, exp(expectation(u, term))), Context())


def test_every_outcome_has_moments_of_its_own() -> None:
    """The fourth power over two spaces is a product of squares; over one of them it is a fourth moment."""
    check_defined(expectation([u, w], r[u] ** 2 * k[i, w] ** 2 * s[u, w] ** 0), Context())
    check_defined(expectation([u, v], r[u] ** 2 * r[v] ** 2), Context())
    check_defined(expectation([u, v, w], s[u, w] * s[v, w] * both[u, v]), Context())
    for term in (r[u] * s[u, w] * k[i, w] * s[u, w], s[u, w] ** 2 * k[i, w], both[u, v] ** 2 * both[v, v]):
        for order in ([u, v, w], [w, v, u]):
            with pytest.raises(Refused, match="a moment of order"):
                check_defined(expectation(order, term), Context())


def test_a_moment_stays_unknown_inside_any_other_term() -> None:
    hidden = expectation(u, r[u] ** 4)
    for term in (
        0 * hidden,
        when(lt(a, b), hidden, 0),
        expectation(w, hidden * k[i, w]),
        sum_(i, x[i] * hidden),
        hidden - hidden,
    ):
        with pytest.raises(Refused, match="a moment of order 4"):
            check_defined(term, Context())


def test_no_term_outgrows_its_moment() -> None:
    """Random variables a million times as large make a term of degree d at most a million to the d times as large."""
    rng, seen = Random(5), 0
    for seed in range(220):
        term = _random(rng, 3)
        try:
            order = degree(term, u, Context())
        except Refused:
            continue
        seen += order > 0
        scale = {g: function([i, u] if g == q else [u], 10**6 * g[(i, u) if g == q else u]) for g in (q, r)}
        small, large = (abs(evaluate(PointWith(seed, chosen).moved(term), Point(seed))) for chosen in ({}, scale))
        assert large <= 1000 * (1 + small + 4**order) * mp.mpf(10) ** (6 * order), term
    assert seen > 50


def _random(rng: Random, depth: int) -> Term:
    if depth == 0:
        return rng.choice([r[u], q[i, u], q[j, u], q[hi(u), u], x[hi(u)], a, x[i], number(2)])
    one, other = _random(rng, depth - 1), _random(rng, rng.randrange(depth))
    return rng.choice(
        [one + other, one * other, -one, one**2, maximum(one, other), absolute(one), tanh(one), sin(one * other),
         when(lt(one, other), other, one), sum_(i, one * x[i]), exp(one), 1 / (1 + one**2), cube(one)]
    )  # fmt: skip

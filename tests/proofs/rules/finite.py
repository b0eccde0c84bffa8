"""True statements about finite sums, and about places: cases, and congruence under binders and conditions."""

from __future__ import annotations

from random import Random

from proofs.binders import sum_
from proofs.notation import absolute, delta, eq, exp, index, join, le, lt, maximum, ne, split, when
from proofs.terms import ANY_REAL, Term, family, literal, value_of

from .algebra import angles, exp_log, field, ring
from .vocabulary import (
    INDICES,
    OTHER_INDICES,
    A,
    Case,
    Pair,
    a,
    b,
    c,
    compound,
    leaf,
    m,
    n,
    pi,
    positive,
    turned,
    u,
    w,
    x,
    y,
)

three = index("l", 3)
one_more, both = index("f", n + 1), index("f1", n + m)  # ranges of two parts
R = family("R", ANY_REAL)
_T, _C = family("T", 3), family("C", n * m)
column = index("h", n * m)


def finite_sum(rng: Random, depth: int) -> Pair:
    if depth > 2:
        (s, s1), (t, t1) = finite_sum(rng, depth - 1), ring(rng, 1)
        more = [lambda: (s + t, t1 + s1), lambda: (s * t, t1 * s1), lambda: compound(rng, depth - 1, finite_sum)]
        return turned(rng, rng.choice(more)())
    (s, s1), (t, t1) = ring(rng, depth - 1), ring(rng, depth - 1)
    i, j, k = rng.sample(INDICES, 3)
    p = OTHER_INDICES[0]
    free_of_i = rng.choice([a, b, y[j], A[j, k], w[k, p], sum_(p, w[j, p])])
    major, minor = split(column, n)
    return turned(
        rng,
        rng.choice(
            [
                (sum_(i, s + t), sum_(i, t1) + sum_(i, s1)),
                (sum_(i, free_of_i * s), free_of_i * sum_(i, s1)),
                (sum_(i, free_of_i), n * free_of_i),
                (sum_(i, x[i]) * sum_(i, y[i]), sum_([i, j], y[i] * x[j])),
                (sum_(i, x[i]) ** 2, sum_([j, i], x[j] * x[i])),
                (sum_([i, p], w[i, p] * x[i]), sum_(p, sum_(i, x[i] * w[i, p]))),
                (sum_([i, j], A[i, j] * s), sum_([j, i], A[i, j] * s1)),
                (sum_([i, j, k], A[i, j] * A[j, k] * A[k, i]), sum_([i, j, k], A[k, i] * A[i, j] * A[j, k])),
                (sum_(i, delta(i, j) * x[i] * y[i]), y[j] * x[j]),
                (sum_([i, k], delta(i, k) * delta(k, j) * A[i, k]), A[j, j]),
                (delta(i, j) * A[i, k], delta(i, j) * A[j, k]),
                (sum_(i, delta(i, j)), 1 + 0 * s),
                (sum_(i, exp(x[pi(i)]) * y[pi(i)]), sum_(i, exp(x[i]) * y[i])),
                (sum_(i, delta(pi(k), i) * x[i]), x[pi(k)]),
                (sum_(column, x[minor] * _D[major]), sum_(i, x[i]) * sum_(p, _D[p])),
                (sum_(column, _C[column] * delta(column, join(p, j))), _C[join(p, j)]),
                (sum_(one_more, R[value_of(one_more)] * free_of_i), free_of_i * (sum_(i, R[value_of(i)]) + R[n])),
                (
                    sum_(both, exp(a * value_of(both))),
                    sum_(i, exp(a * value_of(i))) + sum_(p, exp(a * (n + value_of(p)))),
                ),
                (
                    sum_(both, value_of(both) ** 2 + a),
                    sum_(one_more, value_of(one_more) ** 2 + a) - n**2 + (m - 1) * a + _tail(p),
                ),
                (sum_(three, _T[three] * s), (_T[0] + _T[1] + _T[2]) * s1),
                (sum_(i, x[i] / c + s), sum_(j, x[j]) / c + sum_(i, s1)),
                (sum_(i, u[i] * x[i]) / sum_(j, u[j]), sum_(j, x[j] * u[j] / sum_(i, u[i]))),
            ]
        ),
    )


_D = family("D", m)


def _tail(p: Term) -> Term:
    """The squares of n, n + 1, .., n + m - 1."""
    return sum_(p, n**2 + 2 * n * value_of(p) + value_of(p) ** 2)


def cases(rng: Random, depth: int) -> Case:
    (s, s1), (t, t1) = ring(rng, depth - 1), ring(rng, depth - 1)
    i, j, k = rng.sample(INDICES, 3)
    conclusion, on, then = rng.choice(
        [
            (eq(when(eq(i, j), x[i] * s, t), when(eq(i, j), x[j] * s1, t1)), (i, j), "ring"),
            (eq((1 - delta(i, j)) * s + delta(i, j) * x[i], when(ne(i, j), s1, x[j])), (j, i), "ring"),
            (eq(delta(i, j) * A[i, k] + s, s1 + delta(j, i) * A[j, k]), (i, j), "ring"),
            (eq(absolute(a) * absolute(a) + s, a**2 + s1), le(0, a), "order"),
            (eq(absolute(x[i]) * c, absolute(c * x[i])), lt(x[i], 0), "order"),
            (le(x[i], absolute(x[i])), le(0, x[i]), "order"),
            (le(delta(i, j), 1), (i, j), "order"),
            (eq(_T[three] * _T[three] + s, _power_of_three() + s1), three, "ring"),
            (eq(value_of(three) ** 3 + 2 * value_of(three) + s, 3 * value_of(three) ** 2 + s1), three, "ring"),
        ]
    )
    turned_round = conclusion if conclusion.data == "le" else eq(*turned(rng, conclusion.args))  # type: ignore[arg-type]
    return Case(turned_round, "cases", {"on": on, "then": then})


def _power_of_three() -> Term:
    """The square of T at an index into a range of three, entry by entry."""
    total = sum(delta(three, literal(k, 3)) * _T[k] ** 2 for k in range(3))
    return total  # type: ignore[return-value]


def congruence(rng: Random, depth: int) -> Case:
    name, pairs = rng.choice([("ring", ring), ("field", field), ("angles", angles), ("exp_log", exp_log)])
    left, right = pairs(rng, 1)
    other, v = leaf(rng), positive(rng)
    i, j = rng.sample(INDICES, 2)
    place = rng.choice(
        [
            lambda t: sum_(i, exp(t) * x[i]),
            lambda t: sum_([i, j], A[i, j] * t),
            lambda t: absolute(t) / v,
            lambda t: maximum(t, other),
            lambda t: when(le(other, a), t, b),
            lambda t: other - exp(t) * sum_(j, y[j] * t),
        ]
    )
    guarded = (when(ne(i, j), x[i] * (1 - delta(i, j)), b), when(ne(i, j), x[i], b))
    bounded = (
        le(sum_(i, delta(i, j) * u[i]), sum_(i, u[i])),
        {"then": "cases", "on": (j, i), "inner": {"then": "order"}},
    )
    choice = rng.random()
    if choice < 0.1:
        return Case(eq(*turned(rng, guarded)), "congruence", {"then": "ring"})
    if choice < 0.15:
        return Case(bounded[0], "congruence", bounded[1])
    return Case(eq(place(left), place(right)), "congruence", {"then": name})

"""True statements about expectations: linear, of mass 1, exchanged with each other and with finite sums."""

from __future__ import annotations

from random import Random

from proofs.binders import expectation, sum_
from proofs.notation import absolute, choice, delta, family, le, maximum, outcome, space, tanh, when
from proofs.terms import Term

from .algebra import ring
from .vocabulary import INDICES, A, Pair, a, b, c, compound, leaf, n, pi, positive, turned, y

omega, theta = space("Omega"), space("Theta")
o, o1, s = outcome("o", omega), outcome("o1", omega), outcome("s", theta)  # all independent of each other
X, Y, H = family("X", n, omega), family("Y", omega), family("H", omega, theta)
Z, N, hi = family("Z", n, theta), family("N", theta, domain="positive"), choice("hi", omega, target=n)


def _query(rng: Random, j: Term, k: Term, w: Term = o) -> Term:
    """A random variable over Omega, of which the second moment is known to exist."""
    return rng.choice(
        [X[j, w], X[k, w], Y[w], X[hi(w), w], X[j, w] + Y[w], c * Y[w] - b, tanh(Y[w] ** 3), absolute(X[k, w])]
    )


def _key(rng: Random, j: Term, k: Term) -> Term:
    """The same over Theta."""
    return rng.choice([Z[j, s], Z[k, s], N[s], Z[j, s] - b * Z[k, s], 1 + N[s], maximum(Z[k, s], a)])


def mean(rng: Random, depth: int) -> Pair:
    if depth > 1 and rng.random() < 0.4:
        (p, p1), (q, q1) = mean(rng, depth - 1), ring(rng, 1)
        more = [lambda: (p + q, q1 + p1), lambda: (p * q, q1 * p1), lambda: compound(rng, depth, mean)]
        return turned(rng, rng.choice(more)())
    i, j, k = rng.sample(INDICES, 3)
    return turned(rng, rng.choice([_linear, _over_sums, _independent, _moments])(rng, i, j, k))


def _linear(rng: Random, i: Term, j: Term, k: Term) -> Pair:
    f, g, v, (t, t1) = _query(rng, j, k), _query(rng, i, k), positive(rng), ring(rng, 1)
    return rng.choice(
        [
            (expectation(o, f + g), expectation(o, g) + expectation(o, f)),
            (expectation(o, t * f * g), t1 * expectation(o, g * f)),
            (expectation(o, t + 0 * f), t1),
            (expectation(o, f * g + t), t1 + expectation(o, g * f)),
            (expectation(o, (t - f) / v), t1 / v - expectation(o, f) / v),
            (expectation(o, delta(i, j) * X[i, o] * f), delta(j, i) * expectation(o, X[j, o] * f)),
            (expectation(o, 2 * maximum(f, g) + t), t1 + expectation(o, maximum(f, g)) * 2),
            (
                expectation(o, when(le(f, g), f * b, g) - a * g),
                expectation(o, when(le(f, g), b * f, g)) - expectation(o, g) * a,
            ),
        ]
    )


def _over_sums(rng: Random, i: Term, j: Term, k: Term) -> Pair:
    f, free_of_i = _query(rng, j, k), rng.choice([a, y[j], A[j, k], c])
    return rng.choice(
        [
            (expectation(o, sum_(i, y[i] * X[i, o] * f)), sum_(i, expectation(o, X[i, o] * f) * y[i])),
            (expectation(o, sum_(i, X[pi(i), o] * f)), sum_(i, expectation(o, f * X[i, o]))),
            (sum_(i, expectation(o, free_of_i * f)), n * free_of_i * expectation(o, f)),
            (expectation(o, sum_(i, X[i, o]) ** 2), sum_([i, j], expectation(o, X[i, o] * X[j, o]))),
            (expectation(o, sum_(i, A[i, j] * X[i, o]) * f), sum_(i, expectation(o, X[i, o] * f) * A[i, j])),
            (sum_(i, expectation(o, delta(i, j) * X[i, o] * f)), expectation(o, X[j, o] * f)),
        ]
    )


def _independent(rng: Random, i: Term, j: Term, k: Term) -> Pair:
    """Products over two spaces, and over one space twice."""
    f, h, g = _query(rng, j, k), _query(rng, i, k), _key(rng, j, i)
    again = _query(Random(seed := rng.random()), j, k, o1), _query(Random(seed), j, k, o)
    score = sum_(i, X[i, o] * Z[i, s])
    return rng.choice(
        [
            (expectation([o, s], f * g), expectation(o, f) * expectation(s, g)),
            (expectation([o, s], f * h * g**2), expectation(s, g * g) * expectation(o, h * f)),
            (expectation([o, o1], f * again[0]), expectation(o, again[1]) * expectation(o, f)),
            (expectation(o, f) ** 2, expectation([o1, o], f * expectation(o, f) + 0 * Y[o1])),
            (expectation([o, s], H[o, s] * f * g), expectation(s, g * expectation(o, f * H[o, s]))),
            (expectation([s, o], score), sum_(j, expectation(s, Z[j, s]) * expectation(o, X[j, o]))),
            (
                expectation([o, s], score**2),
                sum_([j, k], expectation(s, Z[k, s] * Z[j, s]) * expectation(o, X[j, o] * X[k, o])),
            ),
        ]
    )


def _moments(rng: Random, i: Term, j: Term, k: Term) -> Pair:
    f, g, t = _query(rng, j, k), _query(rng, i, k), leaf(rng)
    of_f, of_g = expectation(o, f), expectation(o, g)
    return rng.choice(
        [
            (expectation(o, (f - of_f) ** 2), expectation(o, f**2) - of_f**2),
            (expectation(o, (f - of_f) * g), expectation(o, f * g) - of_g * of_f),
            (expectation(o, (f + g) ** 2), expectation(o, f * f) + 2 * expectation(o, g * f) + expectation(o, g**2)),
            (expectation(o, (f - t) ** 2), expectation(o, f**2) - 2 * t * of_f + t**2),
            (expectation([o, o1], (Y[o] - Y[o1]) ** 2), 2 * expectation(o, Y[o] ** 2) - 2 * expectation(o, Y[o]) ** 2),
            (expectation(o, of_f * g + t), of_g * of_f + t),
        ]
    )

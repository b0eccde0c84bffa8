"""True statements of algebra: ring, field, angles, exp and log, definitions, given equations."""

from __future__ import annotations

from random import Random

from proofs.binders import forall, function, sum_
from proofs.notation import Definition, cos, delta, eq, exp, family, log, ne, sin, variable
from proofs.terms import PI, Term, rational

from .vocabulary import INDICES, A, Case, Pair, a, b, c, compound, leaf, n, positive, turned, u, x, y


def ring(rng: Random, depth: int) -> Pair:
    if depth <= 0:
        t = leaf(rng)
        return t, t
    (s, s1), (t, t1), (r, r1) = (ring(rng, rng.randint(0, depth - 1)) for _ in range(3))
    return turned(
        rng,
        rng.choice(
            [
                lambda: (s + t, t1 + s1),
                lambda: (s * t, t1 * s1),
                lambda: (s * (t + r), s1 * t1 + s1 * r1),
                lambda: (s, s1 + r - r1),
                lambda: ((s + t) ** 2, s1**2 + 2 * s1 * t1 + t1**2),
                lambda: ((s - t) * (t + s), s1**2 - t1**2),
                lambda: (-(s - t), t1 - s1),
                lambda: (3 * s, s1 + 2 * s1),
                lambda: (s**3, s1 * s1**2),
                lambda: compound(rng, depth, ring),
            ]
        )(),
    )


def field(rng: Random, depth: int) -> Pair:
    (s, s1), (t, t1) = (ring(rng, rng.randint(0, depth - 1)) for _ in range(2))
    v, w = positive(rng), positive(rng)
    return turned(
        rng,
        rng.choice(
            [
                lambda: (s, s1 * v / v),
                lambda: ((s + t) / v, s1 / v + t1 / v),
                lambda: (s / v + t / w, (s1 * w + t1 * v) / (v * w)),
                lambda: (s / (v / w), s1 * w / v),
                lambda: (s / (1 + 1 / v), v * s1 / (v + 1)),
                lambda: (s / v**2, s1 * v**-1 * v**-1),
                lambda: (1 / (v + w) - 1 / v, -w / ((v + w) * v)),
                lambda: (s / (s**2 + v) * t, t1 * s1 / (v + s1 * s1)),
            ]
        )(),
    )


def _angle(rng: Random) -> Term:
    i = rng.choice(INDICES)
    return rng.choice([a, b, a * b, x[i], A[i, i] + a, a - b, 2 * a, rational(1, 2) * b, sum_(i, x[i])])


def angles(rng: Random, depth: int) -> Pair:
    s, t = _angle(rng), _angle(rng)
    if depth > 1:
        (p, p1), (q, q1) = angles(rng, depth - 1), ring(rng, 1)
        return turned(rng, rng.choice([(p + q, q1 + p1), (p * q, q1 * p1), (p - s * q, p1 - q1 * s)]))
    return turned(
        rng,
        rng.choice(
            [
                (sin(s + t), sin(s) * cos(t) + cos(s) * sin(t)),
                (cos(s + t), cos(s) * cos(t) - sin(s) * sin(t)),
                (sin(s - t), sin(s) * cos(t) - cos(s) * sin(t)),
                (cos(t - s), cos(s) * cos(t) + sin(s) * sin(t)),
                (sin(2 * s), 2 * sin(s) * cos(s)),
                (cos(2 * s), 2 * cos(s) ** 2 - 1),
                (cos(s) ** 2, 1 - sin(s) ** 2),
                (1 - cos(s), 2 * sin(s / 2) ** 2),
                (sin(s + PI), -sin(s)),
                (cos(PI / 2 - s), sin(s)),
                (sin(s) * cos(t), (sin(s + t) + sin(s - t)) / 2),
                (cos(3 * s), 4 * cos(s) ** 3 - 3 * cos(s)),
            ]
        ),
    )


def exp_log(rng: Random, depth: int) -> Pair:
    s, t, v = leaf(rng), leaf(rng), positive(rng)
    if depth > 1:
        (p, p1), (q, q1) = exp_log(rng, depth - 1), ring(rng, 1)
        return turned(rng, rng.choice([(p + q, q1 + p1), (p * q, q1 * p1), (p - s * q, p1 - q1 * s)]))
    return turned(
        rng,
        rng.choice(
            [
                (exp(s + t), exp(t) * exp(s)),
                (exp(s - t), exp(s) / exp(t)),
                (exp(2 * s), exp(s) ** 2),
                (exp(-s), 1 / exp(s)),
                (exp(s / 2) * exp(s / 2), exp(s)),
                (log(c * exp(s)), log(c) + s),
                (log(c / u[INDICES[0]]), log(c) - log(u[INDICES[0]])),
                (exp(log(v)), v),
                (exp(2 * log(v) - s), v**2 / exp(s)),
                (exp(s * log(c)), c**s),
                (c ** (s + t), c**s * c**t),
                (log(c**3), 3 * log(c)),
                (log(6 * c), log(2) + log(3) + log(c)),
                (exp(s) / (exp(s) + exp(t)), 1 / (1 + exp(t - s))),
            ]
        ),
    )


_i, _j, _k = INDICES
_square = Definition("square", [a], a**2 + 1)
_share = Definition("share", [u, _i], u[_i] / sum_(_k, u[_k]))
_bend = Definition("bend", [x, a, _j], sum_(_i, _square(x[_i] * a) * x[_j]))
_scaled = Definition("scaled", [x, a], sum_(_i, x[_i] * exp(a)))
_gram = Definition("gram", [A, _i, _j], sum_(_k, A[_i, _k] * A[_j, _k]) - delta(_i, _j))
DEFINITIONS = (_square, _share, _bend, _scaled, _gram)


def definition(rng: Random, depth: int) -> Pair:
    (s, s1), (t, t1) = ring(rng, depth - 1), ring(rng, depth - 1)
    i, j, k = rng.sample(INDICES, 3)
    entry = rng.choice([lambda h: x[h], lambda h: x[h] * b, lambda h: y[h] - a * x[h]])
    folded = rng.choice(
        [
            (_square(s), s1**2 + 1),
            (_share(u, i), u[i] / sum_(k, u[k])),
            (_share(function(i, exp(y[i])), j), exp(y[j]) / sum_(k, exp(y[k]))),
            (_bend(function(i, entry(i)), c, j), sum_(i, _square(entry(i) * c) * entry(j))),
            (sum_(k, _scaled(x, y[k] * b)), sum_(j, sum_(i, x[i] * exp(y[j] * b)))),
            (_bend(x, c, j), sum_(i, ((x[i] * c) ** 2 + 1) * x[j])),
            (_gram(function((i, j), A[j, i]), k, j), sum_(i, A[i, k] * A[i, j]) - delta(k, j)),
        ]
    )
    return turned(
        rng, rng.choice([folded, (folded[0] + t, t1 + folded[1]), (sum_(i, folded[0] * t), sum_(i, t1 * folded[1]))])
    )


_e, _v, _B = variable("e"), family("v", n), family("B", n, n)


def given(rng: Random, depth: int) -> Case:
    (s, s1), (t, t1) = ring(rng, depth), ring(rng, 1)
    i, j, k = rng.sample(INDICES, 3)
    guard, factor = ne(i, j), rng.choice([1, 2, -3])
    entry = rng.choice([lambda h: c * u[h], lambda h: x[h] * y[h] - a, lambda h: A[h, h]])
    fact, witness, (left, right) = rng.choice(
        [
            (eq(_e, s), {_e: s}, (_e, s1)),
            (eq(_e * c, s), {_e: s / c}, (s, _e * c)),
            (forall(i, eq(_v[i], entry(i))), {_v: function(i, entry(i))}, (_v[j], entry(j))),
            (
                forall([i, j], eq(_B[i, j], entry(i) * b)),
                {_B: function((i, j), entry(i) * b)},
                (_B[k, i], entry(k) * b),
            ),
            (forall(k, eq(_v[k], entry(i)), where=[ne(i, k)]), {_v: function(k, entry(i))}, (_v[j], entry(i))),
        ]
    )
    conclusion = eq(*turned(rng, (factor * left + t, t1 + factor * right)))
    return Case(conclusion, "given", hypotheses=(guard, fact), witness=witness)

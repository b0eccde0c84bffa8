"""True statements of analysis: derivatives by a textbook of its own, inequalities, limits, squeezes."""

from __future__ import annotations

from random import Random

from proofs.binders import derivative, forall, substitute, sum_, tends
from proofs.notation import (
    absolute,
    cos,
    delta,
    eq,
    erf,
    exp,
    le,
    log,
    lt,
    maximum,
    ne,
    number,
    sin,
    sqrt,
    tanh,
    variable,
    when,
)
from proofs.terms import INFINITY, PI, Term, free

from .vocabulary import INDICES, A, Case, Pair, a, b, c, d, g, leaf, n, positive, turned, u, x, y

t, beta = variable("t"), variable("beta")


def _moving(rng: Random, depth: int) -> Pair:
    """A function of t and its derivative, from the table of a first course."""
    i, j = rng.sample(INDICES, 2)
    if depth <= 0:
        return rng.choice(
            [
                (t, number(1)),
                (x[i] + t * delta(i, j), delta(i, j)),
                (a * t, a),
                (leaf(rng), number(0)),
                (g[i, t], g.derivative[i, t]),
            ]
        )
    (f, df), (h, dh) = _moving(rng, depth - 1), _moving(rng, depth - 1)
    v = positive(rng)
    square, d_square = v + f**2, 2 * f * df
    return rng.choice(
        [
            (f + h, df + dh),
            (f * h, df * h + f * dh),
            (f / square, (df * square - f * d_square) / square**2),
            (f**3, 3 * f**2 * df),
            (exp(f), exp(f) * df),
            (sin(f), cos(f) * df),
            (cos(f), -sin(f) * df),
            (tanh(f), (1 - tanh(f) ** 2) * df),
            (erf(f), 2 / sqrt(PI) * exp(-(f**2)) * df),
            (log(square), d_square / square),
            (sqrt(square), d_square / (2 * sqrt(square))),
            (1 / square, -d_square / square**2),
            (c**f, c**f * log(c) * df),
            (sum_(i, f * y[i]), sum_(i, y[i] * df)),
            (sum_(i, exp(g[i, t]) * A[i, j]), sum_(i, A[i, j] * g.derivative[i, t] * exp(g[i, t]))),
        ]
    )


def _branching(rng: Random) -> Pair:
    """A maximum or a condition whose sides differ, by their shape, at every positive t; and its derivative."""
    i, j = rng.sample(INDICES, 2)
    f, df = next(pair for _ in range(99) if t in free((pair := _moving(rng, 0))[0]))
    (h, dh), (e, de) = _moving(rng, 0), _moving(rng, 0)
    v, s = positive(rng), leaf(rng)
    below, strictly = rng.choice([(f, f + v), (t, 2 * t), (f, f + v * t), (-v, t), (f - t**2, f)]), lt(s, a)
    small, large = below if rng.random() < 0.5 else below[::-1]
    condition = rng.choice([le, lt, eq, ne])(small, large)
    static = rng.choice([ne(i, j), eq(i, j), strictly])
    return rng.choice(
        [
            (when(condition, f * h, e**2), when(condition, df * h + f * dh, 2 * e * de)),
            (when(static, f**2, h), when(static, 2 * f * df, dh)),
            (maximum(f, f + v) * h, when(lt(f, f + v), df, df) * h + maximum(f, f + v) * dh),
            (maximum(3 * t, t), when(lt(3 * t, t), 1, 3)),
            (maximum(-v, t) ** 2, 2 * maximum(-v, t) * when(lt(-v, t), 1, 0)),
            (sum_(i, maximum(t, -u[i]) * y[i]), sum_(i, y[i] * when(lt(t, -u[i]), 0, 1))),
            (exp(maximum(t, 0)), exp(maximum(t, 0)) * when(lt(t, 0), 0, 1)),
        ]
    )


def differentiation(rng: Random, depth: int) -> Case:
    if rng.random() < 0.3:
        f, df = _branching(rng)
        at = rng.choice([number(1), c, 1 + a**2, u[rng.choice(INDICES)]])
    else:
        f, df = _moving(rng, depth)
        at = rng.choice([number(0), number(1), a, leaf(rng), c])
    return Case(eq(derivative(t, f, at), substitute(df, {t: at})), "derivative")


def order(rng: Random, depth: int) -> Case:
    i, j = rng.sample(INDICES, 2)
    facts = (le(a, b), forall(i, le(x[i], y[i])), lt(c, d))
    if rng.random() < 0.3:
        return Case(eq(*turned(rng, _resolved(rng, i, j))), "order", hypotheses=facts)
    small, large, strict = _ordered(rng, depth, i, j)
    conclusion = lt(small, large) if strict else le(small, large)
    return Case(conclusion, "order", hypotheses=facts)


def _resolved(rng: Random, i: Term, j: Term) -> Pair:
    """Absolute values, maxima and conditions that are known where a <= b, x <= y and c < d."""
    s, t, v = leaf(rng), leaf(rng), positive(rng)
    return rng.choice(
        [
            (maximum(a, b) + s, s + b),
            (maximum(x[i], y[i], x[i]) * s, y[i] * s),
            (maximum(c, 0) + maximum(0, c) * s, s * c + c),
            (maximum(c, s, d), maximum(s, d)),
            (sum_(i, maximum(y[i], x[i]) * u[i]), sum_(i, u[i] * y[i])),
            (when(le(a, b), s, t) + absolute(b - a), s + b - a),
            (when(lt(d, c), s, t * v), v * t),
            (when(le(0, s), absolute(s) + t, v), when(le(0, s), t + s, v)),
            (when(lt(x[j], 0), t, maximum(x[j], -c)), when(lt(x[j], 0), t, x[j])),
            (absolute(v * (y[j] - x[j])) - s, v * y[j] - v * x[j] - s),
            (when(ne(d, c), exp(maximum(a - b, 0)), s), number(1) + 0 * t),
        ]
    )


def _ordered(rng: Random, depth: int, i: Term, j: Term) -> tuple[Term, Term, bool]:
    """Two terms, the first at most the second (less, if so said) where a <= b, x <= y and c < d."""
    v, s = positive(rng), leaf(rng)
    if depth <= 0:
        return rng.choice(
            [
                (a, b, False),
                (x[j], y[j], False),
                (c, d, True),
                (number(0), v, True),
                (s, s + v, True),
                (s - a**2, s, False),
                (-b, -a, False),
                (a - v, b, True),
                (number(0), (x[i] - s) ** 2 * v, False),
                (u[j], sum_(i, u[i]), False),
                (number(0), absolute(s), False),
                (maximum(a, b), b, False),
                (maximum(c, d), d + v, True),
                (maximum(a, b), b, False),
                (maximum(c, d), d + v, True),
            ]
        )
    small, large, strict = _ordered(rng, depth - 1, i, j)
    return rng.choice(
        [
            (exp(small), exp(large), strict),
            (tanh(small), tanh(large), strict),
            (exp(small) * v, exp(large) * v, strict),
            (-large, -small, strict),
            (small + s, large + s, strict),
            (sum_(i, exp(small)), sum_(i, exp(large)), strict),
            (sum_(i, x[i]), sum_(i, y[i]), False),
            (exp(small), maximum(s, exp(large)), strict),
            (exp(small) ** 2, exp(large) ** 2, strict),
            (v / exp(large), v / exp(small), strict),
            (small, large + v, True) if small == a or large == b else (small - v * s**2, small, False),
        ]
    )


def _rate(rng: Random) -> Term:
    return rng.choice([number(1), number(2), n, 1 + a**2, 1 + c, 2 + u[rng.choice(INDICES)]])


def _tending(rng: Random, depth: int) -> Pair:
    """A function of beta and its limit as beta grows."""
    s, v, w = leaf(rng), _rate(rng), positive(rng)
    i = rng.choice(INDICES)
    if depth <= 0:
        return rng.choice(
            [
                (exp(-(beta * v)), number(0)),
                (s / beta, number(0)),
                (s + exp(-beta), s),
                (1 / beta**2 + v, v),
                (v * exp(-2 * beta) * exp(-v * beta), number(0)),
            ]
        )
    (f, to), (h, ho) = _tending(rng, depth - 1), _tending(rng, depth - 1)
    return rng.choice(
        [
            (f + h, to + ho),
            (f * h, to * ho),
            (s * f, s * to),
            (f / (w + h**2), to / (w + ho**2)),
            (exp(f), exp(to)),
            (cos(f) + s, cos(to) + s),
            (sum_(i, f * y[i]), sum_(i, to * y[i])),
            (sqrt(w + f**2), sqrt(w + to**2)),
            (1 / (1 + exp(-v * beta)), number(1)),
            (s * beta**2 * exp(-v * beta) + f, to),
        ]
    )


def limit(rng: Random, depth: int) -> Case:
    if rng.random() < 0.2:
        f = rng.choice(
            [
                lambda r: a * r**2 + r,
                lambda r: exp(r) / (1 + r**2),
                lambda r: cos(r * a) + sum_(INDICES[0], x[INDICES[0]] * r),
            ]
        )
        to = rng.choice([number(0), a, c])
        return Case(tends(beta, f(beta), to, f(to)), "limit")
    f, to = _tending(rng, depth)
    return Case(tends(beta, f, INFINITY, to), "limit")


def squeeze(rng: Random, depth: int) -> Case:
    to, v = leaf(rng), _rate(rng)
    swing = rng.choice([sin(beta * a), cos(beta + b), tanh(beta * a), sin(beta) * delta(*rng.sample(INDICES, 2))])
    small = rng.choice([exp(-v * beta), v / beta, 2 * beta * exp(-beta)])
    body = rng.choice([to + swing * small, to - small * swing])
    return Case(tends(beta, body, INFINITY, to), "squeeze", {"lower": to - small, "upper": to + small})

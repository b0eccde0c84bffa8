"""The symbols that the random statements are made of, random leaves, and what a generated statement is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from proofs.binders import sum_
from proofs.kernel import Link, Statement, Step, check
from proofs.notation import curve, delta, exp, family, index, permutation, size, variable
from proofs.terms import Term, as_term

n, m = size("n"), size("m")
INDICES = tuple(index(name, n) for name in "ijk")
OTHER_INDICES = tuple(index(name, m) for name in "pq")
a, b, c, d = variable("a"), variable("b"), variable("c", "positive"), variable("d", "positive")
x, y, w, A, u = family("x", n), family("y", n), family("w", n, m), family("A", n, n), family("u", n, domain="positive")
g, pi = curve("g", n), permutation("pi", n)

Pair = tuple[Term, Term]  # two terms that are equal, by construction
Pairs = Callable[[Random, int], Pair]


class Case(NamedTuple):
    """A statement and the one link that proves it."""

    conclusion: Term
    reason: Any
    arguments: Mapping[str, Any] = MappingProxyType({})
    hypotheses: tuple[Term, ...] = ()
    using: tuple[Any, ...] = ()
    witness: Mapping[Any, Any] = MappingProxyType({})

    @property
    def statement(self) -> Statement:
        return Statement(self.conclusion, self.hypotheses)

    def checked(self) -> tuple[Step, ...]:
        """Raises Refused where the rule does not close it."""
        return check(self.statement, (Link(None, None, self.reason, self.arguments, self.using),))


def leaf(rng: Random) -> Term:
    """A number, a symbol or an entry of a family."""
    i, j, p = rng.choice(INDICES), rng.choice(INDICES), rng.choice(OTHER_INDICES)
    return as_term(rng.choice([a, b, c, x[i], x[i], y[j], w[i, p], A[i, j], u[i], rng.randint(-3, 3) or 2]))


def positive(rng: Random) -> Term:
    """A term that its shape shows to be positive."""
    i = rng.choice(INDICES)
    return as_term(rng.choice([c, d, u[i], exp(x[i]), 1 + a**2, c + d, c * u[i], n, sum_(i, u[i])]))


def compound(rng: Random, depth: int, pairs: Pairs) -> Pair:
    """Two equal terms inside one and the same larger term: under a sum, a function, beside a delta."""
    left, right = pairs(rng, depth - 1)
    i, j = rng.sample(INDICES, 2)
    wrap = rng.choice(
        [lambda t: sum_(i, t), lambda t: t * delta(i, j), lambda t: exp(t / 8), lambda t: t * A[i, j] - x[i]]
    )
    return wrap(left), wrap(right)


def turned(rng: Random, pair: Pair) -> Pair:
    return pair if rng.random() < 0.5 else pair[::-1]

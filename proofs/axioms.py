"""TRUSTED. Facts that are cited and not proved here, each with its source and a numeric search for a counterexample.

The refuters run in the tests, at high precision: a fact for which one finds a counterexample is no fact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .evaluate import mp
from .kernel import Statement, Theorem, cite
from .notation import PI, cos, forall, ne, variable

_a, _b, _r = (variable(name, "integer") for name in "abr")
_x = variable("x")


class Axiom(NamedTuple):
    theorem: Theorem
    refute: Callable[[], str | None]  # a counterexample, or None where the search finds none


def _convergents(count: int) -> list[tuple[int, int]]:
    """The first continued-fraction convergents of pi, its best rational approximations."""
    found, value = [(1, 0), (3, 1)], mp.mpf(1) / (mp.pi - 3)
    for _ in range(count):
        whole = int(mp.floor(value))
        (p, q), (p1, q1) = found[-2:]
        found.append((whole * p1 + p, whole * q1 + q))
        value = 1 / (value - whole)
    return found[1:]


def _rational_pi() -> str | None:
    with mp.workdps(200):
        for p, q in _convergents(60):
            if abs(mp.pi * q - p) < mp.mpf(10) ** -150:
                return f"pi * {q} = {p}"
    return None


def _cosine_is_one_elsewhere() -> str | None:
    for k in range(-2000, 2001):
        x = mp.mpf(k) / 97
        nearest = 2 * mp.pi * mp.nint(x / (2 * mp.pi))
        if abs(x - nearest) > mp.mpf(10) ** -3 and abs(mp.cos(x) - 1) < mp.mpf(10) ** -8:
            return f"cos({x}) = 1"
    return None


pi_irrational = cite(
    "axioms.pi_irrational",
    Statement(ne(PI * _b, _a), (ne(_b, 0),)),
    "pi is irrational: no non-zero whole multiple of pi is a whole number.",
    "Lambert 1761; Niven 1947, A simple proof that pi is irrational",
)
cosine_is_one_at_full_turns_only = cite(
    "axioms.cosine_is_one_at_full_turns_only",
    Statement(ne(cos(_x), 1), (forall(_r, ne(_x, 2 * PI * _r)),)),
    "cos x = 1 only where x is a whole multiple of 2 pi.",
    "NIST Digital Library of Mathematical Functions, section 4.14 and table 4.17.1",
)
numerator, denominator, angle = _a, _b, _x  # the symbols of the statements above

AXIOMS = (
    Axiom(pi_irrational, _rational_pi),
    Axiom(cosine_is_one_at_full_turns_only, _cosine_is_one_elsewhere),
)

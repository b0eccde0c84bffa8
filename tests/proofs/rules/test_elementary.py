"""exp, log, sin and cos in normal form."""

from __future__ import annotations

import pytest

from proofs.notation import cos, exp, log, lt, sin
from proofs.rules.context import Context
from proofs.rules.normal import Normal
from proofs.terms import PI, Term, number, rational

from .vocabulary import INDICES, a, b, c, d, u, x

i = INDICES[0]


def same(left: Term, right: Term, law: str, *given: Term) -> bool:
    return not Normal((law,), Context(given)).difference(left, right)


@pytest.mark.parametrize(
    ("angle", "sine", "cosine"),
    [(0, 0, 1), (rational(1, 2), 1, 0), (1, 0, -1), (rational(3, 2), -1, 0), (2, 0, 1), (-1, 0, -1), (rational(-1, 2), -1, 0),
     (rational(7, 2), -1, 0)],
)  # fmt: skip
def test_quarter_turns(angle: Term, sine: int, cosine: int) -> None:
    assert same(sin(PI * angle), number(sine), "trig") and same(cos(PI * angle), number(cosine), "trig")


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (sin(-a), -sin(a), True),
        (cos(-a), cos(a), True),
        (sin(a) ** 2 + cos(a) ** 2, number(1), True),
        (sin(5 * a), 16 * sin(a) ** 5 - 20 * sin(a) ** 3 + 5 * sin(a), True),
        (sin(a / 2) * cos(a / 2), sin(a) / 2, True),
        (cos(a / 3) ** 3 * 4, cos(a) + 3 * cos(a / 3), True),
        (sin(a + b) * sin(a - b), sin(a) ** 2 - sin(b) ** 2, True),
        (sin(a) ** 2 - cos(a) ** 2, number(1), False),
        (sin(a * b), sin(a) * sin(b), False),
        (sin(100 * a), sin(100 * a) + 0 * b, True),
        (cos(a + 2 * PI), cos(a), True),
        (cos(a + PI), cos(a), False),
    ],
    ids=repr,
)
def test_angles(left: Term, right: Term, equal: bool) -> None:
    assert same(left, right, "trig") == equal


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (exp(a) * exp(-a), number(1), True),
        (exp(a / 2) * exp(a / 3), exp(5 * a / 6), True),
        (exp(a * b), exp(a) * exp(b), False),
        (exp(a) + exp(b), exp(a + b), False),
        (log(c * d), log(c) + log(d), True),
        (log(c + d), log(c) + log(d), False),
        (log(exp(a)), a, True),
        (exp(log(1 + a**2)), 1 + a**2, True),
        (exp(log(c) / 2) ** 2, exp(log(c)), False),  # roots of exp(log c) stay apart
        (log(rational(12, 35)), 2 * log(number(2)) + log(number(3)) - log(number(5)) - log(number(7)), True),
        (log(number(9)), log(number(3)), False),
        (c ** rational(1, 2) * c ** rational(1, 2), c, False),
        (c**a / c**b, c ** (a - b), True),
        (c ** (2 * a), (c**a) ** 2, True),
        (u[i] ** (-a), 1 / u[i] ** a, True),
        ((c * d) ** a, c**a * d**a, True),
    ],
    ids=repr,
)
def test_exp_and_log(left: Term, right: Term, equal: bool) -> None:
    assert same(left, right, "exp") == equal


def test_the_logarithm_of_a_product_needs_the_signs_of_its_factors() -> None:
    assert not same(log(a * b), log(a) + log(b), "exp")
    assert same(log(a * b), log(a) + log(b), "exp", lt(0, a), lt(0, b))
    assert not same(log(x[i] ** 2), 2 * log(x[i]), "exp")

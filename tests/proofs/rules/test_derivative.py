"""Derivatives against mpmath's numerical ones, and where there is none."""

from __future__ import annotations

from random import Random

import pytest

from proofs.binders import derivative, forall, function, sum_
from proofs.definitions import Definition
from proofs.evaluate import Point, evaluate
from proofs.notation import (
    absolute,
    choice,
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
    sin,
    sqrt,
    table,
    tanh,
    when,
)
from proofs.rules.context import Context, Refused
from proofs.rules.derivative import differentiated, without_derivatives
from proofs.terms import ANY_REAL, Term, family, number

from .analysis import differentiation, t
from .vocabulary import INDICES, A, a, b, c, g, n, u, x

i, j, k = INDICES
smooth = family("s", ANY_REAL)  # not declared as a curve


def test_random_derivatives_agree_with_numerical_ones() -> None:
    """The evaluation differentiates numerically; nothing of the rule is used there."""
    for seed in range(40):
        node = differentiation(Random(seed), 2).conclusion.args[0]
        point = Point(seed)
        numeric, symbolic = evaluate(node, point), evaluate(differentiated(node, Context()), point)
        assert abs(numeric - symbolic) <= 1e-20 * (1 + abs(symbolic)), node


@pytest.mark.parametrize(
    ("body", "at", "given"),
    [
        (absolute(t), number(0), ()),
        (absolute(t - a), b, ()),
        (sqrt(t), a, ()),
        (log(t), a, ()),
        (1 / t, a, ()),
        (t**a, b, ()),
        (maximum(t, 0), number(0), ()),
        (maximum(t, 0), a, ()),
        (maximum(t, a), b, (le(a, b),)),
        (maximum(t, t), number(1), ()),
        (maximum(t, 0, -1), number(1), ()),
        (maximum(t, absolute(t - 1)), number(1), ()),
        (when(lt(t, 0), -t, t), number(0), ()),
        (when(eq(t, 0), 1, 0), number(0), ()),
        (when(ne(t**2, a), t, 0), b, ()),
        (when(le(smooth[t], 2), t, 0), number(0), ()),
        (when(eq(choice("mu", ANY_REAL, target=n)(t), i), t, 0), number(1), ()),
        (when(lt(t, 2), log(t - 1), t), number(1), ()),
        (when(lt(b, a), absolute(t), t), number(0), ()),
        (sum_(i, maximum(t, x[i])), number(1), ()),
        (sum_(i, maximum(t, x[i])), number(1), (ne(x[i], 1),)),
        (smooth[t], number(0), ()),
        (table([0, t], choice("mu", ANY_REAL, target=2)(t)), number(1), ()),
        (x[choice("mu", ANY_REAL, target=n)(t)], number(1), ()),
        (sum_(i, log(x[i] + t)), number(0), ()),
        (sum_(i, log(x[i] + t)), number(0), (lt(0, x[i]),)),
    ],
    ids=repr,
)
def test_where_no_derivative_is_known(body: Term, at: Term, given: tuple[Term, ...]) -> None:
    with pytest.raises(
        Refused, match=r"not known to be differentiable|no rule for the derivative|not declared|has no derivative"
    ):
        differentiated(derivative(t, body, at), Context(given))


@pytest.mark.parametrize(
    ("body", "at", "given"),
    [
        (absolute(t), c, ()),
        (absolute(t - a), b, (ne(b - a, 0),)),
        (sqrt(t), c, ()),
        (1 / t, a, (ne(0, a),)),
        (t**a, c, ()),
        (when(ne(i, j), t**2, -t), a, ()),
        (maximum(t, 0), number(1), ()),
        (maximum(-2, t), number(-3), ()),
        (maximum(t, a), b, (lt(a, b),)),
        (maximum(t**2, t - 1) * t, a, (ne(a**2, a - 1),)),
        (exp(maximum(t, -u[i])) ** 2, c, ()),
        (when(lt(t, 0), -t, t), number(1), ()),
        (when(eq(t, 0), 1, t**2), c, ()),
        (when(ne(t, 0), t**3, 7), -c, ()),
        (when(lt(t, 2), t, log(t)), number(3), ()),
        (when(le(t, c), t, log(t)), 2 * c, ()),
        (sum_(i, maximum(t, x[i])), number(1), (forall(i, ne(x[i], 1)),)),
        (sum_(i, log(u[i] + t)), number(0), ()),
        (table([t, t**2], 1), a, ()),
        (t**-2 * sin(t) ** 3, c, ()),
        (tanh(t) * erf(t) / cos(0 * t), a, (ne(0, cos(0 * a)),)),
    ],
    ids=repr,
)
def test_where_one_is(body: Term, at: Term, given: tuple[Term, ...]) -> None:
    node, point = derivative(t, body, at), Point(5)
    assert abs(evaluate(node, point) - evaluate(differentiated(node, Context(given)), point)) < 1e-20


def test_partial_derivatives_keep_their_deltas() -> None:
    """d/dA_kj of sum_i sum_l A_il x_l is x_j, whatever the bound names are."""
    along = derivative(t, sum_([i, j], (A[i, j] + t * delta(i, k) * delta(j, i)) * x[j]), 0)
    point = Point(2)
    assert abs(evaluate(along, point) - evaluate(without_derivatives(along, Context()), point)) < 1e-20


def test_second_derivatives_and_definitions() -> None:
    cube = Definition("cube", [x, i], x[i] ** 3)
    s = t
    first = derivative(s, cube(function(j, x[j] + s * u[j]), i), a * t)
    second = derivative(t, first, 1)
    point = Point(4)
    found = without_derivatives(second, Context())
    expected = 6 * a * u[i] ** 2 * (x[i] + a * u[i])
    assert abs(evaluate(found, point) - evaluate(expected, point)) < 1e-30


def test_curves() -> None:
    node = derivative(t, sum_(i, g[i, t**2]), b)
    assert g.derivative is not None
    point = Point(9)
    expected = sum_(i, g.derivative[i, b**2]) * 2 * b
    assert abs(evaluate(without_derivatives(node, Context()), point) - evaluate(expected, point)) < 1e-30


def test_exponentials_of_the_point() -> None:
    node = derivative(t, c**t * exp(-t), 2)
    point = Point(1)
    assert abs(evaluate(node, point) - evaluate(c**2 * exp(number(-2)) * (log(c) - 1), point)) < 1e-20
    assert without_derivatives(node, Context()).op != "derivative"

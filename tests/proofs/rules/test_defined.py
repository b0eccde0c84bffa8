"""Definedness: every part of a term has a meaning, under what is given at its place."""

from __future__ import annotations

import pytest

from proofs.binders import derivative, forall, function, sum_, tends
from proofs.definitions import Definition
from proofs.notation import INFINITY, absolute, eq, exp, implies, le, log, lt, ne, sqrt, when
from proofs.rules.context import Context, Refused
from proofs.rules.defined import check_defined, is_whole
from proofs.terms import Term, rational, value_of, variable

from .analysis import beta, t
from .vocabulary import INDICES, A, a, b, c, g, n, u, x

i, j, k = INDICES
z = variable("z", "integer")


@pytest.mark.parametrize(
    ("term", "given"),
    [
        (a / c, ()),
        (a / b, (ne(b, 0),)),
        (a / (b - a), (lt(a, b),)),
        (a / (1 + b**2), ()),
        (sum_(i, a / x[i]), (forall(i, ne(x[i], 0)),)),
        (a / sum_(i, u[i]), ()),
        (log(c), ()),
        (log(a), (lt(0, a),)),
        (sqrt(a**2), ()),
        (c**a, ()),
        (a**2, ()),
        (a**-2, (ne(0, a),)),
        (when(ne(a, 0), 1 / a, 0), ()),
        (when(lt(0, a), log(a), sqrt(-a)), ()),
        (eq(1 / a, b), (ne(a, 0),)),
        (implies(ne(a, 0), eq(1 / a, b)), ()),
        (derivative(t, absolute(t), c), ()),
        (tends(beta, 1 / beta, INFINITY, 0), ()),
        (tends(beta, 1 / beta, 0, 0), ()),
        (a / n, ()),
    ],
    ids=repr,
)
def test_defined(term: Term, given: tuple[Term, ...]) -> None:
    check_defined(term, Context(given))


@pytest.mark.parametrize(
    ("term", "given", "condition"),
    [
        (a / b, (), ne(0, b)),
        (a / b, (le(0, b),), ne(0, b)),
        (a / (b - b), (), ne(0, b - b)),
        (1 / (a * b), (ne(a, 0),), ne(0, a * b)),
        (sum_(i, a / x[i]), (ne(x[i], 0),), None),
        (log(a), (le(0, a),), lt(0, a)),
        (sqrt(a), (), le(0, a)),
        (a ** rational(1, 2), (le(0, a),), lt(0, a)),
        (a**b, (ne(a, 0),), lt(0, a)),
        (when(ne(a, 0), 1, 1 / a), (), ne(0, a)),
        (when(le(0, a), log(a), 0), (), lt(0, a)),
        (implies(le(0, a), eq(1 / a, b)), (), ne(0, a)),
        (exp(exp(1 / a)), (), ne(0, a)),
        (derivative(t, absolute(t), a), (), None),
        (derivative(t, t / t, 0), (), None),
        (tends(beta, log(beta - 1), INFINITY, 0), (), None),
        (tends(beta, sqrt(beta), 0, 0), (), None),
        (forall(i, lt(0, 1 / x[i])), (), None),
    ],
    ids=repr,
)
def test_undefined(term: Term, given: tuple[Term, ...], condition: Term | None) -> None:
    with pytest.raises(Refused) as refusal:
        check_defined(term, Context(given))
    assert condition is None or refusal.value.residue == condition


def test_definitions_carry_their_conditions() -> None:
    ratio = Definition("ratio", [a, b], a / b, requires=[ne(b, 0)])
    check_defined(ratio(a, c), Context())
    with pytest.raises(Refused, match="ratio is not defined here"):
        check_defined(ratio(a, a), Context())
    with pytest.raises(Refused, match="a denominator may vanish"):
        check_defined(ratio(1 / a, c), Context())
    bare = Definition("bare", [a, b], a / b)
    with pytest.raises(Refused, match="a denominator may vanish"):
        check_defined(bare(a, c), Context())


def test_arguments_are_what_their_parameters_were_declared_to_be() -> None:
    total = Definition("total", [u, i], u[i] / sum_(j, u[j]))
    check_defined(total(function(j, exp(x[j])), i), Context())
    with pytest.raises(Refused, match="total needs a positive value"):
        check_defined(total(x, i), Context())
    check_defined(total(x, i), Context((forall(j, lt(0, x[j])),)))
    slope = Definition("slope", [g, i, a], derivative(t, g[i, t], a))
    check_defined(slope(function((i, t), x[i] * t**2), j, b), Context())
    with pytest.raises(Refused, match=r"not known to be differentiable|needs a differentiable curve"):
        check_defined(slope(function((i, t), absolute(t)), j, b), Context())


@pytest.mark.parametrize("term", [z, n, value_of(i), 2 * z**2 - n, z * z + 1], ids=repr)
def test_whole_numbers(term: Term) -> None:
    assert is_whole(term)


@pytest.mark.parametrize("term", [a, z / 2, z**-1, z * rational(1, 2), x[i], A[i, j]], ids=repr)
def test_other_numbers(term: Term) -> None:
    assert not is_whole(term)

"""Limits: what the laws give, and what they must not."""

from __future__ import annotations

import pytest

from proofs.binders import forall, sum_, tends
from proofs.kernel import Link, Script, Statement, check
from proofs.notation import INFINITY, absolute, cos, eq, exp, le, log, lt, ne, sin, sqrt, tanh, when
from proofs.rules.context import Refused
from proofs.terms import Term, TermError, number, rational

from .analysis import beta
from .vocabulary import INDICES, a, b, c, u, x, y

i, j, k = INDICES


def closes(
    body: Term, value: object, *given: Term, at: object = INFINITY, rule: str = "limit", **arguments: Term
) -> None:
    check(Statement(tends(beta, body, at, value), given), (Link(None, None, rule, arguments, ()),))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (exp(-beta), 0),
        (beta**5 * exp(-c * beta), 0),
        (exp(-c * beta - 3), 0),
        (1 / beta, 0),
        (beta**-3 * a + b, b),
        (exp(-beta) * exp(beta / 2), 0),
        (sum_(i, x[i] * exp(-u[i] * beta)), 0),
        (1 / (1 + exp(-c * beta)), 1),
        (exp(-beta) / (1 + exp(-beta)) + cos(1 / beta), 1),
        (log(2 + exp(-beta)), log(number(2))),
        (sqrt(c + 1 / beta), sqrt(c)),
        (absolute(a + exp(-beta)), absolute(a)),
        (when(lt(a, b), exp(-beta), 1 / beta), when(lt(a, b), 0, 0)),
        (a, a + 0 * b),
    ],
    ids=repr,
)
def test_limits_at_infinity(body: Term, value: object) -> None:
    closes(body, value)
    with pytest.raises(Refused, match="what is left over"):
        closes(body, value + 1)  # type: ignore[operator]


@pytest.mark.parametrize(
    "body",
    [
        exp(-a * beta), exp(beta), beta, sin(beta), a * beta * exp(-beta**2), 1 / (beta - 1) ** -1, log(beta), exp(-beta) * beta**a,
        tanh(beta), exp(-(a**2) * beta), when(lt(beta, 5), 1, 0), 1 / exp(-beta),
    ],
    ids=repr,
)  # fmt: skip
def test_no_law_gives_these(body: Term) -> None:
    with pytest.raises(Refused):
        closes(body, 0)


def test_limits_at_a_point() -> None:
    closes(beta**2 + a, a + c**2, at=c)
    closes(sin(beta) / exp(beta), 0 * a, at=0)
    closes((1 + beta**2) ** -2, rational(1, 4), at=1)
    with pytest.raises(Refused, match="the limit of a denominator may vanish"):
        closes(sin(beta) / beta, 1, at=0)
    with pytest.raises(Refused, match="what is left over"):
        closes(beta**2, c, at=c)


def test_a_removable_gap_is_removed_by_an_equation_first() -> None:
    script = Script()
    script.equals(beta + a, "field")
    script.closes("limit")
    check(Statement(tends(beta, (beta**2 - a**2) / (beta - a), a, 2 * a)), tuple(script.links))


def test_given_limits() -> None:
    given = forall(i, tends(beta, x[i] * sin(beta) / beta, INFINITY, y[i]))
    closes(a + x[j] * sin(beta) / beta, a + y[j], given)
    closes(sum_(k, x[k] * sin(beta) / beta), sum_(k, y[k]), given)
    with pytest.raises(Refused, match="what is left over"):
        closes(a + x[j] * sin(beta) / beta, a + y[k], given)
    with pytest.raises(Refused):
        closes(a + x[j] * sin(beta) / beta, a + y[j], forall(i, tends(beta, x[i] * sin(beta) / beta, 0, y[i])))


def test_squeeze() -> None:
    decay = exp(-c * beta)
    closes(sin(a * beta) * decay, 0, rule="squeeze", lower=-decay, upper=decay)
    closes(b * decay, 0, le(0, b), le(b, 2), rule="squeeze", lower=number(0), upper=2 * decay)
    with pytest.raises(Refused, match="a bound of the squeeze is not known to hold"):
        closes(2 * sin(a * beta) * decay, 0, rule="squeeze", lower=-decay, upper=decay)
    with pytest.raises(Refused, match="the limit is another one"):
        closes(sin(a * beta) * decay, 1, rule="squeeze", lower=-decay, upper=decay)
    with pytest.raises(TermError, match="squeeze takes lower, upper; found lower"):
        closes(sin(a * beta) * decay, 0, rule="squeeze", lower=-decay)
    with pytest.raises(TermError, match="the proof speaks of b, and the statement does not"):
        closes(sin(a * beta) * decay, 0, rule="squeeze", lower=-decay + 0 * b, upper=decay)


def test_the_variable_of_a_limit_is_bound() -> None:
    with pytest.raises(TermError, match="beta is bound by the limit, and free elsewhere"):
        closes(exp(-beta), 0, ne(beta, 0))
    with pytest.raises(TermError, match="limit takes no arguments; found lower"):
        closes(exp(-beta), 0, lower=a)
    assert eq(beta, 0) != eq(a, 0)

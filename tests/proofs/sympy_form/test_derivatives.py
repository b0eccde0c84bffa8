"""Our rules of differentiation beside SymPy's own `diff`, which shares no code with them."""

from random import Random

import pytest
import sympy

from proofs.notation import (
    absolute,
    cos,
    curve,
    delta,
    derivative,
    erf,
    exp,
    i,
    index,
    j,
    l,
    log,
    n,
    number,
    sin,
    sqrt,
    sum_,
    t,
    table,
    tanh,
    variable,
    z,
)
from proofs.rules.context import Context
from proofs.rules.derivative import differentiated
from proofs.sympy_form import to_sympy

from .points import DIGITS, value

path, x, a = curve("y", n), variable("x"), index("a", 2)


def kinds(f, g):
    """Functions of t that have a derivative wherever f and g have one."""
    elementary = [exp(f / 8), sin(f), cos(f), tanh(f), erf(f), log(1 + f**2), sqrt(2 + f**2), absolute(2 + sin(f))]
    sums = [sum_(i, f * z[i]), sum_(l, exp(path[l, t] * f / 8))]
    return [f + g, f * g, f / (1 + g**2), (1 + f**2) ** (g / 8), table([f, g], a), *elementary, *sums]


def moving(rng, depth):
    if depth == 0:
        return rng.choice([t, x, z[i] + t * delta(i, j), path[i, t], path[j, 2 * t], t**3, number(rng.randint(1, 3))])
    return rng.choice(kinds(moving(rng, depth - 1), moving(rng, depth - 1)))


def check_derivative(body, seed):
    rng = Random(seed)
    term = derivative(t, body, rng.choice([t, number(0), x]))
    ours = differentiated(term, Context().knowing({n, i, j, a, x, t, z, path}))
    at = {i: rng.randrange(2), j: rng.randrange(2), a: rng.randrange(2)}
    left, right = (value(to_sympy(d, {n: 2}, at), seed) for d in (term, ours))
    assert abs(left - right) <= sympy.Rational(1, 10**DIGITS) * (1 + abs(left))


@pytest.mark.parametrize("body", kinds(path[i, 2 * t] + t * x, t**2 + x), ids=lambda body: body.op)
def test_every_derivative_is_that_of_sympy(body):
    check_derivative(body, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_derivatives_of_compositions_are_those_of_sympy(seed):
    check_derivative(moving(Random(seed), 1 + seed % 3), seed)

"""Gradients of formulas by walking back are those of the contracts, in balls, and those by hand."""

import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, to_balls, to_floats
from numeric.checker.contracts import contract_named, contract_names
from numeric.checker.formats import FORMATS
from numeric.checker.reverse import Traced, gradients_of

DIFFERENTIABLE = [name for name in contract_names() if contract_named(name).differentiable]


def overlapping(some, others):
    pairs = zip(some, others, strict=True)
    return all(one.overlaps(other) for a, b in pairs for one, other in zip(a.flat, b.flat, strict=True))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_right_formula_has_the_right_gradients(name):
    contract = contract_named(name)
    rng = np.random.default_rng(3)
    options = {each.name: each.default for each in contract.options}
    probe = contract.generic(rng, FORMATS["float64"], options)[0]
    options |= probe.options
    options |= contract.draw(rng, *probe.inputs, **options)
    with precision(128):
        output, pullback = contract.exact(*probe.inputs, **options)
        dy = rng.standard_normal(output.shape)
        right = pullback(dy)
        formula = gradients_of(contract, lambda *inputs, **settings: contract.layer(*inputs, **settings)[0])
        found = formula(to_balls(dy), *contract.in_balls(probe.inputs), **options)
        assert overlapping(found, right)
        assert not overlapping(found, [each * arb(1 + 1e-12) for each in right])


X = np.array([0.3, 0.75, 1.5, 2.0])
FUNCTIONS = {
    "square": (lambda x: x**2, lambda x: 2 * x),
    "power": (lambda x: x**2.5, lambda x: 2.5 * x**1.5),
    "of its own": (lambda x: x**x, lambda x: x**x * (np.log(x) + 1)),
    "exponential of a base": (lambda x: arb(3) ** x, lambda x: 3**x * np.log(3)),
    "exp": (np.exp, np.exp),
    "log": (np.log, lambda x: 1 / x),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "sin": (np.sin, np.cos),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "quotient": (lambda x: (1 - x) / (x + 2), lambda x: -3 / (x + 2) ** 2),
    "over it": (lambda x: 5 / x, lambda x: -5 / x**2),
    "differences": (lambda x: 3 - x - x * x + (-x) - 1, lambda x: -2 - 2 * x),
    "erf": (
        lambda x: np.array([each.erf() for each in x], dtype=object),
        lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)),
    ),
    "erfc": (
        lambda x: np.array([each.erfc() for each in x], dtype=object),
        lambda x: -2 / np.sqrt(np.pi) * np.exp(-(x**2)),
    ),
    "constant": (lambda x: 0 * x + to_balls(np.ones(4)), lambda x: 0 * x),
    "not of it": (lambda x: to_balls(np.ones(4)), lambda x: 0 * x),
    "used often": (lambda x: (x * x) * (x * x) + x, lambda x: 4 * x**3 + 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_operation(name):
    function, slope = FUNCTIONS[name]
    dy = np.array([1.0, -2.0, 0.5, 3.0])
    [found] = gradients_of(contract_named("gelu"), function)(to_balls(dy), to_balls(X))
    assert np.allclose(to_floats(found), dy * slope(X), rtol=1e-14, atol=0)


def test_what_is_decided_is_decided_at_the_value():
    [found] = gradients_of(contract_named("relu"), lambda x: contract_named("relu").layer(x)[0])(
        to_balls(np.ones(3)), to_balls(np.array([-1.0, 2.0, 3.0]))
    )
    assert to_floats(found).tolist() == [0, 1, 1]


def test_it_has_no_derivative_of_its_own():
    with pytest.raises(ValueError, match="power is 1, needed 0"):
        Traced(arb(2), []).coefficient(1)
    assert Traced(arb(2), []).coefficient(0) == 2


def test_what_is_no_number_is_refused():
    for operation in (lambda x: x + "a", lambda x: x * None, lambda x: x / True, lambda x: x - "a", lambda x: "a" / x):
        with pytest.raises(TypeError):
            operation(Traced(arb(2), []))

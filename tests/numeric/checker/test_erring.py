"""The bound is one: no evaluation in the format errs by more. It is that of `rounding`, number by number, and is not far too wide."""

import math

import numpy as np
import pytest
from flint import arb
from scipy import special

from numeric.arithmetic import elementwise, largest_error, precision, to_balls
from numeric.checker.contracts import contract_named, contract_names
from numeric.checker.erring import Erring, errors, exactly
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.reverse import gradients_of
from numeric.checker.rounding import Rounded, allowance

SINGLE, MODEL = FORMATS["float32"], precision_of("float32")
SAMPLES = 2000

OPERATIONS = {
    "sum": lambda x, y: x + y - 3,
    "product": lambda x, y: x * y * x,
    "quotient": lambda x, y: (x - y) / (1 + x),
    "its inverse": lambda x, y: 1 / (x + y) - 2 / y,
    "exp": lambda x, y: np.exp(x * y) - np.exp(-x),
    "log": lambda x, y: np.log(x * y) * y,
    "sqrt": lambda x, y: np.sqrt(x * x + y),
    "square": lambda x, y: (x - y) ** 2,
    "power": lambda x, y: (x + y) ** 1.5,
    "angles": lambda x, y: np.sin(3 * x) * np.cos(x * y),
    "constants": lambda x, y: x * 0.1 + y / 3,
}


def inputs():
    rng = np.random.default_rng(7)
    return [rng.uniform(0.25, 4, SAMPLES).astype(np.float32) for _ in range(2)]


def compared(function, arrays, of_balls=None):
    """What float32 computes is off from the exact value by, and what the bound grants."""
    found = function(*arrays)
    exactly_given = [np.asarray(each, np.float64) for each in arrays]
    with precision(128):
        off = largest_error(np.asarray(found, np.float64), (of_balls or function)(*map(to_balls, exactly_given)))
        bound = errors((of_balls or function)(*(exactly(each, SINGLE) for each in exactly_given)), MODEL)
    return off, bound


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_evaluation_in_float32_is_further_off(name):
    off, bound = compared(OPERATIONS[name], inputs())
    assert (off <= bound).all()
    assert (off / bound).max() > 0.05


@pytest.mark.parametrize(("of_floats", "method"), [(special.erf, "erf"), (special.erfc, "erfc")])
def test_error_functions(of_floats, method):
    x = np.random.default_rng(1).uniform(-3, 5, SAMPLES).astype(np.float32)
    off, bound = compared(
        lambda x: of_floats(x * x), [x], lambda x: elementwise(lambda each: getattr(each, method)(), x * x)
    )
    assert (off <= bound).all()
    assert (off / bound).max() > 0.02


def test_a_sum_may_be_added_up_in_any_order():
    x = np.random.default_rng(2).standard_normal((300, 50)).astype(np.float32)
    for order in (x, x[:, ::-1], np.sort(x, -1), -np.sort(-np.abs(x), -1) * np.sign(x)):
        off, bound = compared(lambda x: np.cumsum(x, -1)[..., -1], [order], lambda x: x.sum(-1))
        assert (off <= bound).all()
    one = exactly(x[0].astype(np.float64), SINGLE).sum()
    assert one.terms == 50
    gamma = 49 * SINGLE.unit
    assert one.error == gamma / (1 - gamma) * one.size


# the sublayers of add_and_norm take no float32; positions are no floats
LEFT_OUT = ("add_and_norm", "positional_encoding")
LONG = ("decoder_layer", "transformer")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=pytest.mark.slow if each in LONG else ())
        for each in contract_names()
        if each not in LEFT_OUT
    ],
)
def test_layers_in_float32_are_no_further_off(name):
    contract = contract_named(name)
    rng = np.random.default_rng(4)
    options = {each.name: each.default for each in contract.options}
    probe = contract.generic(rng, SINGLE, options)[0]
    options |= probe.options
    given = [
        np.asarray(value, np.float32) if each.floating else value
        for value, each in zip(probe.inputs, contract.inputs, strict=True)
    ]
    options |= contract.draw(rng, *given, **options)
    widened = contract.as_floats(given)
    as_written = [
        exactly(value, SINGLE) if each.floating else value for value, each in zip(widened, contract.inputs, strict=True)
    ]
    with precision(128):
        off = largest_error(
            np.asarray(contract.layer(*given, **options)[0], np.float64), contract.exact(*widened, **options)[0]
        )
        output = contract.layer(*as_written, **options)[0]
        bound = errors(output, MODEL)
        assert (off <= bound).all()
        assert (bound <= 10 * SINGLE.unit + 10 * allowance(contract.bound(MODEL, *widened, **options))).all()
        dy = exactly(np.ones(output.shape), SINGLE)
        gradient = gradients_of(contract, lambda *x, **settings: contract.layer(*x, **settings)[0])
        assert all(np.isfinite(errors(each, MODEL)).all() for each in gradient(dy, *as_written, **options))


def rounded(values):
    return Rounded.exact(np.array([values]), MODEL).rearranged(lambda part: part)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * y / (x * x),
        lambda x, y: (x * y).exp(),
        lambda x, y: (x * y).log() * x,
        lambda x, y: (x / y).sqrt(),
        lambda x, y: (x * y).sin() / (x * y).cos(),
        lambda x, y: (x * x - y).exp(),
    ],
)
def test_the_rules_are_those_of_arrays(function):
    x, y = 1.25, 0.7
    one = function(Erring(x, 0.0, SINGLE), Erring(y, 0.0, SINGLE))
    other = function(rounded(x), rounded(y))
    assert one.value == other.value[0]
    assert one.error == pytest.approx(other.worst[0], rel=1e-6)


def test_what_is_not_known_to_have_a_bound_gets_none():
    wide = Erring(0.5, 0.3, SINGLE)
    for unknown in (1 / wide, wide.log(), wide.sqrt(), wide**0.5, Erring(2.0, 0.0, SINGLE) ** wide):
        assert math.isinf(unknown.error)
    assert errors(np.array([1 / wide, wide, arb(3)], dtype=object), MODEL).tolist() == [0, 0.3, 0]


def test_zeros_and_ones_that_are_exact():
    zero = Erring(0.0, 0.0, SINGLE)
    assert [each.error for each in (zero.exp(), zero.sqrt(), zero**0, zero * 3, zero**2)] == [0] * 5
    assert zero.exp().value == 1


def test_the_result_is_rounded_once_more_where_it_is_returned_in_16_bits():
    one = np.array([Erring(1.0, 0.0, SINGLE)], dtype=object)
    assert errors(one, precision_of("bfloat16"))[0] == FORMATS["bfloat16"].unit
    assert errors(one, MODEL)[0] == 0


def test_constants_that_the_format_does_not_hold_are_rounded():
    one = Erring(1.0, 0.0, SINGLE)
    assert (one + 0.5).error == SINGLE.unit * 1.5
    assert (one * 0.1).error > SINGLE.unit * 0.1 * 1.9
    assert (arb.pi() * one).error > SINGLE.unit * 3


def test_what_is_no_number_is_refused():
    for operation in (lambda x: x + "a", lambda x: x * None, lambda x: x / True, lambda x: x ** "a", lambda x: "a" / x):
        with pytest.raises(TypeError):
            operation(Erring(2.0, 0.0, SINGLE))
    with pytest.raises(ValueError, match="power is 1, needed 0"):
        Erring(2.0, 0.0, SINGLE).coefficient(1)

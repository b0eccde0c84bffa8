"""What every layer makes of a cotangent whose arithmetic is not that of its forward pass."""

import importlib
import importlib.util
import re

import ml_dtypes
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import BALL, is_balls, precision, to_balls, widen
from numeric.gradients.case import Case, point_of
from numeric.gradients.cases import layer_cases
from numeric.gradients.run import differentiable
from numeric.layers import log_softmax, softmax

FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), np.dtype(np.float64)]
TANGENTS = [
    Case("softmax", "jvp", {"z": (3, 4)}, lambda z: softmax.forward(z), lambda dz, cache: softmax.jvp(dz, cache)),
    Case("log_softmax", "jvp", {"z": (3, 4)}, lambda z: log_softmax.forward(z), lambda dz, c: log_softmax.jvp(dz, c)),
]
CASES = [*layer_cases(), *TANGENTS]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def run(case, dtype):
    """A cotangent in float64, and what forward cached; `dtype` BALL gives balls."""
    point = point_of(case)
    _, cache = case.forward(*(to_balls(x) if dtype == BALL else x.astype(dtype) for x in point.inputs))
    return np.random.default_rng(1).normal(size=point.cotangent.shape), cache


def same(found, expected):
    return found.mid() == expected.mid() and found.rad() == expected.rad()


def not_the_gradients_in_balls(case, dtype):
    """How many entries of the gradients are not what the cotangent of the same numbers, as balls, gives."""
    with precision(113):
        cotangent, cache = run(case, BALL)
        dy = cotangent.astype(dtype)
        wrong = 0
        for found, exact in zip(case.gradients(dy, cache), case.gradients(to_balls(dy), cache), strict=True):
            if not is_balls(found) or set(map(type, found.flat)) != {arb}:
                wrong += found.size
            else:
                wrong += sum(not same(*balls) for balls in zip(found.flat, exact.flat, strict=True))
    return wrong


def refusal(case, dtype):
    """What a cotangent of balls gets after a forward pass in floats, or None where it is taken."""
    cotangent, cache = run(case, dtype)
    try:
        case.gradients(to_balls(cotangent), cache)
    except TypeError as error:
        return str(error)
    return None


def test_every_layer_has_a_case():
    assert {case.layer for case in CASES} == {
        name for name in differentiable() if importlib.util.find_spec(f"numeric.layers.{name}")
    }


@every_case
def test_floats_after_a_forward_pass_in_balls_count_as_exact_balls(case):
    assert [not_the_gradients_in_balls(case, dtype) for dtype in FLOATS] == [0, 0, 0, 0]


@every_case
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_after_a_forward_pass_in_floats_gradients_have_the_dtype_of_the_cotangent(case, dtype):
    cotangent, cache = run(case, dtype)
    for of_cotangent in FLOATS:
        gradients = case.gradients(cotangent.astype(of_cotangent), cache)
        assert {gradient.dtype for gradient in gradients} == {of_cotangent}


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_balls_after_a_forward_pass_in_floats_are_refused(case, dtype):
    assert re.fullmatch(
        rf"{case.layer}: d\w+ holds balls, but the forward pass computed in {np.dtype(dtype)}, so the result would "
        r"enclose nothing; call forward on numeric\.arithmetic\.to_balls\(\.\.\.\) of its inputs",
        str(refusal(case, dtype)),
    )


# Each has a gradient that would keep the floats, or hold balls around sums of them that were rounded
ROUNDING = [
    "activations.relu", "embedding.scaled", "layer_norm.rows", "linear.batch", "log_softmax.rows",
    "positional_encoding.sinusoids", "rotary.positions",
]  # fmt: skip


@pytest.mark.parametrize("name", ROUNDING)
def test_a_layer_that_leaves_floats_as_they_are_is_seen(name, monkeypatch):
    case = next(case for case in CASES if case.name == name)
    layer = importlib.import_module(f"numeric.layers.{case.layer}")
    monkeypatch.setattr(layer, "cotangent_operand", lambda layer, name, cotangent, *_: widen(cotangent))
    assert not_the_gradients_in_balls(case, np.float64) > 0
    assert refusal(case, np.float64) is None

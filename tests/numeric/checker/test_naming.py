"""What is named is nearer to the mistake than to the truth, in every dtype; rounding of an allowance hides no name."""

import numpy as np
import pytest

from numeric.checker import check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.kill_matrix import planted
from numeric.checker.mistake import Instability
from numeric.checker.naming import NEARER, NEARNESS
from numeric.checker.rounding import allowance

slow = pytest.mark.slow


def softmax(z, axis=-1, temperature=1.0):
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    p = np.exp(((z - z.max(axis, keepdims=True)) / temperature).astype(wide))
    return (p / p.sum(axis, keepdims=True)).astype(z.dtype)


def times(factor):
    """The right gradient of softmax by a factor."""

    def backward(dy, z, axis=-1, temperature=1.0):
        s, g = softmax(z, axis, temperature).astype(np.float64), dy.astype(np.float64)
        return (factor * s * (g - (s * g).sum(axis, keepdims=True)) / temperature).astype(z.dtype)

    return backward


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_what_is_no_known_mistake_is_none(factor, dtype):
    """In 16 bits NEARNESS alone would take nothing for the diagonal of the Jacobian."""
    report = check("softmax", softmax, backward=times(factor), dtype=dtype, probes=("generic (3, 5, 7)*draw 0", "ties"))
    assert report.mistakes == ()
    told = report.finding("gradients").message
    assert told.startswith("no known mistake.\n")
    if factor == 0:
        assert told.startswith("no known mistake.\nit is zero throughout")
    elif dtype != "bfloat16":
        assert told.startswith(("no known mistake.\nit is 0.5 times the", "no known mistake.\nit is 0.4999"))


def with_noise(name, known, dtype):
    """The wrong output of float64, off by up to 0.7 of the right one's allowance in each entry, and then rounded."""
    contract, model = contract_named(name), precision_of(dtype)
    forward, _ = planted(contract, known, "float64")

    def noisy(*inputs, **options):
        settings = {**{each.name: each.default for each in contract.options}, **options}
        floats = contract.as_floats(inputs)
        allowed = allowance(contract.bound(model, *floats, **settings))
        found = forward(*floats, **options)
        off = np.random.default_rng(5).uniform(-0.7, 0.7, found.shape) * np.where(np.isfinite(allowed), allowed, 0.0)
        return (found + off).astype(inputs[0].dtype)

    return noisy


ONE_DRAW = "generic*draw 0"
SEEN_AT = {
    "softmax": (ONE_DRAW,),
    "gelu": (ONE_DRAW, "near zero"),
    "rms_norm": (ONE_DRAW, "tiny*"),
    "layer_norm": (ONE_DRAW, "tiny*", "*variance*"),
}
MISTAKES = [
    pytest.param(name, known, id=known.id, marks=() if known.id.endswith(("no_eps", "other_axis", "sigmoid")) else slow)
    for name in ("softmax", "rms_norm", "layer_norm", "gelu")
    for known in contract_named(name).mistakes
    if known.of == "values" and not isinstance(known, Instability)
]


@pytest.mark.parametrize(("name", "known"), MISTAKES)
def test_rounding_hides_no_name(name, known):
    """Named before anything but its twins, though every entry errs by about as much as it may, at random."""
    with np.errstate(all="ignore"):
        report = check(name, with_noise(name, known, "float32"), dtype="float32", probes=SEEN_AT[name])
    assert known.id in report.mistakes, str(report)
    assert report.mistakes[0] in {known.id, *known.twins}


def test_an_allowance_keeps_nobody_from_half_of_the_way():
    """Off by 2 and an allowance from the formula, or the formula by 3 and it by an allowance less."""
    assert all(NEARER * off >= 1 for off in (2, 3 - 1))
    assert NEARNESS > 1

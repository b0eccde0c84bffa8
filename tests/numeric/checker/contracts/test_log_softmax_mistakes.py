"""What is told of a wrong logarithm of softmax."""

import numpy as np
import pytest
from scipy import special

from numeric.checker import Probe, check


def together(z, axis=-1, temperature=1.0):
    y = z / z.dtype.type(temperature)
    peak = y.max(axis, keepdims=True)
    return y - (peak + np.log(np.exp(y - peak).sum(axis, keepdims=True)))


def test_maximum_and_logarithm_together():
    """Field case CE6: [1e8, 1e8] in float32 gives 0 for -log 2."""
    case = Probe("1e8 twice", (np.array([[1e8, 1e8], [1.0, 0.5]]),))
    found = together(np.float32([[1e8, 1e8]]))
    assert found.tolist() == [[0, 0]]
    report = check("log_softmax", together, dtype="float32", probes=[case])
    assert report.finding("values").mistake == "log_softmax.maximum_and_logarithm_together"
    assert "right formula, unstable at '1e8 twice'" in report.finding("values").message


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_is_told_on_a_default_run(dtype):
    quick = ("*draw 0", "[!46g]*", "gap*")
    report = check("log_softmax", together, dtype=dtype, probes=quick)
    assert report.mistakes == ("log_softmax.maximum_and_logarithm_together",)


QUICK = ("generic*",)


@pytest.mark.parametrize(
    ("forward", "id"),
    [
        (lambda z, axis=-1, temperature=1.0: special.log_softmax(z, axis), "temperature_ignored"),
        (lambda z, axis=-1, temperature=1.0: special.softmax(z / temperature, axis), "softmax"),
        (lambda z, axis=-1, temperature=1.0: -special.log_softmax(z / temperature, axis), "negated"),
        (lambda z, axis=-1, temperature=1.0: special.log_softmax(z / temperature, -1), "last_axis"),
        (lambda z, axis=-1, temperature=1.0: special.log_expit(z / temperature), "log_sigmoid"),
    ],
)
def test_named_as_people_write_it(forward, id):
    assert check("log_softmax", forward, probes=QUICK).mistakes == (f"log_softmax.{id}",)


def test_another_temperature_is_fitted():
    def cooled(z, axis=-1):
        return special.log_softmax(z / 0.7, axis)

    report = check("log_softmax", cooled, probes=QUICK)
    assert "it is what temperature = 0.7 gives" in report.finding("values").message


def test_the_gradient_of_cross_entropy_alone():
    def for_one_hot(dy, z, axis=-1, temperature=1.0):
        return (dy - special.softmax(z / temperature, axis)) / temperature

    def right(z, axis=-1, temperature=1.0):
        return special.log_softmax(z / temperature, axis)

    report = check("log_softmax", right, backward=for_one_hot, probes=QUICK)
    assert report.mistakes == ("log_softmax.gradient_of_one_target",)

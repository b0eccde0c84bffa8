"""An implementation that computes in a coarser format than it returns is told so; a wrong one is not."""

import numpy as np
import pytest

from numeric.checker import Probe, check

FEW = ("*draw 0", "ties", "gap*")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def computed_in(dtype):
    return lambda z, axis=-1, temperature=1.0: softmax(z.astype(dtype), axis, temperature).astype(z.dtype)


@pytest.mark.parametrize(("inner", "dtype"), [("float32", "float64"), ("float16", "float64"), ("float16", "float32")])
def test_the_format_is_named(inner, dtype):
    report = check("softmax", computed_in(inner), dtype=dtype, probes=FEW)
    assert report.verdict == "fail"
    expected = f"its errors are no larger than rounding to {inner} gives: some step may be computed in it"
    assert expected in report.finding("values").message.replace("\n", " ")


def test_an_error_beyond_every_format_is_not_called_rounding():
    report = check("softmax", lambda z, axis=-1, temperature=1.0: softmax(z, axis, temperature) ** 1.5, probes=FEW)
    assert report.verdict == "fail"
    assert "rounding to" not in report.finding("values").message


def test_what_passes_and_what_is_named_is_not_told_of_it():
    assert "rounding to" not in check("softmax", softmax, probes=FEW).finding("values").message
    logarithm = check("softmax", lambda z, axis=-1: np.log(softmax(z, axis)), probes=FEW).finding("values")
    assert logarithm.mistake == "softmax.logarithm" and "rounding to" not in logarithm.message


def test_nan_is_no_rounding():
    """Squares of 400 have no bound in float16, but NaN is nothing that rounding gives."""

    def rms_norm(x, gain, eps=1e-5):
        return np.where(np.abs(x) > 300, np.nan, x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain)

    probes = [Probe("large", (np.full((2, 3), 400.0), np.ones(3))), "generic*draw 0"]
    report = check("rms_norm", rms_norm, dtype="float64", probes=probes)
    assert "NaN at 'large'" in report.finding("values").message
    assert "rounding to" not in report.finding("values").message

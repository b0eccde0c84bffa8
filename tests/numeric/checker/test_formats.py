import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Precision, UsageError
from numeric.checker.formats import FORMATS, format_named, precision_of


@pytest.mark.parametrize("name", FORMATS)
def test_the_numbers_are_those_of_the_format(name):
    info = ml_dtypes.finfo(ml_dtypes.bfloat16) if name == "bfloat16" else np.finfo(name)
    form = FORMATS[name]
    assert form.unit == float(info.eps) / 2
    assert form.tiny == float(info.smallest_normal)
    assert form.largest == float(info.max)


def test_holds_tells_what_storing_keeps():
    half = FORMATS["float16"]
    assert half.holds(0.5)
    assert half.holds(2048.0)
    assert half.holds(65504.0)
    assert not half.holds(2049.0)
    assert not half.holds(65536.0)
    assert not half.holds(0.1)
    assert not half.holds(2.0**-30)


@pytest.mark.parametrize(
    ("dtype", "wide"), [("float64", "float64"), ("float32", "float32"), ("float16", "float32"), ("bfloat16", "float32")]
)
def test_sums_are_wide_by_default(dtype, wide):
    model = precision_of(dtype)
    assert (model.returned.name, model.stored.name, model.wide.name) == (dtype, dtype, wide)
    assert model.widened().stored.name == wide


def test_a_precision_may_be_stated():
    half, single = FORMATS["float16"], FORMATS["float32"]
    assert precision_of("float32", "float16") == Precision(single, half, single)
    assert precision_of("float16", "float16/float16") == Precision(half, half, half)
    own = Precision(single, half, half)
    assert precision_of("float32", own) is own


def test_a_precision_says_what_it_is():
    assert str(precision_of("float64")) == "float64 throughout"
    assert str(precision_of("bfloat16")) == "bfloat16, sums and angles in float32"
    assert str(precision_of("float32", "bfloat16")) == "float32, intermediates in bfloat16, sums and angles in float32"


def test_wrong_names_are_told():
    with pytest.raises(UsageError, match="unknown dtype 'float23'; did you mean 'float32'"):
        format_named("float23")
    with pytest.raises(UsageError, match='precision is 16, needed None, a Precision, "STORED" or "STORED/WIDE"'):
        precision_of("float16", 16)

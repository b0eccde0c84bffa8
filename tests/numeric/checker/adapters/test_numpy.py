import ml_dtypes
import numpy as np
import pytest

from numeric.checker import UsageError
from numeric.checker.adapters import adapter_named, adapter_names

NUMPY = adapter_named("numpy")


def test_both_adapters_are_found():
    assert {"numpy", "torch"} <= set(adapter_names())


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["contiguous", "strided", "read-only"])
def test_there_and_back(dtype, layout):
    values = np.array([[0.5, -2.0, 1.5]])
    array = NUMPY.array(values, dtype, layout)
    assert NUMPY.dtype_name(array) == dtype
    assert (NUMPY.values(array) == values).all()
    assert array.flags.c_contiguous == (layout != "strided")
    assert array.flags.writeable == (layout != "read-only")
    assert not np.shares_memory(array, values)


def test_integers_stay_integers():
    array = NUMPY.array(np.array([300, 257]), "bfloat16", "contiguous")
    assert array.dtype == np.int64
    assert NUMPY.values(array).tolist() == [300, 257]


def test_bfloat16_is_that_of_ml_dtypes():
    assert NUMPY.array(np.array([1 + 2.0**-7]), "bfloat16", "contiguous").dtype == ml_dtypes.bfloat16


def test_lists_are_not_arrays():
    assert NUMPY.owns_array(np.float64(1))
    assert not NUMPY.owns_array([1.0])


def test_a_library_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr("numeric.checker.adapter.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="adapter 'torch' needs the package torch, which is not installed"):
        adapter_named("torch")

"""NumPy arrays, with bfloat16 from ml_dtypes. Gradients are hand-written here, since NumPy has none of its own."""

from typing import ClassVar

import array_api_compat
import ml_dtypes
import numpy as np

from ..adapter import Adapter

DTYPES = {name: np.dtype(name) for name in ("float64", "float32", "float16")} | {
    "bfloat16": np.dtype(ml_dtypes.bfloat16)
}


class NumPy(Adapter):
    name = "numpy"
    array_name = "a NumPy array"
    layouts: ClassVar[tuple[str, ...]] = ("contiguous", "strided", "read-only")

    def owns_array(self, thing: object) -> bool:
        return array_api_compat.is_numpy_array(thing) or isinstance(thing, np.generic)

    def array(self, values: np.ndarray, dtype: str, layout: str) -> np.ndarray:
        whole = np.dtype(np.bool_ if values.dtype.kind == "b" else np.int64)
        target = DTYPES[dtype] if values.dtype.kind == "f" else whole
        if layout == "strided":
            wider = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), target)
            result = wider[..., ::2]
            result[...] = values.astype(target)
            return result
        result = np.array(values, dtype=target, order="C")
        result.flags.writeable = layout != "read-only"
        return result

    def dtype_name(self, array: np.ndarray) -> str:
        return array.dtype.name

    def values(self, array: np.ndarray) -> np.ndarray:
        found = np.ma.filled(array, np.nan) if np.ma.is_masked(array) else np.asarray(array)
        return np.array(found, dtype=np.int64 if found.dtype.kind in "iub" else np.float64)


ADAPTER = NumPy()

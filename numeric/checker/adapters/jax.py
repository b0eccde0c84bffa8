"""JAX arrays on the CPU; gradients by its reverse mode. They have no strides and cannot be changed, so there is one layout.

JAX makes float32 of float64 unless it is told otherwise; here it is told so for the checker's calls only, in the thread that makes
them, and not in the configuration of whoever runs the checker.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import array_api_compat
import numpy as np

from ..adapter import Adapter


class Jax(Adapter):
    name = "jax"
    array_name = "a jax.Array"
    layouts: ClassVar[tuple[str, ...]] = ("contiguous",)
    autograd = True

    def owns_array(self, thing: object) -> bool:
        return array_api_compat.is_jax_array(thing)

    def owns_callable(self, function: object) -> bool:
        module = getattr(function, "__module__", None) or ""
        return self.loaded and module.split(".")[0] in ("jax", "jaxlib")

    def context(self) -> AbstractContextManager[Any]:
        import jax
        import jax.experimental

        before_0_8: Any = jax.experimental
        enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else before_0_8.enable_x64
        context: AbstractContextManager[Any] = enable_x64(True)
        return context

    def array(self, values: np.ndarray, dtype: str, layout: str) -> Any:
        import jax.numpy as jnp

        whole = jnp.bool_ if values.dtype.kind == "b" else jnp.int64
        with self.context():
            return jnp.asarray(values, dtype=getattr(jnp, dtype) if values.dtype.kind == "f" else whole)

    def dtype_name(self, array: Any) -> str:
        return str(array.dtype.name)

    def values(self, array: Any) -> np.ndarray:
        found = np.asarray(array)
        return np.array(found, dtype=np.int64 if found.dtype.kind in "iub" else np.float64)

    def gradients(
        self, function: Callable[[Sequence[Any]], Any], floating: Sequence[Any], cotangent: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        import jax

        output, pullback = jax.vjp(lambda *arrays: function(arrays), *floating)
        return output, tuple(pullback(cotangent))


ADAPTER = Jax()

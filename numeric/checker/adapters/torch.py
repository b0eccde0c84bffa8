"""PyTorch tensors on the CPU; gradients by autograd."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import array_api_compat
import numpy as np

from ..adapter import Adapter, NoGradient


class Torch(Adapter):
    name = "torch"
    array_name = "a torch.Tensor"
    autograd = True
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {"axis": ("dim",)}

    def owns_array(self, thing: object) -> bool:
        return array_api_compat.is_torch_array(thing)

    def owns_callable(self, function: object) -> bool:
        if not self.loaded:
            return False
        owner = getattr(function, "__self__", function)
        module = getattr(function, "__module__", None) or getattr(owner, "__module__", None) or ""
        return module.split(".")[0] == "torch" or isinstance(function, sys.modules["torch"].nn.Module)

    def array(self, values: np.ndarray, dtype: str, layout: str) -> Any:
        import torch

        whole = torch.bool if values.dtype.kind == "b" else torch.int64
        target = getattr(torch, dtype) if values.dtype.kind == "f" else whole
        tensor = torch.from_numpy(np.array(values, order="C")).to(target)
        if layout == "strided":
            wider = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]), dtype=target)
            wider[..., ::2] = tensor
            return wider[..., ::2]
        return tensor

    def dtype_name(self, array: Any) -> str:
        return str(array.dtype).removeprefix("torch.")

    def values(self, array: Any) -> np.ndarray:
        import torch

        tensor = array.detach().to("cpu")
        target = torch.float64 if tensor.is_floating_point() else torch.int64
        return np.array(tensor.to(target).numpy())

    def gradients(
        self, function: Callable[[Sequence[Any]], Any], floating: Sequence[Any], cotangent: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        import torch

        for tensor in floating:
            tensor.requires_grad_(True)
        with torch.enable_grad():
            output = function(floating)
            if not output.requires_grad:
                raise NoGradient(
                    "its output does not depend on its inputs as far as autograd knows (detached, or under no_grad)"
                )
            found = torch.autograd.grad(output, floating, cotangent, allow_unused=True)
        if any(each is None for each in found):
            missing = [number for number, each in enumerate(found) if each is None]
            raise NoGradient(f"autograd finds no path from its output to floating input number {missing[0]}")
        return output, tuple(found)


ADAPTER = Torch()

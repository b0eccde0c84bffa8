"""What an adapter does: NumPy values into a library's arrays and back, and gradients by the library's own autograd.

An adapter is one file under adapters/, named after the library, with an instance named ADAPTER. The rest of the checker sees
float64 arrays only, which hold every number of every format here.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from .usage import UsageError


class NoGradient(Exception):
    """The library's autograd gave no gradient; the message says for what."""


class Adapter(ABC):
    name: ClassVar[str]
    array_name: ClassVar[str]  # "a NumPy array", for messages
    layouts: ClassVar[tuple[str, ...]] = ("contiguous", "strided")
    autograd: ClassVar[bool] = False
    synonyms: ClassVar[
        Mapping[str, tuple[str, ...]]
    ] = {}  # what the library calls an option, besides the contract's name

    @abstractmethod
    def owns_array(self, thing: object) -> bool:
        """Is it one of the library's arrays? Must not import the library."""

    @abstractmethod
    def array(self, values: np.ndarray, dtype: str, layout: str) -> Any:
        """A new array: float64 values rounded to `dtype`, integers kept as int64, booleans as booleans."""

    @abstractmethod
    def dtype_name(self, array: Any) -> str:
        """Such as "bfloat16"."""

    @abstractmethod
    def values(self, array: Any) -> np.ndarray:
        """The numbers as a NumPy array; floats as float64, exactly."""

    def owns_callable(self, function: object) -> bool:
        """Is it plainly one of the library's functions or modules?"""
        return False

    def context(self) -> AbstractContextManager[Any]:
        """What an implementation's calls, and whatever makes its arrays, run in; entered in the thread that makes the call."""
        return nullcontext()

    def gradients(
        self, function: Callable[[Sequence[Any]], Any], floating: Sequence[Any], cotangent: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """function(floating), called once, and the gradients of <cotangent, function(floating)>. Raises NoGradient."""
        raise NotImplementedError

    @property
    def loaded(self) -> bool:
        return self.name in sys.modules

    def require(self) -> None:
        if find_spec(self.name) is None:
            raise UsageError(
                f"adapter {self.name!r} needs the package {self.name}, which is not installed; install it first"
            )

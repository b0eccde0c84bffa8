"""A ready-made subject: something that people already use, brought to the signature of its contract in a few lines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Ready:
    """`forward` takes the contract's inputs, and those of its options that the library has."""

    name: str  # as its library calls it, without the library's own name: "nn.functional.softmax"
    contract: str
    forward: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # which it has built in
    accept: tuple[str, ...] = ()  # the variant that it is meant to be

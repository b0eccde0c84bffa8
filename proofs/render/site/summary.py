"""What a build tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Progress = Callable[[int, int], None]  # how many of how many theorems are set


class Summary(NamedTuple):
    """`formulas` are those of one language: all have the same. `largest` is the largest page and its bytes."""

    pages: int
    formulas: int
    seconds: float
    largest: tuple[str, int]

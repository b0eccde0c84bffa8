"""The closed table of layouts: every node of the language, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import arithmetic, binding, indices, places
from .structure import Layout

LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {**arithmetic.LAYOUT, **indices.LAYOUT, **places.LAYOUT, **binding.LAYOUT}
)

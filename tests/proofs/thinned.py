"""A test of every theorem, of which only some run by default: the others wait for --all."""

from collections.abc import Sequence
from typing import Any

import pytest

from proofs.registry import Claim


def thinned(claims: Sequence[Claim], step: int = 4) -> list[Any]:
    """One parameter per claim; all but every `step`-th are marked as slow."""
    return [
        pytest.param(claim, id=claim.name, marks=[] if k % step == 0 else [pytest.mark.slow])
        for k, claim in enumerate(claims)
    ]

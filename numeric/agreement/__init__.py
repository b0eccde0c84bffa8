"""The one bridge between the halves: every theorem that speaks of a layer, evaluated against that layer.

`agree` takes the statements of `proofs`, reads their definitions as calls of `numeric.layers`, and compares both sides: in
balls, where agreement is an inclusion, and in float64, where it is within a running error bound. A layer never sees a theorem.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import Report, TheoremReport
    from .run import agree

__all__ = ["Report", "TheoremReport", "agree"]


def __getattr__(name: str) -> Any:
    """The names above, imported when they are asked for, since the other commands of `numeric` need no theorem."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)

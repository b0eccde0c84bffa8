"""The one bridge between the halves: every theorem that speaks of a layer, evaluated against that layer.

`agree` takes the statements of `proofs`, reads their definitions as calls of `numeric.layers`, and compares both sides: in
balls, where agreement is an inclusion, and in float64, where it is within a running error bound. A layer never sees a theorem.
"""

from .report import Report, TheoremReport
from .run import agree

__all__ = ["Report", "TheoremReport", "agree"]

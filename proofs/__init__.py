"""Theorems about the Transformer, for arbitrary sizes, proved by a small kernel. `python -m proofs` proves them all."""

from .kernel import ProofError, Script, Specialised, Statement, Theorem
from .registry import Claim, theorem

__all__ = ["Claim", "ProofError", "Script", "Specialised", "Statement", "Theorem", "theorem"]

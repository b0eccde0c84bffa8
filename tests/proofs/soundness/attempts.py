"""Attempts to have something false, or something meaningless, accepted; and the symbols they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs.binders import sum_
from proofs.kernel import Link, Script, Statement, Theorem, check, prove
from proofs.notation import (
    Definition,
    exp,
    family,
    index,
    size,
    variable,
)  # fmt: skip
from proofs.rules.context import Refused
from proofs.terms import Term

n, m, none = size("n"), size("m"), size("none", 0)  # the last one may be 0
i, j, k, l = (index(name, n) for name in "ijkl")
a, b, c, t = variable("a"), variable("b"), variable("c", "positive"), variable("t")
x, z, w, A = family("x", n), family("z", n), family("w", n, m), family("A", n, n)

softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])))


def attempt(conclusion: Term, rule: Any, *given: Term, using: tuple[Any, ...] = (), **arguments: Any) -> Any:
    """One link that is to prove it."""
    return check(Statement(conclusion, given), (Link(None, None, rule, arguments, using),))


def refuse(
    conclusion: Term, rule: Any, *given: Term, match: str | None = None, using: tuple[Any, ...] = (), **arguments: Any
) -> Term:
    """The residue of the refusal."""
    with pytest.raises(Refused, match=match) as refusal:
        attempt(conclusion, rule, *given, using=using, **arguments)
    return refusal.value.residue


def proved(conclusion: Term, near_miss: Term, write: Callable[[Script], None], *given: Term, **options: Any) -> Theorem:
    return prove("here", Statement(conclusion, given), write, near_misses=[Statement(near_miss, given)], **options)

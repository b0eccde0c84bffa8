"""Known mistakes: wrong formulas, accepted variants, right formulas that lose their digits, and constants to be fitted.

A formula is plain NumPy that runs on floats and on balls alike (`numeric.arithmetic`). `of` says what it computes:

    values      formula(*inputs, **options) -> the output
    gradients   formula(dy, *inputs, **options) -> the gradients of <dy, y>, a tuple in the order of the floating inputs
    draws       formula(rng, *inputs, **options) -> what it draws at random, as `Contract.draw`
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Formula = Callable[..., Any]
Of = Literal["values", "gradients", "draws"]
EVERY_DTYPE = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Mistake:
    """A wrong formula. An implementation that equals it at every probe is told so."""

    id: str  # such as "layer_norm.unbiased_variance"
    says: str  # what it does instead, as the predicate of a sentence: "divides the variance by d - 1"
    theorem: str  # which it breaks
    formula: Formula
    of: Of = "values"
    twins: tuple[str, ...] = ()  # ids of others of the contract that are the same function


@dataclass(frozen=True)
class Variant(Mistake):
    """Another convention. It is no pass unless it was accepted, since it would break real weights.

    Its rounding is bounded as `conforming` says, or, where its orders of evaluation are not those of the right formula, by bounds of
    its own: those of the right one are `Contract.bound` and `Contract.gradient_bounds`. Where it has no reference, though the right
    one has, is told as by `Contract.without_reference`.
    """

    converter: str = ""  # what to do to its inputs or outputs to have the convention asked for
    bound: Callable[..., Any] | None = None
    gradient_bounds: Callable[..., Any] | None = None
    without_reference: Callable[..., tuple[Any, ...]] | None = None


@dataclass(frozen=True)
class Instability:
    """A formula that is right in exact arithmetic, and `emulated` in the dtype of a check loses its digits at some probes.

    An implementation that fails at just those probes where the emulation fails is told so. Where it is
    `admitted`, by dtype, the bound has room for it besides accurate formulas: it passes, and its accuracy is told of.
    Where it has `narrow_sums`, so is one that stays within the bound for such sums, since it may add up in another order.
    """

    id: str
    says: str
    theorem: str  # which makes the formula right
    emulated: Formula  # NumPy, on arrays of the dtype that is checked
    of: Of = "values"
    dtypes: tuple[str, ...] = EVERY_DTYPE  # in which some probe shows it
    admitted: tuple[str, ...] = ()
    narrow_sums: bool = (
        False  # its errors are those of sums kept in the dtype, which differ with the order of the terms
    )


@dataclass(frozen=True)
class Fit:
    """A family of formulas with one constant that an implementation may have got wrong: formula(theta, *inputs, **options)."""

    constant: str  # what theta is: "eps"
    right: str  # its right value, in words: "1e-05"
    theorem: str
    formula: Formula
    between: tuple[float, float]
    logarithmic: bool = True
    of: Of = "values"


Known = Mistake | Instability

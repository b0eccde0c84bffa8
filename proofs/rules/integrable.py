"""TRUSTED. Which functions of an outcome have an expectation.

A random variable is a family with the outcome among its slots; it is declared to have a finite second moment, and nothing more.
So a product of two of them over one space has a mean (Cauchy and Schwarz), and a product over different spaces has one if
each space's part has (Fubini). An index map with an outcome among its slots is a random index. A bounded function of random
variables has a mean whatever they are.
"""

from __future__ import annotations

from ..binders import substitute
from ..definitions import unfolded
from ..terms import Term, free, is_outcome, sort_of
from .atoms import is_whole_number
from .context import Context, Refused

_HIGHEST = 2  # the order of the moments that are known to exist


def check_integrable(term: Term, context: Context) -> None:
    """Raises Refused unless the body of an expectation is known to have a mean."""
    (w,), body, inside = context.opened(term)
    found = degree(body, w, inside)
    if found > _HIGHEST:
        raise Refused(f"a moment of order {found} is not known to exist", body)


def check_random(bound: tuple[Term, ...], value: Term, context: Context, where: str) -> None:
    """Raises Refused unless a function of outcomes has a second moment, also where its outcomes of one space are one."""
    for w in (s for s in bound if is_outcome(sort_of(s))):
        met = substitute(value, {s: w for s in bound if s != w and sort_of(s) == sort_of(w)})
        if degree(met, w, context) > 1:
            raise Refused(f"{where} needs a random variable with a second moment", value)


def _is_random_index(index: Term, w: Term) -> bool:
    return index.op == "map" and all(a == w or w not in free(a) for a in index.args)


def degree(term: Term, w: Term, context: Context) -> int:
    """The order of the moment that bounds the term, as a measurable function of the outcome; raises Refused for no such one."""
    if w not in free(term):
        return 0
    args = term.args
    match term.op:
        case "family" if all(a == w or w not in free(a) or _is_random_index(a, w) for a in args):
            return 1 if w in args else 0  # at a random index it is one of finitely many values
        case "add" | "max" | "abs":
            return max(degree(a, w, context) for a in args)
        case "mul":
            return sum(degree(a, w, context) for a in args)
        case "power" if is_whole_number(args[1]) and args[1].data >= 0:
            return int(args[1].data) * degree(args[0], w, context)
        case "sum" | "expect":
            _, body, inside = context.opened(term)
            return degree(body, w, inside)
        case "when":
            for side in args[0].args:
                degree(side, w, context)  # measurable, so that the condition is an event
            return max(degree(a, w, context) for a in args[1:])
        case "sin" | "cos" | "tanh" | "erf":
            degree(args[0], w, context)
            return 0
        case "apply":
            return degree(unfolded(term), w, context)
    raise Refused(
        "not known to be integrable: needed sums and products of random variables, or bounded functions", term
    )

"""What a layer of positions is asked, when a theorem speaks of one pair of columns or of all.

whole   With the frequencies base^(-m/M), the width is 2M, and pair m has the columns 2m and 2m + 1.
pairs   One pair at any frequency w is all of width 2 at the position w p, since the first frequency is always 1.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.positional_encoding import frequency

from ..arithmetic import to_balls
from ..checker.rounding import Rounded
from .calls import FLOAT64
from .differentials import ArrayLayer, LayerFunctions
from .evaluation import Environment, Evaluation, parameters
from .tape import ONE, Number, Traced, multiply

READ, WHOLE, PAIRS = "read", "whole", "pairs"
_ITS_OWN_PLACE = Term("value", (Term("bound", (), 0),))


class Turn(NamedTuple):
    """A width, a base, a position, and the first column of the pair that is spoken of."""

    width: int
    base: arb
    position: Number
    start: int
    told_by: tuple[Term, ...]  # what all but the start depend on

    def output(self, evaluation: Evaluation, functions: LayerFunctions, *arrays: np.ndarray) -> np.ndarray:
        """What the layer gives for these arrays at the position."""
        layer = ArrayLayer(functions, evaluation.arithmetic, constants=[to_balls(self.base)], width=self.width)
        return layer(*arrays, np.asarray(self.position, dtype=object))[0]


def turn_of(
    evaluation: Evaluation, w: Term, position: Term, environment: Environment, pair: Term | None = None
) -> Turn | None:
    """The whole, or the pair alone; None where only the pair could be asked for, and none is named."""
    base, p = _standard_base(evaluation, w, environment), evaluation.number(position, environment)
    if base is not None:
        start = 0 if pair is None else 2 * evaluation.place(pair, environment)
        return Turn(2 * evaluation.extent(w.args[0]), base, p, start, (w, position))
    if pair is None:
        return None
    speed = evaluation.number(w.args[-1], (*environment, evaluation.place(pair, environment)))
    return Turn(2, ONE, multiply(speed, p), 0, (w, pair, position))


def _standard_base(evaluation: Evaluation, w: Term, environment: Environment) -> arb | None:
    """The base of frequencies that are spelled base^(-m/M) and read whole."""
    size, body = w.args
    if body.op != "apply" or body.data is not frequency or parameters(body)[1:] != (size, _ITS_OWN_PLACE):
        return None
    base = evaluation.number(parameters(body)[0], (*environment, 0))
    return None if isinstance(base, Traced) or not read_whole(evaluation) else base


def read_whole(evaluation: Evaluation) -> bool:
    return evaluation.choices.choose(READ, (WHOLE, PAIRS)) == WHOLE


# Bounds on the rounding of angles


def frequencies_bound(base: Rounded, *, width: int) -> Rounded:
    return base ** -(Rounded.exact(np.arange(0, width, 2), FLOAT64) / Rounded.exact(width, FLOAT64))


def turn_bound(position: Rounded, base: Rounded, width: int) -> tuple[Rounded, Rounded]:
    """Cosine and sine of the angles."""
    angles = position * frequencies_bound(base, width=width)
    return angles.cos(), angles.sin()

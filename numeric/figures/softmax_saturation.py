"""The largest entry of the Jacobian at the logits b z against the scale b.

It stays below its proved bound where the maximum is strict, and near 1/4 where two logits share it.

    |J_ij(bz)| <= (n - 1) e^(-bg)        g: how far the maximum lies above all other logits
    J_ij(bz) -> (delta_ij - 1/m)/m       where m logits share the maximum
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from flint import arb

from ..arithmetic import elementwise, to_balls, to_floats
from ..layers import softmax
from .axes import Scale, axes, powers_of_ten
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

STRICT = (2.0, 1.0, 0.0, -1.0)
TIED = (2.0, 2.0, 0.0, -1.0)
LARGEST_SCALE = 16


def largest_entries(logits: Sequence[float], scales: np.ndarray) -> np.ndarray:
    """max |J_ij(bz)| for each scale b, in balls."""
    _, cache = softmax.forward(to_balls(scales)[:, None] * to_balls(logits))
    entries = np.abs(softmax.jacobian(cache)).reshape(len(scales), -1)
    return np.array([_largest(row) for row in entries], dtype=object)


def _largest(balls: np.ndarray) -> arb:
    """A ball around the largest number, though it may not be known which one that is."""
    return reduce(arb.max, balls)


def gap(logits: Sequence[float]) -> float:
    """How far the largest logit lies above the next one."""
    first, second = sorted(logits, reverse=True)[:2]
    return first - second


def bounds(logits: Sequence[float], scales: np.ndarray) -> np.ndarray:
    """(n - 1) e^(-bg) for each scale b, in balls."""
    exponents = -to_balls(scales) * to_balls(gap(logits))
    return (len(logits) - 1) * elementwise(lambda exponent: exponent.exp(), exponents)


def draw(words: Words, seed: int) -> Drawing:
    drawing = Drawing(282)
    x, y = Scale(0, LARGEST_SCALE, 38, 350), Scale(1e-7, 10, 240, 50, logarithmic=True)
    along = [(float(b), f"{b}") for b in range(0, LARGEST_SCALE + 1, 4)]
    axes(drawing, x, y, along, powers_of_ten((-6, -4, -2, 0)), (words("axis.scale"), words("axis.largest_entry")))
    scales = np.arange(0, 8 * LARGEST_SCALE + 1) / 8
    strict, tied, bound = (
        to_floats(each)
        for each in (largest_entries(STRICT, scales), largest_entries(TIED, scales), bounds(STRICT, scales))
    )
    for values, kind in ((bound, "ink dashed"), (strict, "one thick"), (tied, "two thick")):
        drawing.curve(zip(map(x.at, scales), map(y.at, values), strict=True), kind)
    drawing.label(x.at(LARGEST_SCALE), y.at(tied[-1]) + 15, words("softmax_saturation.tied"), "two", "end")
    middle = len(scales) // 2
    beside = x.at(scales[middle])
    drawing.label(beside + 4, y.at(bound[middle]) - 4, words("softmax_saturation.bound"))
    drawing.label(beside + 12, y.at(strict[middle]) + 28, words("softmax_saturation.strict"), "one", "end")
    drawing.numbers.update(
        strict=f"{strict[-1]:.1g}", tied=f"{tied[-1]:.2g}", scale=f"{LARGEST_SCALE}", gap=f"{gap(STRICT):g}",
        strict_logits=_listed(STRICT), tied_logits=_listed(TIED),
    )  # fmt: skip
    return drawing


def _listed(logits: Sequence[float]) -> str:
    return ", ".join(f"{each:g}".replace("-", "−") for each in logits)


FIGURE = Figure(
    "softmax_saturation",
    (
        "softmax_saturation.strict_maximum_jacobian",
        "softmax_saturation.jacobian_vanishes",
        "softmax_ties.tie_does_not_vanish",
        "softmax_ties.tied_limit_is_positive",
    ),
    draw,
)

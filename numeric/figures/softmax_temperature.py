"""The Jacobian of softmax at z/T for four temperatures, from nearly uniform weights to nearly one-hot ones."""

from typing import NamedTuple

import numpy as np

from ..arithmetic import to_balls, to_floats
from ..layers import softmax
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

LOGITS = (2.0, 1.5, 1.0, 0.5, 0.0, -1.0)
TEMPERATURES = ((8.0, "8"), (1.0, "1"), (0.25, "1/4"), (0.0625, "1/16"))
LARGEST = 0.25  # that an entry can be, since it is at most s (1 - s)


class Panel(NamedTuple):
    weights: np.ndarray  # s                                                (n,)
    jacobian: np.ndarray  # J, the derivatives of s with respect to z/T      (n, n)


def panel(temperature: float) -> Panel:
    """In balls."""
    scaled = to_balls(LOGITS) / to_balls(temperature)
    weights, cache = softmax.forward(scaled)
    return Panel(weights, softmax.jacobian(cache))


def draw(words: Words, seed: int) -> Drawing:
    drawing, size = Drawing(234), 13.0
    width = size * len(LOGITS)
    drawing.label(4, 40, words("softmax_temperature.weights"), "soft", size="small")
    for place, (temperature, name) in enumerate(TEMPERATURES):
        left = 4 + place * (width + 13)
        weights, jacobian = (to_floats(each) for each in panel(temperature))
        drawing.line((left, 92), (left + width, 92), "axis")
        for j, weight in enumerate(weights.tolist()):
            drawing.rectangle((left + size * j + 1.5, 92 - 42 * weight), size - 3, 42 * weight, "faint full")
        drawing.rectangle((left, 98), width, width, "grid hollow")
        drawing.cells((left, 98), (size, size), jacobian, LARGEST)
        drawing.label(left + width / 2, 98 + width + 16, f"*T* = {name}", anchor="middle")
        largest = f"{np.abs(jacobian).max():.2g}"
        drawing.label(left + width / 2, 98 + width + 31, f"max {largest}", "soft", "middle", "small")
        drawing.numbers[f"largest_{place}"] = largest
    drawing.numbers["logits"] = ", ".join(f"{each:g}".replace("-", "−") for each in LOGITS)
    drawing.scale_of_cells(356, 219, ("−1/4", "1/4"))
    return drawing


FIGURE = Figure(
    "softmax_temperature",
    (
        "softmax_jacobian.jacobian",
        "softmax_jacobian.symmetric",
        "softmax_jacobian.rows_sum_to_zero",
        "softmax_bounds.entries_at_most_diagonal",
        "softmax_saturation.jacobian_vanishes",
    ),
    draw,
)

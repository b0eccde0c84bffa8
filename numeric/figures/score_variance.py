"""The variance of scores against d_k, with and without 1/sqrt(d_k): sampled, and the lines that it is proved to lie on.

The theorems ask for means and second moments alone; so there are two kinds of entries, normal ones and random signs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arithmetic import matmul
from ..layers import attention
from .axes import Scale, axes
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

WIDTHS = tuple(2**k for k in range(11))
PAIRS = 2000  # of a query and a key, for each width

Entries = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


class Variances(NamedTuple):
    """Of the scores of one width, without and with 1/sqrt(d_k)."""

    d_k: int
    plain: float
    scaled: float


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(0, 2, shape) * 2.0 - 1.0


ENTRIES: tuple[tuple[str, Entries, str, str], ...] = (  # and how they are marked
    ("normal", normal, "circle", "one full"),
    ("signs", signs, "frame", "two hollow"),
)


def samples(entries: Entries, seed: int) -> list[Variances]:
    """For each width the variances over PAIRS independent queries and keys."""
    rng = np.random.default_rng(seed)
    return [sample(entries(rng, (PAIRS, 1, d_k)), entries(rng, (PAIRS, 1, d_k))) for d_k in WIDTHS]


def sample(q: np.ndarray, k: np.ndarray) -> Variances:
    """The unbiased variances of q k^T, and of the scores that attention takes the softmax of."""
    _, cache = attention.forward(q, k, k)
    plain, scaled = (matmul(each, k.swapaxes(-1, -2)).ravel() for each in (q, cache.q))
    return Variances(q.shape[-1], float(plain.var(ddof=1)), float(scaled.var(ddof=1)))


def proved(d_k: int) -> Variances:
    """The expected variances."""
    return Variances(d_k, float(d_k), 1.0)


def draw(words: Words, seed: int) -> Drawing:
    drawing = Drawing(278)
    x = Scale(WIDTHS[0] / 1.3, WIDTHS[-1] * 1.3, 40, 350, logarithmic=True)
    y = Scale(0.5, 2000, 236, 72, logarithmic=True)
    along = [(float(d_k), f"{d_k}") for d_k in WIDTHS[::2]]
    upward = [(10.0**k, f"{10**k}") for k in range(4)]
    axes(drawing, x, y, along, upward, (words("axis.d_k"), words("score_variance.upward")))
    first, last = proved(WIDTHS[0]), proved(WIDTHS[-1])
    for start, end in ((first.plain, last.plain), (first.scaled, last.scaled)):
        drawing.line((x.at(first.d_k), y.at(start)), (x.at(last.d_k), y.at(end)), "ink dashed")
    middle = proved(WIDTHS[len(WIDTHS) // 2 + 1])
    beside = x.at(middle.d_k)
    drawing.label(beside - 16, y.at(middle.plain), words("score_variance.plain"), anchor="end")
    drawing.label(beside, y.at(middle.scaled) - 11, words("score_variance.scaled"), anchor="middle")
    for place, (name, entries, shape, kind) in enumerate(ENTRIES):
        for each in samples(entries, seed):
            for value in (each.plain, each.scaled):
                drawing.mark(shape, (x.at(each.d_k), y.at(value)), kind)
        left = 10 + 140 * place
        drawing.mark(shape, (left, 36), kind)
        drawing.label(left + 10, 40, words(f"score_variance.{name}"))
    drawing.numbers.update(pairs=f"{PAIRS}", largest=f"{WIDTHS[-1]}")
    return drawing


FIGURE = Figure(
    "score_variance",
    (
        "attention_scores.score_mean_is_zero",
        "attention_scores.score_variance_is_d_k",
        "attention_scores.scaled_variance_is_one",
    ),
    draw,
)

"""The parameters of a layer, of encoder or decoder: as its tree, as a probe draws them, and as rounded numbers.

Probes are mild. Rows of tokens have a spread of 2, gains lie around 3/4, matrices are small: each norm passes on little
more than it gets, errors too, so that the bounds say something after several sublayers. In 16 bits, where a norm alone
may lose two digits of three, matrices are smaller still, and there is a bound for pre-norm at least.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import sublayers
from ..formats import Format
from ..usage import UsageError

Arrays = list[np.ndarray]
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
FEED_FORWARD = sublayers.FEED_FORWARD
NORM = ("gain", "bias")


class Choices(NamedTuple):
    """What the layers of a stack ask of their numeric.config.Config, which itself refuses some sizes."""

    n_heads: int
    norm: str
    activation: str
    eps: float
    n_groups: None = None
    dropout: float = 0.0
    base: float = 10000.0


def choices(heads: int, activation: str, order: str, eps: float) -> Any:
    return Choices(heads, order, activation, eps)


def named(names: Sequence[str], arrays: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(names, arrays, strict=True))


def in_order(branch: dict[str, Any], names: Sequence[str]) -> list[Any]:
    return [branch[name] for name in names]


# As a probe draws them


def width_of(heads: Any) -> int:
    """6, or what so many heads divide. Raises UsageError."""
    if not isinstance(heads, int) or isinstance(heads, bool) or heads < 1:
        raise UsageError(f"heads is {heads!r}, needed an integer of at least 1")
    return 6 if 6 % heads == 0 else 2 * heads


def tokens(rng: np.random.Generator, batch: int, n: int, d: int) -> np.ndarray:
    rows = rng.standard_normal((batch, n, d))
    if d > 1:
        rows = rows - rows.mean(-1, keepdims=True)
        rows = 2 * rows / rows.std(-1, keepdims=True)
    return rows + 0.3 * rng.standard_normal((batch, n, 1))


def shrunk(form: Format) -> float:
    """What the entries of matrices are divided by, besides the root of their rows."""
    return 2.0 if form.bits >= 24 else 16.0


def projections(rng: np.random.Generator, form: Format, d: int) -> Arrays:
    return [rng.standard_normal((d, d)) / (shrunk(form) * np.sqrt(d)) for _ in PROJECTIONS]


def feed_forward(rng: np.random.Generator, form: Format, d: int, f: int) -> Arrays:
    w1, w2 = (rng.standard_normal(shape) / (shrunk(form) * np.sqrt(shape[0])) for shape in ((d, f), (f, d)))
    return [w1, rng.standard_normal(f) / 3, w2, rng.standard_normal(d) / 3]


def norm(rng: np.random.Generator, d: int) -> Arrays:
    return [rng.uniform(0.5, 1.0, d), rng.standard_normal(d) / 5]

"""Probes of functions that normalise each row (..., d): layer_norm, rms_norm, add_and_norm."""

from collections.abc import Sequence

import numpy as np

from ..contract import Bench
from ..formats import Format

OWN_UNIT = 2.0**-53  # the checker adds up residuals in float64
SHAPES = ((3, 5, 4), (7, 11), (2, 3, 5, 6))


def rows(rng: np.random.Generator, shape: Sequence[int], least: float = 0.3, most: float = 3.0) -> np.ndarray:
    """Each row with its own spread, and with a mean of at most that size."""
    spread = np.exp(rng.uniform(np.log(least), np.log(most), (*shape[:-1], 1)))
    return spread * (rng.uniform(-1, 1, spread.shape) + rng.standard_normal(shape))


def gain_of(rng: np.random.Generator, d: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], d) * rng.uniform(0.4, 2.0, d)


def generic_rows(rng: np.random.Generator, eps: float) -> list[tuple[str, np.ndarray]]:
    """The last with variances about eps, where it matters how eps enters."""
    named = [(f"generic {shape}", rows(rng, shape)) for shape in SHAPES]
    size = float(np.sqrt(eps)) if eps > 0 else 1e-3
    return [*named, ("generic, variance about eps", rows(rng, (4, 3, 7), 0.3 * size, 3 * size))]


def structured_rows(rng: np.random.Generator, form: Format, eps: float) -> list[tuple[str, np.ndarray]]:
    quarters = rng.integers(-12, 13, (3, 9)) / 4  # on a grid so coarse that the offset is added without rounding
    offset = 2.0 ** (form.bits // 2)
    huge = 1e8 if form.lowest <= -126 else 30.0
    scales = np.array([[1e-3], [1.0], [1e2]])
    outlier = rng.standard_normal((3, 9))
    outlier[:, 2] = 100.0
    probes = [
        ("one to four", np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 6.0]])),
        ("0 and 0.001", np.array([[0.0, 1e-3], [1e-3, 0.0]])),
        ("three features", np.array([[1.0, 2.0, 4.0]])),
        ("large offset", quarters + offset),
        ("large negative offset", quarters - offset),
        ("tiny variance", 1e-4 * rng.standard_normal((3, 7))),
        ("constant rows", np.array([[3.0] * 5, [0.0] * 5, [-0.1] * 5])),
        ("all 300", np.full((2, 4), 300.0)),
        ("300 and -300", np.array([[300.0, -300.0, 300.0, -300.0, 300.0]])),
        ("huge", huge * rng.standard_normal((3, 7))),
        ("rows of different scales", scales * rng.standard_normal((3, 8))),
        ("an outlier", outlier),
        ("single feature", rng.standard_normal((5, 1))),
        ("single row", rng.standard_normal((1, 6))),
        ("one axis (11,)", rng.standard_normal(11)),
        ("4 x 4096", rng.standard_normal((4, 4096))),
        ("512 x 3", rng.standard_normal((512, 3))),
    ]
    if form.bits >= 24:
        probes.append(("40000 to 40003", np.array([[40000.0, 40001.0, 40002.0, 40003.0]])))
    return probes


def own_error(terms: np.ndarray) -> np.ndarray:
    """What the checker's own sum along the rows may err by."""
    return terms.shape[-1] * OWN_UNIT * np.abs(terms).sum(-1)


def rounded_rows(bench: Bench, rng: np.random.Generator, shape: tuple[int, ...] = (4, 3, 7)) -> np.ndarray:
    return bench.rounded(rows(rng, shape))


def rounded_gain(bench: Bench, rng: np.random.Generator, d: int) -> np.ndarray:
    return bench.rounded(gain_of(rng, d))


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each row in float64, good to (n + 4) units or so where the mean is not far above the spread."""
    mean = x.mean(-1, keepdims=True)
    return mean, ((x - mean) ** 2).mean(-1, keepdims=True)

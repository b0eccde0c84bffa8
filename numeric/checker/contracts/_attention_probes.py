"""Probes of attention at which known mistakes show."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..contract import Probe

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def inputs(rng: np.random.Generator, batch: Sequence[int], n_q: int, n_k: int, d_k: int, d_v: int) -> Arrays:
    """Queries, keys and values, the values with a mean that is not 0."""
    q, k = (rng.standard_normal((*batch, n, d_k)) for n in (n_q, n_k))
    return q, k, 0.5 + rng.standard_normal((*batch, n_k, d_v))


def with_scores(rng: np.random.Generator, scores: np.ndarray, d_v: int = 3) -> Arrays:
    """Four columns, so that the scale is a half, and the scores exactly these, (n_q, n_k), as far as the dtype holds them."""
    n_q, n_k = scores.shape
    q, k = np.zeros((n_q, 4)), np.zeros((n_k, 4))
    if n_q > 2:
        raise ValueError("attention probes: at most two rows of scores")
    q[:, :n_q] = 4 * np.eye(n_q)
    k[:, :n_q] = scores.T / 2
    return q, k, 0.5 + rng.standard_normal((n_k, d_v))


def unmasked(rng: np.random.Generator) -> list[Probe]:
    quarters = rng.integers(-8, 9, (2, 6)) / 4
    q, k, v = inputs(rng, (2,), 4, 6, 3, 5)
    equal_keys = np.broadcast_to(k[:, :1], k.shape).copy()
    named = [
        ("one query", inputs(rng, (3,), 1, 5, 4, 2)),
        ("one key", inputs(rng, (3,), 4, 1, 5, 2)),
        ("one query, one key", inputs(rng, (), 1, 1, 3, 2)),
        ("one column", inputs(rng, (), 3, 5, 1, 2)),
        ("two axes", inputs(rng, (), 4, 6, 5, 3)),
        ("five axes", inputs(rng, (2, 1, 3), 4, 2, 5, 3)),
        ("equal lengths", inputs(rng, (3,), 6, 6, 5, 4)),
        ("d_v = d_k", inputs(rng, (2,), 4, 6, 5, 5)),
        ("n_k = d_k", inputs(rng, (2,), 3, 5, 5, 4)),
        ("all sizes equal", inputs(rng, (4,), 4, 4, 4, 4)),
        ("equal keys", (q, equal_keys, v)),
        ("queries of zeros", (0 * q, k, v)),
        ("large scores", (6 * q, 6 * k, v)),
        ("very high scores", with_scores(rng, quarters + 1000)),
        ("very negative scores", with_scores(rng, quarters - 1000)),
        ("rows far apart", with_scores(rng, quarters + np.array([[1500.0], [-1500.0]]))),
        ("96 x 128", inputs(rng, (), 96, 128, 32, 16)),
    ]
    probes = [Probe(name, arrays) for name, arrays in named]
    return probes + [Probe(layout, inputs(rng, (2,), 4, 6, 5, 3), layout=layout) for layout in ("strided", "read-only")]


def masked(rng: np.random.Generator) -> list[Probe]:
    square = random_mask(rng, 6, 6)
    rows = [(name, arrays, {"mask": mask, "causal": causal}) for name, arrays, mask, causal in _empty_rows(rng)]
    high = np.zeros((2, 6))
    high[:, 2] = 20_000
    others = random_mask(rng, 2, 6)
    others[:, 2] = False
    others[:, 0] = True
    named: list[tuple[str, Arrays, dict[str, Any]]] = [
        ("equal lengths, random mask", inputs(rng, (3,), 6, 6, 5, 4), {"mask": square}),
        ("equal lengths, padding", inputs(rng, (3,), 6, 6, 5, 4), {"mask": padding((4, 6, 3), 6, 6)}),
        ("padding on the left", inputs(rng, (3,), 5, 7, 4, 2), {"mask": padding((4, 6, 3), 5, 7)[..., ::-1].copy()}),
        ("equal lengths, causal", inputs(rng, (3,), 6, 6, 5, 4), {"causal": True}),
        ("more queries than keys, causal", inputs(rng, (2,), 7, 4, 3, 5), {"causal": True}),
        ("one key kept", inputs(rng, (), 4, 6, 5, 3), {"mask": one_key_each(rng, 4, 6)}),
        ("a masked key far above the others", with_scores(rng, high - 12_000), {"mask": others}),
        (
            "a masked key above the others",
            with_scores(rng, high / 500 + rng.integers(-4, 5, (2, 6)) / 4),
            {"mask": others},
        ),
        (
            "very negative scores behind masked keys",
            with_scores(rng, rng.integers(-4, 5, (2, 8)) / 4 - 1000),
            {"mask": np.arange(8) >= np.array([[6], [5]])},
        ),
        *rows,
        ("40 x 70, causal", inputs(rng, (), 40, 70, 8, 6), {"causal": True, "mask": random_mask(rng, 40, 70)}),
    ]
    return [Probe(name, arrays, options) for name, arrays, options in named]


def _empty_rows(rng: np.random.Generator) -> list[tuple[str, Arrays, np.ndarray, bool]]:
    """Some queries keep no key."""
    one, corner, whole = random_mask(rng, 5, 7), random_mask(rng, 5, 7), padding((4, 0), 5, 7)
    one[2] = False
    corner[:, 0] = False
    return [
        ("a fully masked row", inputs(rng, (2,), 5, 7, 3, 4), one, False),
        ("a fully masked row, with causal", inputs(rng, (2,), 5, 7, 3, 4), corner, True),
        ("one of the batch fully masked", inputs(rng, (2,), 5, 7, 3, 4), whole, False),
    ]


def random_mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """Not symmetric, and every query keeps key 0 at least, so that it does under a causal mask too."""
    mask = rng.random((n_q, n_k)) < 0.6
    mask[:, 0] = True
    return mask


def padding(lengths: Sequence[int], n_q: int, n_k: int) -> np.ndarray:
    rows = np.arange(n_k) < np.asarray(lengths)[:, None, None]
    return np.broadcast_to(rows, (len(lengths), n_q, n_k)).copy()


def one_key_each(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    mask = np.zeros((n_q, n_k), dtype=np.bool_)
    mask[np.arange(n_q), rng.integers(0, n_k, n_q)] = True
    return mask

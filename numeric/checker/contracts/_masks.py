"""Masks of attention as an option: boolean, True = may attend, (n_q, n_k) or (B, n_q, n_k); and the triangle of `causal`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...layers import masking
from ..contract import Option, Options
from ..usage import UsageError

WORDS = (None, "random", "padding")
OPTIONS = (
    Option(
        "mask", None, WORDS, "True where a query may attend to a key, (n_q, n_k), or (B, n_q, n_k) with B first in q"
    ),
    Option("causal", False, (False, True), "query i attends to the keys j <= i only (aligned upper left)"),
)


def kept(mask: Any, causal: bool, scores: tuple[int, ...], lower_right: bool = False) -> Any:
    """Which keys are kept, an array that broadcasts to scores of this shape; None where all are."""
    keep = mask
    if isinstance(mask, np.ndarray) and mask.ndim == 3:
        keep = mask.reshape(len(mask), *(1,) * (len(scores) - 3), *mask.shape[1:])
    if not causal:
        return keep
    triangle = masking.causal(scores[-2], scores[-1], lower_right)
    return triangle if keep is None else masking.both(keep, triangle)


def drawn(word: Any, causal: bool, rng: np.random.Generator, batch: int, n_q: int, n_k: int) -> Options:
    """The options at a generic probe: an array for the word, with which every query keeps a key. Raises UsageError."""
    if not isinstance(word, (str, type(None))) or word not in WORDS:
        raise UsageError(
            "mask can be fixed to None, 'random' or 'padding'; to check one mask, give a Probe with its own inputs and "
            "options={'mask': array}"
        )
    if word is None:
        return {"causal": causal}
    if word == "padding":
        lengths = rng.permutation(np.arange(n_k - batch, n_k)) if batch < n_k else rng.integers(1, n_k + 1, batch)
        rows = np.arange(n_k) < lengths[:, None, None]
        return {"mask": np.broadcast_to(rows, (batch, n_q, n_k)).copy(), "causal": causal}
    mask = rng.random((n_q, n_k)) < 0.6
    for i in range(n_q):
        last = min(i, n_k - 1) if causal else n_k - 1
        mask[i, rng.integers(0, last + 1)] = True
    return {"mask": mask, "causal": causal}


def unfixed(options: Options) -> bool:
    """Is the mask free to be set by structured probes? A word is in its place where a run fixes it."""
    return options["mask"] is None


def empty_rows(mask: Any, causal: bool, scores: tuple[int, ...], lower_right: bool = False) -> np.ndarray | None:
    """The queries that keep no key, of shape (..., n_q); None if there are none."""
    keep = kept(mask, causal, scores, lower_right)
    if keep is None:
        return None
    rows = np.broadcast_to(~keep.any(-1), scores[:-1])
    return rows if rows.any() else None


def lower_right_without_reference(
    inputs: Sequence[Any], scores: tuple[int, ...], mask: Any, causal: bool
) -> tuple[np.ndarray, ...]:
    """Of attention aligned lower right, whose queries come first among the inputs, as `Contract.without_reference`.

    A query that keeps no key has a cotangent all the same, so that the gradients of keys, values and weights have none at all.
    """
    rows = empty_rows(mask, causal, scores, lower_right=True)
    if rows is None:
        return ()
    return rows[..., None], rows[..., None], *(np.ones(each.shape, np.bool_) for each in inputs[1:])


def in_place_of(found: np.ndarray, rows: np.ndarray | None, conventions: Mapping[str, np.ndarray]) -> str:
    """What fully masked rows of an output (..., n_q, d) hold, for a note."""
    if rows is None:
        return ""
    here = found[rows]
    what = "other numbers"
    if np.isnan(here).any():
        what = "NaN" if np.isnan(here).all() else "NaN in part"
    elif not here.any():
        what = "zeros"
    else:
        for name, numbers in conventions.items():
            if np.allclose(here, numbers[rows], rtol=2.0**-5, atol=2.0**-5):  # a note, and no verdict
                what = name
                break
    return f"a fully masked row gives {what}, which no reference decides (masking.fully_masked_row_has_no_limit)"


def layer_without_reference(
    inputs: Sequence[Any], attentions: Sequence[tuple[Any, bool, np.ndarray]]
) -> tuple[np.ndarray, ...]:
    """Of a layer whose tokens (B, n, d) come first among the inputs: of its output, and of each gradient; empty where all have
    one. `attentions` are mask, causal and the tokens attended to. A token that keeps none of them has no reference."""
    x = inputs[0]
    found = [empty_rows(mask, causal, (*x.shape[:-1], m.shape[-2])) for mask, causal, m in attentions]
    rows = [each for each in found if each is not None]
    if not rows:
        return ()
    here = np.broadcast_to(np.logical_or.reduce(rows)[..., None], x.shape)
    return here, here, *(np.zeros(each.shape, np.bool_) for each in inputs[1:])
